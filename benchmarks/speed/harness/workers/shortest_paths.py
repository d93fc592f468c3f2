"""reasoning-gym's shortest paths: grids with a question and the answer of a breadth-first search."""

import time
from typing import Any

from reasoning_gym.graphs.shortest_path import ShortestPathConfig, ShortestPathDataset
from serving import serve


def make(asked: dict[str, Any]) -> tuple[float, Any]:
    """Grids `first` to `first + count` of a size; seconds of one, and each with its answer."""
    size, first, count = asked["size"], asked["first"], asked["count"]
    config = ShortestPathConfig(
        min_rows=size, max_rows=size, min_cols=size, max_cols=size, p_blocked=asked["walls"], seed=0, size=first + count
    )
    data = ShortestPathDataset(config)
    started = time.process_time()
    made = [data[index] for index in range(first, first + count)]
    seconds = time.process_time() - started
    return seconds / count, [(item["metadata"]["matrix"], item["answer"]) for item in made]


serve({"make": make})

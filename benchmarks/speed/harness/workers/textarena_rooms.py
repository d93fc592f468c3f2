"""Rooms of Sokoban as textarena's environment draws them, with one box in 10x10, in XSB."""

import sys
import time
from typing import Any

from serving import serve
from textarena.envs.Sokoban.utils import generate_room

MARKS = {0: "  ", 1: "  ", 2: "..", 3: "$*", 4: "$*", 5: "@+"}  # of a cell's code: off a goal, on a goal
WALL, GOAL = 0, 2  # in the first array, which is the room without box and player
STEPS = 34  # int(1.7 * (10 + 10)), its environment's own

sys.setrecursionlimit(10_000)  # its search recurses


def text(fixed: Any, room: Any) -> str:
    """Both arrays as one board."""
    rows = zip(fixed.tolist(), room.tolist(), strict=True)
    return "\n".join(
        "".join("#" if code == WALL else MARKS[code][ground == GOAL] for ground, code in zip(*row, strict=True))
        for row in rows
    )


def make(asked: dict[str, int]) -> tuple[float, Any]:
    """Seconds of a room, and the rooms of the seeds from `first` on."""
    seeds = range(asked["first"], asked["first"] + asked["count"])
    started = time.process_time()
    rooms = [generate_room(dim=(10, 10), num_steps=STEPS, num_boxes=1, seed=seed) for seed in seeds]
    seconds = time.process_time() - started
    return seconds / len(rooms), [text(fixed, room) for fixed, room, _ in rooms]


serve({"make": make})

"""The memory of a run does not grow with the number of its episodes.

The test game has no caches of instances; those of the others are bounded, and full after some thousand episodes.
"""

import gc
import tracemalloc
from contextlib import nullcontext
from pathlib import Path

from llm_envs.episode import Episode
from llm_envs_bench.plan import RunPlan
from llm_envs_bench.runner import Limits, play_run
from llm_envs_bench.spec import RunSpec
from tests.benchmarks import corridor
from tests.scale import scaled

EPISODES = scaled(fast=240, long=10_000)
MOST_BYTES_AN_EPISODE = 400  # what is kept by mistake is an episode (5 kB) or an attempt (1 kB)


def growth(folder: Path, kept: list[Episode] | None = None) -> float:
    """Bytes for each episode after the first third."""
    spec = RunSpec(corridor.ENV_ID, {"scout": "silent", "walker": "oracle"}, instances=EPISODES)
    sizes: list[int] = []
    ended = 0

    def look(episode: Episode) -> None:
        nonlocal ended
        ended += 1
        if kept is not None:
            kept.append(episode)
        if ended in {EPISODES // 3, EPISODES}:
            gc.collect()
            sizes.append(tracemalloc.get_traced_memory()[0])

    tracemalloc.start()
    try:
        play_run(RunPlan((spec,)), folder, limits=Limits(8), watch=lambda _owed: nullcontext(look))
    finally:
        tracemalloc.stop()
    return (sizes[1] - sizes[0]) / (EPISODES - EPISODES // 3)


def test_memory_stays_flat_while_a_run_is_played(tmp_path: Path) -> None:
    assert growth(tmp_path / "run") < MOST_BYTES_AN_EPISODE


def test_an_episode_that_was_kept_would_be_seen(tmp_path: Path) -> None:
    """Negative control of the test above."""
    assert growth(tmp_path / "run", kept=[]) > MOST_BYTES_AN_EPISODE

"""Two runs are compared on what both have scored, entry by entry, and no more is claimed than the interval says."""

from pathlib import Path

import pytest

from llm_envs.core.errors import UsageError
from llm_envs_bench.agents import plan_run
from llm_envs_bench.compare import compare_runs, comparison_table, overall, verdict
from llm_envs_bench.plan import RunPlan
from llm_envs_bench.runner import play_run
from llm_envs_bench.stats import Estimate
from llm_envs_bench.store import Run, load_runs
from tests.benchmarks import corridor
from tests.benchmarks.conftest import Play


def suite(folder: Path, agent: str, entries: tuple[int, ...] = (2, 5)) -> tuple[Run, ...]:
    """Entries of the test game with as many cycles; three are enough to solve it."""
    specs = [
        plan_run(corridor.ENV_ID, agent, {}, options={"max_cycles": n}, instances=4, samples=2, entry=f"cycles_{n}")
        for n in entries
    ]
    play_run(RunPlan(tuple(specs)), folder)
    return load_runs(folder)


def test_every_entry_is_compared_and_their_mean(tmp_path: Path) -> None:
    found = compare_runs(suite(tmp_path / "a", "idle"), suite(tmp_path / "b", "oracle"))
    hard, easy = found
    assert [(one.entry, one.gained, one.lost, one.same) for one in found] == [
        ("cycles_2", 0, 0, 4),
        ("cycles_5", 4, 0, 0),
    ]
    assert (hard.difference.value, easy.difference.value, overall(found).value) == (0.0, 1.0, 0.5)
    assert hard.returns["walker"].value == pytest.approx(2 / 3), "it goes further, and walking pays"
    grid = comparison_table(found, ("idle", "oracle"))
    assert grid.header[:3] == ("entry", "idle", "oracle")
    assert [row[0] for row in grid.rows] == ["cycles_2", "cycles_5", "score"]
    assert grid.rows[2][1:4] == ("0.0%", "50.0%", grid.rows[2][3])
    assert grid.rows[2][3].startswith("+50.0 (")


def test_only_entries_that_both_have_are_compared(tmp_path: Path) -> None:
    one, both = suite(tmp_path / "a", "idle", (5,)), suite(tmp_path / "b", "oracle")
    assert [found.entry for found in compare_runs(one, both)] == ["cycles_5"]
    with pytest.raises(UsageError, match="no entry in common"):
        compare_runs(one, suite(tmp_path / "c", "oracle", (2,)))


def test_entries_of_one_name_that_are_not_the_same_are_refused(play: Play, tmp_path: Path) -> None:
    specs = (plan_run(corridor.ENV_ID, "idle", {}, options={"max_cycles": 9}, instances=6),)
    play_run(RunPlan(specs), tmp_path / "other")
    with pytest.raises(UsageError, match="same instances of the same environment"):
        compare_runs((play("idle"),), load_runs(tmp_path / "other"))


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [(0.01, 0.2, "the second is better"), (-0.2, -0.01, "the first is better"), (-0.1, 0.1, "do not tell them apart")],
)
def test_the_verdict_says_what_the_interval_says(low: float, high: float, words: str) -> None:
    assert words in verdict(Estimate((low + high) / 2, low, high, 10))

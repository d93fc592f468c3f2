"""Numbers of runs and the tables that show them."""

import dataclasses

import pytest

from llm_envs.core.errors import UsageError
from llm_envs_bench.metrics import success_difference, summarise
from llm_envs_bench.report import Grid, leaderboard
from llm_envs_bench.stats import wilson
from tests.benchmarks import corridor
from tests.benchmarks.conftest import Play


def test_a_summary_counts_what_happened(play: Play) -> None:
    summary = summarise(play("oracle"))
    assert summary.success == wilson(6, 6)
    # Three steps of a third each, shared by both; the walker also pays 0.1 a step.
    assert summary.returns["scout"].value == pytest.approx(1.0)
    assert summary.returns["walker"].value == pytest.approx(0.7)
    assert summary.turns.value == 6.0
    assert summary.tool_quality is not None
    assert (summary.tool_quality.value, summary.tool_quality.n) == (0.5, 6)


def test_nobody_who_ran_no_program_has_a_tool_quality(play: Play) -> None:
    summary = summarise(play("silent"))
    assert summary.tool_quality is None
    assert {role: found and found.value for role, found in summary.invalid.items()} == {"scout": 1.0, "walker": 1.0}


def test_runs_are_compared_on_the_instances_that_both_have(play: Play) -> None:
    before = play("idle")
    corridor.SANDBOX.is_down = lambda code: code == "2"
    found = success_difference(before, play("oracle"))
    assert (found.value, found.n) == (1.0, 5)
    assert 0 < found.low < 0.5, "five instances do not make it certain"


def test_runs_of_different_games_are_not_compared(play: Play) -> None:
    run = play("idle")
    other = dataclasses.replace(run, spec=dataclasses.replace(run.spec, options={"max_cycles": 9}))
    with pytest.raises(UsageError, match="same instances of the same environment"):
        success_difference(run, other)


def test_the_leaderboard_has_a_row_a_run_and_a_line_a_role(play: Play) -> None:
    grid = leaderboard([summarise(play("idle")), summarise(play("oracle"), "the best")])
    assert grid.header == ("agent", "success", "95%", "role", "return", "invalid", "tool quality", "turns", "n")
    idle, best = (dict(zip(grid.header, row, strict=True)) for row in grid.rows)
    assert (idle["agent"], best["agent"]) == ("idle", "the best")
    assert (idle["success"], idle["95%"]) == ("0.0%", "0-39%")
    assert (best["success"], best["95%"]) == ("100.0%", "61-100%")
    assert best["role"].splitlines() == ["scout", "walker"]
    assert best["return"].splitlines() == ["1.00 ±0.00", "0.70 ±0.00"]


def test_what_is_owed_shows_only_where_something_is(play: Play) -> None:
    corridor.SANDBOX.is_down = lambda code: code == "2"
    grid = leaderboard([summarise(play("oracle"))])
    assert dict(zip(grid.header, grid.rows[0], strict=True))["owed"] == "1"
    assert "owed" not in leaderboard([summarise(play("idle", agents={"scout": "silent", "walker": "idle"}))]).header


def test_a_run_without_scores_has_no_numbers(play: Play) -> None:
    corridor.SANDBOX.is_down = lambda code: True
    with pytest.raises(UsageError, match="no scored episode; resume it"):
        summarise(play("oracle"))


def test_markdown_keeps_its_columns_whatever_stands_in_a_cell() -> None:
    text = Grid(("agent", "success"), (("a|b\nc", "1.0%"),)).to_markdown()
    assert text == "| agent | success |\n| --- | ---: |\n| a\\|b<br>c | 1.0% |\n"

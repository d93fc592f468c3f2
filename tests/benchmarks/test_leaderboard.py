"""The committed results are those of the suites as they are, and the page lists them as they are."""

from dataclasses import replace
from pathlib import Path

import pytest

from at_grpo.loading import load_config
from llm_envs_bench.agents import build_casts
from llm_envs_bench.leaderboard_page import leaderboard_page
from llm_envs_bench.references import committed
from llm_envs_bench.runner import play_run
from llm_envs_bench.standing import Standing, load_standing
from llm_envs_bench.suites import load_suite, plan_suite
from tests.architecture.paths import ROOT
from tests.scale import scaled

PLAYERS = ("greedy", "oracle", "random")
TEAMS = ("trained", "trained planner", "trained tool", "warm start")  # of the demo
NAMES = {"core_v0": [*PLAYERS], "demo_v0": sorted([*PLAYERS, *TEAMS]), "smoke_v0": [*PLAYERS]}
MOST_RANDOM = 0.05


def results(suite: str) -> dict[str, Standing]:
    return {one.name: one.standing for one in committed() if one.standing.suite == suite}


def test_the_page_is_the_one_that_the_results_make() -> None:
    """`python -m llm_envs_bench.leaderboard_page > docs/leaderboard.md` writes it."""
    page = (ROOT / "docs/leaderboard.md").read_text()
    assert page == leaderboard_page(committed())
    assert page != leaderboard_page(committed()[1:]), "negative control"


@pytest.mark.parametrize("suite", NAMES)
def test_the_results_belong_to_the_suite_as_it_is(suite: str) -> None:
    found = results(suite)
    assert sorted(found) == NAMES[suite]
    assert {one.suite_hash for one in found.values()} == {load_suite(suite).hash}, (
        "play the suite again; see docs/leaderboard.md"
    )
    entries = [entry.name for entry in load_suite(suite).entries]
    assert all([summary.entry for summary in one.summaries] == entries for one in found.values())
    assert all(one.owed == 0 for one in found.values())


def test_the_oracle_solves_every_entry_of_the_core_and_random_hardly_any() -> None:
    by_name = results("core_v0")
    assert {summary.success.value for summary in by_name["oracle"].summaries} == {1.0}
    assert max(summary.success.value for summary in by_name["random"].summaries) <= MOST_RANDOM


def test_the_suite_of_the_demo_is_what_the_demo_trains_on() -> None:
    config, (entry,) = load_config("tiny_cpu"), load_suite("demo_v0").entries
    assert (entry.env, entry.options) == (config.env.id, config.env.options)
    assert entry.reply_tokens == {name: role.max_tokens for name, role in config.roles.items()}


def test_training_is_worth_what_the_page_says_of_each_role() -> None:
    """The planner's training solves instances; the tool's shows in its return and in the quality of its programs."""
    rows = {name: one.summaries[0] for name, one in results("demo_v0").items()}
    before, planner, tool, after = (rows[name] for name in ("warm start", "trained planner", "trained tool", "trained"))
    assert before.success.high < planner.success.low < after.success.high
    assert before.returns["tool"].high < tool.returns["tool"].low
    assert before.tool_quality is not None
    assert tool.tool_quality is not None
    assert before.tool_quality.high < tool.tool_quality.low


def numbers(standing: Standing) -> Standing:
    """Without seconds, which differ from machine to machine."""
    return replace(standing, summaries=tuple(replace(summary, costs={}) for summary in standing.summaries))


@pytest.mark.parametrize("player", PLAYERS)
@pytest.mark.parametrize("suite", scaled(fast=["smoke_v0"], long=list(NAMES)))
def test_the_commands_of_the_page_give_its_numbers(suite: str, player: str, tmp_path: Path) -> None:
    plan = plan_suite(load_suite(suite), player, {})
    play_run(plan, tmp_path / "run", casts=build_casts(plan))
    kept = results(suite)[player]
    again = Standing.from_json(load_standing(tmp_path / "run").to_json())
    assert repr(numbers(again)) == repr(numbers(kept)), "repr, since NaN differs from itself"

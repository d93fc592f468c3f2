"""The comparison of team, shared adapter and single agent: its configurations and its table."""

import dataclasses
from pathlib import Path

import pytest

from at_grpo.loading import load_config
from llm_envs_bench.demo import AFTER, BEFORE
from llm_envs_bench.demo_compare import CONFIG, VARIANTS, Result, comparison_table, reference_page
from llm_envs_bench.training import TrainedRun
from tests.benchmarks import corridor
from tests.benchmarks.conftest import Play

REPORT = {"samples": {"scout": 1200, "walker": 1000}, "seconds": {"prepare": 30.0, "train": 90.0}}


@pytest.fixture
def results(play: Play, tmp_path: Path) -> list[Result]:
    """Runs of reference players in the places of models."""
    trained = TrainedRun(tmp_path, tmp_path, tmp_path, corridor.ENV_ID, {}, ("scout", "walker"), REPORT)
    idle, oracle = play("idle"), play("oracle")
    first = Result(VARIANTS[0], trained, {"random": idle, BEFORE: idle, AFTER: oracle, "oracle": oracle})
    return [first, Result(VARIANTS[1], trained, {BEFORE: idle, AFTER: idle})]


def test_the_variants_differ_only_in_who_has_which_weights() -> None:
    team, shared, single = (load_config(CONFIG, variant.overrides) for variant in VARIANTS)
    assert {role: section.policy for role, section in team.roles.items()} == {"tool": "tool", "planner": "planner"}
    assert {role: section.policy for role, section in shared.roles.items()} == {"tool": "team", "planner": "team"}
    assert {role: section.policy for role, section in single.roles.items()} == {"solver": "solver"}
    assert dataclasses.replace(shared, policies=team.policies, roles=team.roles) == team
    rest = dataclasses.replace(single, policies=team.policies, roles=team.roles, env=team.env)
    assert rest == team


def test_a_single_agent_has_as_many_replies_an_episode_and_the_same_limits() -> None:
    team, _, single = (load_config(CONFIG, variant.overrides) for variant in VARIANTS)
    assert single.env.options == team.env.options | {
        "roles": "single",
        "max_cycles": 2 * team.env.options["max_cycles"],
    }
    (solver,) = single.roles.values()
    for section in team.roles.values():
        assert (section.temperature, section.max_tokens) == (solver.temperature, solver.max_tokens)
    assert {*team.policies.values()} == {*single.policies.values()}


def test_the_table_has_the_references_once_and_each_variant_before_and_after(results: list[Result]) -> None:
    grid = comparison_table(results)
    assert [row[0] for row in grid.rows] == [
        "random",
        "adapter per role (L2), warm start",
        "adapter per role (L2), trained",
        "oracle",
        "one adapter (L1), warm start",
        "one adapter (L1), trained",
    ]
    trained = dict(zip(grid.header, grid.rows[2], strict=True))
    assert (trained["replies trained on"], trained["training"]) == ("2,200", "2.0 min")
    assert grid.rows[1][-2:] == ("", ""), "the warm start was not trained by reinforcement"


def test_the_page_says_when_and_how_the_table_came_about(results: list[Result]) -> None:
    page = reference_page(results, command="llm-envs demo-compare --seed 0")
    assert page.startswith("# The demo compared, 20")
    assert "`llm-envs demo-compare --seed 0`" in page
    assert "6 instances of the test split of `tests/corridor-v0`" in page
    assert comparison_table(results).to_markdown() in page

"""Weights, diagonal moves, difficulties and planners without a tool."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs import plan_path_v0
from llm_envs.core.env import TextAECEnv
from llm_envs.core.task import Split
from llm_envs.plan_path.generator import Dials
from llm_envs.plan_path.moves import moves_of
from llm_envs.plan_path.presets import PRESETS, make_dials
from llm_envs.plan_path.task import PlanPathTask
from llm_envs.sandbox.base import Outcome, Status

SWAMP = "@....\n.999.\n.999.\n.999.\n....G"  # the way round costs 8, the way through 30


def game(grid: str, **options: Any) -> TextAECEnv:
    """Planners alone on a given grid."""
    env = plan_path_v0.raw_env(roles="planners", **options)
    env.reset(options={"task": grid})
    return env


def test_every_cheapest_path_earns_everything_with_weights() -> None:
    """UC-038: both ways round the swamp, and no other of the 70 with eight moves."""
    full = []
    for path in set(itertools.permutations(["down"] * 4 + ["right"] * 4)):
        env = game(SWAMP, weights=9)
        env.step(" ".join(path))
        info = env.infos["planner_0"]
        assert info["success"]
        assert info["team_reward"] == 1.0
        assert info["excess_cost"] == info["cost"] - 8
        assert info["local_reward"] == pytest.approx(-0.005 * info["excess_cost"])
        full += [path] if env.rewards["planner_0"] == 1.0 else []
    assert len(full) == 2


def test_the_only_shortest_diagonal_path_earns_everything() -> None:
    """UC-038, with diagonal moves: one more move wastes one."""
    for path, local in (("dr dr dr dr", 0.0), ("d r dr dr dr", -0.005), ("dr d r r d dr", -0.01)):
        env = game("@....\n.....\n.....\n.....\n....G", diagonal=True)
        env.step(path)
        assert env.infos["planner_0"]["success"]
        assert env.infos["planner_0"]["team_reward"] == 1.0
        assert env.infos["planner_0"]["local_reward"] == pytest.approx(local)


def test_the_team_reward_follows_the_cheapest_way() -> None:
    env = game(SWAMP, weights=9)
    env.step("down down")
    assert env.infos["planner_0"]["team_reward"] == pytest.approx(0.25)
    env.step("right")
    assert env.infos["planner_0"]["team_reward"] == pytest.approx(-0.125), "the cheapest way goes back first"
    assert env.infos["planner_0"]["excess_cost"] == 9 + 1
    assert "here: 9" in env.state()


def test_costs_of_an_episode_are_told_against_its_optimum() -> None:
    env = game(SWAMP, weights=9)
    seen = []
    for moves in ("right left", "up right right", "right right down", "down down down"):
        env.step(moves)
        info = env.infos["planner_0"]
        seen.append((info["cost"], info["optimal_cost"], info["excess_cost"], info["optimal_moves"]))
    assert seen == [(2, 8, 2, 8), (4, 8, 2, 8), (7, 8, 2, 6), (10, 8, 2, 3)]
    assert info["success"]


@given(
    index=st.integers(0, 300),
    weights=st.integers(1, 9),
    diagonal=st.booleans(),
    lists=st.lists(st.lists(st.sampled_from(moves_of(diagonal=True)), min_size=1, max_size=6), max_size=6),
)
def test_what_is_lost_never_comes_back(index: int, weights: int, diagonal: bool, lists: list[list[str]]) -> None:
    """The excess never falls, and whoever goes on along a cheapest path pays optimum plus excess in the end."""
    env = plan_path_v0.raw_env(roles="planners", size=6, min_path=2, weights=weights, diagonal=diagonal, max_cycles=9)
    env.reset(options={"index": index})
    lost = 0
    for moves in lists:
        env.step(" ".join(moves))
        if env.infos["planner_0"]["invalid"] or env.infos["planner_0"]["success"]:
            break
        assert env.infos["planner_0"]["excess_cost"] >= lost
        lost = env.infos["planner_0"]["excess_cost"]
    while not env.infos["planner_0"]["success"]:
        env.step(env.task.reference("oracle", env.snapshot, "planner", None))
    info = env.infos["planner_0"]
    assert info["cost"] == info["optimal_cost"] + info["excess_cost"]
    assert info["optimal_cost"] == env.snapshot.board.length


def test_a_tool_is_measured_against_the_cheapest_way_not_the_straight_one() -> None:
    class Prints:
        name = "unsafe"
        guarantees: frozenset[str] = frozenset()

        def run(self, programs: Any) -> list[Outcome]:
            return [Outcome(Status.OK, 0, program.code) for program in programs]

    env = plan_path_v0.raw_env(weights=9, max_moves=2, sandbox=Prints())
    shortfalls = []
    for moves in ("down down", "right right", "down right", "right", "up up"):
        env.reset(options={"task": SWAMP})
        env.step(f"```python\n{moves}\n```")
        shortfalls.append(env.infos["tool_0"]["shortfall"])
    assert shortfalls == pytest.approx([0.0, 0.0, -0.25, -0.125, -0.25])


def test_diagonal_moves_are_no_moves_where_they_are_not_asked_for() -> None:
    """UC-038, and its negative control."""
    for diagonal, words in ((False, "is not a list of moves"), (True, None)):
        env = game("@....\n.....\n.....\n.....\n....G", diagonal=diagonal)
        env.step("<answer>down-right DR</answer>")
        invalid = env.infos["planner_0"]["invalid"]
        assert invalid is None if words is None else words in invalid


@pytest.mark.parametrize("difficulty", PRESETS)
def test_a_difficulty_stands_for_its_dials_and_dials_that_are_given_win(difficulty: str) -> None:
    preset = PRESETS[difficulty]
    plain = Dials(preset.size, preset.walls, preset.min_path, 160)
    assert PlanPathTask(difficulty=difficulty).dials == plain
    assert PlanPathTask(difficulty=difficulty, walls=0.0).dials.walls == 0.0
    assert PlanPathTask(difficulty=difficulty, min_path=1).dials.min_path == 1
    assert PlanPathTask(difficulty=difficulty, size=16).dials == Dials(16, preset.walls, preset.min_path, 160)
    assert make_dials(difficulty=difficulty, size=4, within=160).min_path == min(preset.min_path, 6)
    assert make_dials(difficulty=difficulty, size=4, diagonal=True, within=160).min_path == 3


def test_the_easy_difficulty_is_the_default() -> None:
    assert PlanPathTask().dials == PlanPathTask(difficulty="easy").dials == Dials(8, 0.2, 4, 160)


def test_difficulties_get_harder() -> None:
    means = []
    for difficulty in ("easy", "medium", "hard"):
        task = PlanPathTask(difficulty=difficulty)
        means.append(sum(task.instance(Split.TEST, index).distance for index in range(20)) / 20)
    assert means == sorted(means)
    assert means[-1] > 2 * means[0]


def test_planners_without_a_tool_read_nothing_of_one() -> None:
    for view in ("full", "local"):
        env = plan_path_v0.raw_env(roles="planners", observation=view, agents={"planner": 2})
        env.reset(seed=0)
        assert env.possible_agents == ["planner_0", "planner_1"]
        assert "tool" not in env.observe("planner_0")
        env.step("<answer>up down</answer>")
        assert env.agent_selection == "planner_1"
        assert ("The last moves: up down" in env.observe("planner_1")) is (view == "full")


def test_a_grid_may_have_any_costs_up_to_the_option_and_any_size() -> None:
    env = game("@23.\n....\n....\n...G", weights=3, size=10)
    assert env.snapshot.board.costs[:4] == (1, 2, 3, 1)
    assert env.snapshot.board.size == 4

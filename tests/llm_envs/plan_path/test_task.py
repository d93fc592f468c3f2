"""Rewards, roles and options of Plan-Path."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs import plan_path_v0
from llm_envs.core.env import TextAECEnv
from llm_envs.core.errors import UsageError
from llm_envs.plan_path.board import walk
from llm_envs.plan_path.task import PlanPathTask
from llm_envs.sandbox.base import Outcome, Program, Sandbox, Status
from tests.llm_envs.plan_path.strategies import MOVE_LISTS
from tests.scale import scaled

OPEN = "@....\n.....\n.....\n.....\n....G"
WALLED = "@...\n.##.\n.##.\n...G"


def game(grid: str, **options: Any) -> TextAECEnv:
    """A planner who acts first on a given grid, with a tool that has nothing to say."""
    env = plan_path_v0.raw_env(turn_order=("planner", "tool"), **options)
    env.reset(options={"task": grid})
    return env


def shortest_paths(downs: int, rights: int) -> list[str]:
    """All ways to go down and right."""
    steps = set(itertools.permutations(["down"] * downs + ["right"] * rights))
    return [" ".join(path) for path in steps]


def test_every_shortest_path_earns_everything() -> None:
    """UC-038: all 70 on an open 5x5 grid, not only a stored one."""
    paths = shortest_paths(4, 4)
    assert len(paths) == 70
    for path in paths:
        env = game(OPEN)
        env.step(path)
        assert env.rewards == {"planner_0": 1.0, "tool_0": 1.0}
        assert all(env.terminations.values())
        assert env.infos["planner_0"]["success"]


@pytest.mark.parametrize(
    ("path", "team", "local", "solved"),
    [
        ("right down left down down right down right right right", 1.0, -0.01, True),
        ("up down down down down right right right right", 1.0, -0.05, True),
        ("down down down down", 0.5, 0.0, False),
        ("down up down up", 0.0, -0.02, False),
        ("up up left left", 0.0, -0.20, False),
    ],
)
def test_a_longer_or_blocked_path_earns_the_documented_less(path: str, team: float, local: float, solved: bool) -> None:
    """UC-038."""
    env = game(OPEN)
    env.step(path)
    info = env.infos["planner_0"]
    assert info["team_reward"] == pytest.approx(team)
    assert info["local_reward"] == pytest.approx(local)
    assert info["success"] is solved
    assert env.rewards["planner_0"] == pytest.approx(team + local)


def test_a_path_through_a_wall_stays_before_it() -> None:
    """UC-038."""
    env = game(WALLED)
    env.step("down right right right down down")
    assert not env.infos["planner_0"]["success"]
    assert env.infos["planner_0"]["hits"] == 3
    assert env.state().splitlines()[3][0] == "@"


@pytest.mark.parametrize("reply", ["up-right", "diagonal", "northeast", "right/down"])
def test_a_diagonal_step_is_no_move(reply: str) -> None:
    """UC-038."""
    env = game(OPEN)
    env.step(reply)
    assert env.infos["planner_0"]["invalid"]
    assert env.rewards["planner_0"] == -1.0


def test_the_planner_is_told_what_its_moves_did() -> None:
    env = game(OPEN)
    env.step("right left up right")
    assert env.infos["planner_0"] == {
        "role": "planner",
        "success": False,
        "invalid": None,
        "team_reward": pytest.approx(1 / 8),
        "local_reward": pytest.approx(-0.06),
        "hit_penalty": -0.05,
        "waste_penalty": -0.01,
        "hits": 1,
        "wasted": 1,
        "progress": 1,
        "optimal_moves": 8,
        "cost": 3,
        "optimal_cost": 8,
        "excess_cost": 2,
    }


def test_team_rewards_telescope_below_the_start_as_well() -> None:
    """Going farther than the start costs nothing of the team's and regains nothing."""
    env = game("....\n.@..\n....\n...G")
    rewards = []
    for moves in ("up left", "down right", "down right", "right down"):
        env.step(moves)
        rewards.append(env.infos["planner_0"]["team_reward"])
        if not any(env.terminations.values()):
            env.step("nothing")
    assert rewards == pytest.approx([0.0, 0.0, 0.5, 0.5])


def suggest(printed: Outcome, grid: str = OPEN, **options: Any) -> tuple[TextAECEnv, dict[str, Any]]:
    """What the tool is told when its program has this outcome."""

    class Prepared:
        name = "unsafe"
        guarantees: frozenset[str] = frozenset()
        programs: tuple[Program, ...] = ()

        def run(self, programs: Any) -> list[Outcome]:
            self.programs += tuple(programs)
            return [printed]

    env = plan_path_v0.raw_env(sandbox=Prepared(), **options)
    env.reset(options={"task": grid})
    env.step("print('whatever')")
    return env, env.infos["tool_0"]


def printed(text: str) -> Outcome:
    return Outcome(Status.OK, 0, text)


@pytest.mark.parametrize(
    ("text", "max_moves", "shortfall", "hits", "useful"),
    [
        ("down down down down right right right right", 20, 0.0, 0.0, True),
        ("down right", 2, 0.0, 0.0, True),
        ("down right", 20, -0.75, 0.0, True),
        ("down up", 2, -0.25, 0.0, False),
        ("up down", 2, -0.125, -0.05, True),
        ("up up", 2, -0.25, -0.1, False),
    ],
)
def test_a_tool_is_paid_for_what_its_list_would_do_now(
    text: str, max_moves: int, shortfall: float, hits: float, useful: bool
) -> None:
    _, info = suggest(printed(text), max_moves=max_moves)
    assert info["shortfall"] == pytest.approx(shortfall)
    assert info["hit_penalty"] == pytest.approx(hits)
    assert info["local_reward"] == pytest.approx(shortfall + hits)
    assert info["team_reward"] == 0.0
    assert info["tool_useful"] is useful
    assert info["program_ran"] is True


FAILURES = {
    "error": Outcome(Status.ERROR, 1, "up", "Traceback\nNameError: name 'x' is not defined"),
    "time": Outcome(Status.TIMEOUT, None, "up"),
    "memory": Outcome(Status.MEMORY, None, "up"),
    "too much output": Outcome(Status.OUTPUT, None, "up " * 9999),
    "silence": printed(""),
    "prose": printed("The path is up."),
    "too long": printed("up " * 21),
    "a grid": printed(OPEN),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_program_that_fails_or_prints_no_list_costs_everything(failure: str) -> None:
    env, info = suggest(FAILURES[failure])
    assert info["local_reward"] == info["program"] == -1.0
    assert info["tool_useful"] is False
    assert info["program_ran"] is (FAILURES[failure].status is Status.OK)
    assert env.snapshot.candidate is None
    assert "There is no list of the tool." in env.observe("planner_0")


def test_the_author_of_a_program_is_told_what_it_did() -> None:
    env, _ = suggest(FAILURES["error"])
    assert "The last program failed (error: NameError: name 'x' is not defined)." in env.observe("tool_0")
    assert "NameError" not in env.observe("planner_0")
    env, _ = suggest(FAILURES["too long"])
    assert "which are more than the 20 allowed" in env.observe("tool_0")
    env, _ = suggest(printed("The path is up."))
    assert "printed no list of moves but 'The path is up.'" in env.observe("tool_0")


def test_the_planner_sees_the_list_of_this_very_turn_and_it_goes_when_the_agent_moves_on() -> None:
    """UC-020."""
    env, _ = suggest(printed("down right"))
    assert "The tool's list: down right." in env.observe("planner_0")
    env.step("<answer>nowhere</answer>")
    assert "The tool's list: down right." in env.observe("planner_0"), "an invalid reply moves nothing"
    env.step("print('whatever')")
    env.step("<answer>down</answer>")
    assert "There is no list of the tool." in env.observe("planner_0")


@pytest.mark.parametrize(("view", "stdin"), [("full", OPEN), ("local", "")])
def test_the_grid_is_the_standard_input_where_it_is_shown(view: str, stdin: str) -> None:
    env, _ = suggest(printed("down"), observation=view)
    (program,) = env.sandbox.programs  # type: ignore[union-attr]
    assert program.stdin == stdin


def test_a_single_agent_runs_programs_and_moves(sandbox: Sandbox) -> None:
    env = plan_path_v0.raw_env(roles="single", sandbox=sandbox)
    env.reset(options={"task": OPEN})
    assert env.possible_agents == ["solver_0"]
    env.step("Let me compute.\n```python\nprint('down ' * 4, 'right ' * 4)\n```")
    assert env.rewards == {"solver_0": 0.0}
    assert env.infos["solver_0"]["tool_useful"]
    assert "The last program printed down down down down right right right right." in env.observe("solver_0")
    env.step("<answer>down down down down right right right right</answer>")
    assert env.rewards == {"solver_0": 1.0}
    assert all(env.terminations.values())


def test_the_oracle_tool_computes_its_list_from_the_grid_it_reads(sandbox: Sandbox) -> None:
    env = plan_path_v0.raw_env(sandbox=sandbox, max_moves=5)
    env.reset(options={"task": WALLED})
    reply = env.task.reference("oracle", env.snapshot, "tool", None)
    assert "sys.stdin" in reply
    env.step(reply)
    assert env.infos["tool_0"]["local_reward"] == 0.0
    assert len(env.snapshot.candidate) == 5


@pytest.mark.parametrize("options", [{"weights": 9}, {"diagonal": True}, {"weights": 5, "diagonal": True}])
def test_the_oracle_tool_finds_cheapest_lists_with_weights_and_diagonal_moves(
    options: dict[str, Any], sandbox: Sandbox
) -> None:
    env = plan_path_v0.raw_env(sandbox=sandbox, max_moves=6, **options)
    for index in range(scaled(fast=4, long=100)):
        env.reset(options={"index": index})
        reply = env.task.reference("oracle", env.snapshot, "tool", None)
        assert "heapq" in reply
        env.step(reply)
        state = env.snapshot
        went = walk(state.board, state.position, state.candidate)
        assert env.infos["tool_0"]["local_reward"] == 0.0
        assert went.cost == state.distance - state.board.distances[went.end]
        env.step("<answer>up</answer>")
        env.step(env.task.reference("oracle", env.snapshot, "tool", None))
        assert env.infos["tool_0"]["local_reward"] == 0.0, "from a cell whose own cost is hidden"


class Forbidden:
    """A sandbox that nobody may use."""

    name = "unsafe"

    def run(self, programs: Any) -> None:
        raise AssertionError(f"a program was run: {programs}")


@pytest.mark.parametrize("roles", ["team", "single"])
def test_noise_starts_no_program(roles: str) -> None:
    """UC-004: 500 samples of the action space, each an invalid reply."""
    env = plan_path_v0.raw_env(roles=roles, sandbox=Forbidden(), max_cycles=500)
    env.reset(seed=0)
    for agent in env.possible_agents:
        env.action_space(agent).seed(0)
    for _ in range(500):
        agent = env.agent_selection
        env.step(env.action_space(agent).sample())
        assert env.infos[agent]["invalid"]
        assert env.rewards[agent] == -1.0


class Prints:
    """A sandbox whose programs print their own source."""

    name = "unsafe"

    def run(self, programs: Any) -> list[Outcome]:
        return [printed(program.code) for program in programs]


REPLIES = st.one_of(
    MOVE_LISTS.map(" ".join),
    MOVE_LISTS.map(lambda moves: f"```python\n{' '.join(moves)}\n```"),
    st.sampled_from(["", "upright", "<answer></answer>", "up " * 30]),
)


@given(
    index=st.integers(0, 500),
    alpha=st.sampled_from([0.01, 0.5, 1.0, 10.0]),
    roles=st.sampled_from(["team", "single"]),
    replies=st.lists(REPLIES, min_size=1, max_size=12),
)
def test_every_unsolved_episode_returns_less_than_the_oracle(
    index: int, alpha: float, roles: str, replies: list[str]
) -> None:
    """Whatever is said, for every agent; and success is reported at the goal only."""
    env = plan_path_v0.raw_env(size=4, min_path=3, walls=0.1, alpha=alpha, roles=roles, sandbox=Prints())
    env.reset(options={"index": index})
    returns = dict.fromkeys(env.possible_agents, 0.0)
    for reply in replies:
        if any(env.terminations.values()) or any(env.truncations.values()):
            break
        env.step(reply)
        returns = {agent: value + env.rewards[agent] for agent, value in returns.items()}
    at_goal = env.snapshot.position == env.snapshot.board.goal
    assert all(info["success"] is at_goal for info in env.infos.values())
    oracle = alpha  # the whole way, and no penalty
    assert all(value <= oracle + 1e-9 for value in returns.values())
    if not at_goal:
        assert all(value < oracle - 1e-9 for value in returns.values())


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("size", 3, "from 4 to 16"),
        ("size", 17, "from 4 to 16"),
        ("size", 8.0, "from 4 to 16"),
        ("walls", 0.6, r"0 to 0\.5"),
        ("walls", float("nan"), r"0 to 0\.5"),
        ("walls", "many", r"0 to 0\.5"),
        ("min_path", 0, "from 1 to 14"),
        ("min_path", 15, "from 1 to 14"),
        ("max_moves", 0, "from 1 to 256"),
        ("max_moves", 300, "from 1 to 256"),
        ("observation", "global", "full, local"),
        ("roles", "duo", "planners, single, team"),
        ("difficulty", "herd", "Did you mean 'hard'"),
        ("weights", 0, "from 1 to 9"),
        ("weights", 10, "from 1 to 9"),
        ("weights", 2.5, "from 1 to 9"),
        ("diagonal", 1, "True or False"),
    ],
)
def test_options_with_wrong_values_are_refused_in_words(option: str, value: Any, words: str) -> None:
    with pytest.raises(UsageError, match=f"{option}=.*{words}"):
        PlanPathTask(**{option: value})


def test_a_horizon_too_short_for_any_path_is_refused() -> None:
    with pytest.raises(UsageError, match=r"max_moves \* max_cycles = 2"):
        plan_path_v0.raw_env(min_path=4, max_moves=1, max_cycles=2)


@pytest.mark.parametrize(
    ("task", "words"),
    [
        (3, "a grid as text"),
        ("S...\n....\n....\n...+", "not reached yet"),
        ("@.", "4 to 16"),
        ("@.5.\n....\n....\n...G", "weights=5"),
        ("@...\n....\n....\n...G\ndiagonal: yes", "the option `diagonal`"),
    ],
)
def test_a_task_that_is_no_grid_is_refused(task: Any, words: str) -> None:
    env = plan_path_v0.raw_env()
    with pytest.raises(UsageError, match=words):
        env.reset(options={"task": task})


def test_the_page_lists_every_option_with_its_default() -> None:
    rows = [line for line in (plan_path_v0.__doc__ or "").splitlines() if line.startswith("| `")]
    from llm_envs.core.options import options_of

    for name, default in options_of(plan_path_v0.env).items():
        (row,) = [row for row in rows if row.startswith(f"| `{name}` |")]
        if name not in {"agents", "turn_order"}:
            shown = f'"{default}"' if isinstance(default, str) else str(default)
            assert row.split("|")[2].strip() == shown

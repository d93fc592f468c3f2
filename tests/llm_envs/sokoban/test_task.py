"""Rewards, roles and options of Sokoban."""

from typing import Any

import pytest

from llm_envs import sokoban_v0
from llm_envs.core.errors import UsageError
from llm_envs.core.options import options_of
from llm_envs.core.task import Split
from llm_envs.sandbox.base import Outcome, Program, Sandbox, Status
from llm_envs.sokoban.board import walk
from llm_envs.sokoban.deadlocks import assess
from llm_envs.sokoban.levels import parse_level
from llm_envs.sokoban.plans import plan_from
from llm_envs.sokoban.task import SokobanTask
from tests.llm_envs.sokoban.scenes import AWAY, PROGRAM, TWO, TWO_PLAN, game, planner_first

CORNER = "#######\n#     #\n# @$. #\n#     #\n#######"  # pushed up, the box is at an edge without a goal


def potential(level: str, moves: str = "") -> float:
    board = walk(parse_level(level), moves.split()).end
    return assess(board.room, board.boxes).potential


def test_a_plan_earns_what_the_start_lacks() -> None:
    env = planner_first()
    env.step(TWO_PLAN)
    gained = 1 - potential(TWO)
    assert env.rewards == pytest.approx({"planner_0": gained, "tool_0": gained})
    assert env.infos["planner_0"]["success"]
    assert all(env.terminations.values())


def test_the_planner_is_told_what_its_moves_did() -> None:
    env = planner_first()
    env.step("up right right left")
    assert env.infos["planner_0"] == {
        "role": "planner",
        "success": False,
        "invalid": None,
        "team_reward": pytest.approx(potential(TWO, "right right") - potential(TWO)),
        "local_reward": -0.05,
        "hit_penalty": -0.05,
        "moves": 3,
        "pushes": 1,
        "hits": 1,
        "boxes_on_goals": 0,
        "pushes_left": 4,
        "deadlock": None,
        "optimal_pushes": 5,
        "pushes_lower": 5,
        "pushes_upper": 5,
    }


def test_moves_after_the_solution_are_ignored() -> None:
    """UC-025: the reward is as if they had not been said, blocked ones included."""
    exact, long = planner_first(), planner_first()
    exact.step(TWO_PLAN)
    long.step(f"{TWO_PLAN} left up up up up")
    assert long.rewards == exact.rewards
    assert long.infos["planner_0"] == exact.infos["planner_0"]
    assert long.state() == exact.state()


def test_pushing_forth_and_walking_round_to_push_back_earns_nothing() -> None:
    """Team rewards telescope: the potential is a function of where the boxes are."""
    env = planner_first(max_cycles=20)
    rewards = []
    for moves in ("right right", "down right right up left", "down left left left up") * 2:
        env.step(moves)
        rewards.append(env.infos["planner_0"]["team_reward"])
        env.step("nothing")
    gain = potential(TWO, "right right") - potential(TWO)
    assert gain > 0
    assert rewards == pytest.approx([gain, -gain, 0.0] * 2)


def test_a_deadlock_costs_all_that_the_start_was_worth() -> None:
    env = planner_first(CORNER)
    env.step("down right up up")
    info = env.infos["planner_0"]
    assert info["deadlock"] == "simple"
    assert info["pushes_left"] is None
    assert info["team_reward"] == pytest.approx(-potential(CORNER))
    assert info["team_reward"] < 0
    assert not any(env.terminations.values()), "told, but not ended unless asked"


def test_a_deadlock_ends_the_episode_where_asked() -> None:
    env = planner_first(CORNER, terminate_on_deadlock=True)
    env.step("down right up up")
    assert all(env.terminations.values())
    assert not env.infos["planner_0"]["success"]
    env = planner_first(CORNER, terminate_on_deadlock=True)
    env.step("right")
    assert env.infos["planner_0"]["success"]


@pytest.mark.parametrize(
    ("printed", "level", "max_moves", "shortfall", "hits"),
    [
        (TWO_PLAN, TWO, 20, 0.0, 0.0),
        ("right right", TWO, 20, potential(TWO, "right right") - 1, 0.0),
        ("right right", TWO, 2, 0.0, 0.0),
        ("up right right", TWO, 3, potential(TWO, "right right") - potential(TWO, "right right right"), -0.05),
        ("down up", TWO, 2, -potential(TWO, "right right"), 0.0),
        ("down up", TWO, 20, -1.0, 0.0),
        ("left left down right", AWAY, 4, 0.0, 0.0),
        ("left right left", AWAY, 4, -potential(AWAY, "left left down right"), 0.0),
    ],
)
def test_a_tool_is_paid_for_what_its_list_would_do_now(
    printed: str, level: str, max_moves: int, shortfall: float, hits: float
) -> None:
    env = game(level, printed, max_moves=max_moves, max_cycles=200 // max_moves)
    env.step(PROGRAM)
    info = env.infos["tool_0"]
    assert info["shortfall"] == pytest.approx(shortfall)
    assert info["hit_penalty"] == pytest.approx(hits)
    assert info["local_reward"] == pytest.approx(max(-1.0, shortfall + hits))
    assert info["team_reward"] == 0.0
    assert info["tool_useful"] is (potential(level, printed) > potential(level))
    assert info["program_ran"] is True


def test_a_plan_that_begins_with_a_loss_is_still_perfect() -> None:
    """Negative control of the row above: the shortest plan's first push lowers the potential."""
    assert potential(AWAY, "left left down right") < potential(AWAY)
    plan = plan_from(parse_level(AWAY), None)
    assert plan is not None
    assert plan[:4] == ("left", "left", "down", "right")


def test_in_a_deadlock_no_list_is_worth_anything() -> None:
    env = game(CORNER, "down")
    env.step(PROGRAM)
    env.step("down right up up")
    env.step(PROGRAM)
    assert env.infos["tool_0"]["shortfall"] == -1.0


FAILURES = {
    "error": Outcome(Status.ERROR, 1, "up", "Traceback\nNameError: name 'x' is not defined"),
    "time": Outcome(Status.TIMEOUT, None, "up"),
    "memory": Outcome(Status.MEMORY, None, "up"),
    "too much output": Outcome(Status.OUTPUT, None, "up " * 9999),
    "silence": Outcome(Status.OK, 0, ""),
    "prose": Outcome(Status.OK, 0, "Push the box up."),
    "too long": Outcome(Status.OK, 0, "up " * 21),
    "the room": Outcome(Status.OK, 0, TWO),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_program_that_fails_or_prints_no_list_costs_everything(failure: str) -> None:
    env = game(printed=FAILURES[failure])
    env.step(PROGRAM)
    info = env.infos["tool_0"]
    assert info["local_reward"] == info["program"] == -1.0
    assert info["tool_useful"] is False
    assert info["program_ran"] is (FAILURES[failure].status is Status.OK)
    assert env.snapshot.candidate is None


def test_the_author_of_a_program_is_told_what_it_did() -> None:
    env = game(printed=FAILURES["error"])
    env.step(PROGRAM)
    assert "The last program failed (error: NameError: name 'x' is not defined)." in env.observe("tool_0")
    assert "NameError" not in env.observe("planner_0")
    env = game(printed=FAILURES["too long"])
    env.step(PROGRAM)
    assert "which are more than the 20 allowed" in env.observe("tool_0")


def test_the_planner_sees_the_list_of_this_very_turn_and_it_goes_when_moves_are_made() -> None:
    """UC-020."""
    env = game(printed="down right")
    env.step(PROGRAM)
    assert "The tool's list: down right." in env.observe("planner_0")
    env.step("<answer>nowhere</answer>")
    assert "The tool's list: down right." in env.observe("planner_0"), "an invalid reply moves nothing"
    env.step(PROGRAM)
    env.step("<answer>down</answer>")
    assert "There is no list of the tool." in env.observe("planner_0")


def test_the_room_as_it_is_now_is_the_standard_input() -> None:
    env = game(printed="down")
    env.step(PROGRAM)
    env.step("right")
    env.step(PROGRAM)
    programs: list[Program] = env.sandbox.programs  # type: ignore[union-attr]
    assert [program.stdin for program in programs] == [TWO + "\n", TWO.replace("@ $", " @$") + "\n"]
    assert parse_level(programs[0].stdin) == parse_level(TWO)


def test_a_single_agent_runs_programs_and_moves(sandbox: Sandbox) -> None:
    env = sokoban_v0.raw_env(roles="single", sandbox=sandbox)
    env.reset(options={"task": TWO})
    assert env.possible_agents == ["solver_0"]
    code = f"import sys\nassert sys.stdin.read() == {TWO + chr(10)!r}\nprint({TWO_PLAN!r})"
    env.step(f"Let me compute.\n```python\n{code}\n```")
    assert env.rewards == {"solver_0": 0.0}
    assert env.infos["solver_0"]["tool_useful"]
    assert f"The last program printed {TWO_PLAN}." in env.observe("solver_0")
    env.step(f"<answer>{TWO_PLAN}</answer>")
    assert env.infos["solver_0"]["success"]
    assert env.rewards["solver_0"] == pytest.approx(1 - potential(TWO))


def test_planners_without_a_tool_take_turns() -> None:
    env = game(roles="planners", agents={"planner": 2})
    assert env.possible_agents == ["planner_0", "planner_1"]
    assert "tool" not in env.observe("planner_0")
    env.step("right right right")
    env.step("down right right down left left left")
    assert env.infos["planner_1"]["success"]


def test_the_pushes_of_the_shortest_plan_are_known_within_the_budget_and_bounded_beyond() -> None:
    hard = {"difficulty": "expert", "roles": "planners"}
    exact, none = sokoban_v0.raw_env(**hard, node_budget=20_000), sokoban_v0.raw_env(**hard, node_budget=0)
    open_bounds = 0
    for index in range(6):
        for env in (exact, none):
            env.reset(options={"index": index})
            env.step("up")
        known, bounded = exact.infos["planner_0"], none.infos["planner_0"]
        assert known["optimal_pushes"] == known["pushes_lower"] == known["pushes_upper"]
        assert bounded["pushes_lower"] <= known["optimal_pushes"] <= bounded["pushes_upper"]
        open_bounds += bounded["optimal_pushes"] is None
    assert open_bounds > 0


def test_a_level_given_as_text_is_played_and_its_state_read_back() -> None:
    env = game(printed="down right")
    assert env.state() == TWO
    assert env.index is None
    env.step(PROGRAM)
    again = sokoban_v0.raw_env()
    again.reset(options={"task": str(env.state())})
    assert again.state() == env.state()


@pytest.mark.parametrize(
    ("task", "words"),
    [
        (3, "a level as text"),
        ("#####\n#@* #\n#####", "not solved yet"),
        ("######\n#$  .#\n#  @ #\n######", "that can be solved"),
        ("#####\n#@$$#\n# . #\n#####", "one for each box"),
        ("@$.", "enclosed by walls"),
        (f"{TWO}\ncandidate: upwards", "moves separated by spaces"),
    ],
)
def test_a_task_that_is_no_level_is_refused(task: Any, words: str) -> None:
    env = sokoban_v0.raw_env()
    with pytest.raises(UsageError, match=words):
        env.reset(options={"task": task})


def test_a_level_too_hard_for_the_budget_is_played_without_a_known_plan() -> None:
    text = SokobanTask(difficulty="expert").instance(Split.TRAIN, 0).board.text
    state = SokobanTask(node_budget=3).load(text)
    assert state.level is not None
    assert state.level.moves is None
    assert state.level.bounds.upper is None
    assert state.level.bounds.lower is not None
    assert plan_from(state.board, state.level) is not None, "a turn has a budget of its own"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_moves": 0}, "max_moves=0.*from 1 to 256"),
        ({"max_moves": 257}, "max_moves=257.*from 1 to 256"),
        ({"node_budget": -1}, "node_budget=-1.*>= 0"),
        ({"node_budget": 1.5}, "node_budget=1.5.*>= 0"),
        ({"terminate_on_deadlock": 1}, "terminate_on_deadlock=1.*True or False"),
        ({"roles": "duo"}, "roles='duo'.*planners, single, team"),
        ({"max_cycles": 0}, "max_cycles=0"),
        ({"max_moves": 1}, r"max_moves \* max_cycles=8: must be at least 22"),
        ({"action_format": "array"}, "action_format='array'.*discrete, text"),
        ({"action_format": "discrete", "roles": "single"}, "must be 'planners'"),
        ({"boxess": 2}, "Did you mean 'boxes'"),
    ],
)
def test_options_with_wrong_values_are_refused_in_words(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        sokoban_v0.raw_env(**options)


def test_the_page_lists_every_option_with_its_default() -> None:
    rows = [line for line in (sokoban_v0.__doc__ or "").splitlines() if line.startswith("| `")]
    for name, default in options_of(sokoban_v0.env).items():
        (row,) = [row for row in rows if row.startswith(f"| `{name}` |")]
        if name not in {"agents", "turn_order"}:
            shown = f'"{default}"' if isinstance(default, str) else str(default)
            assert row.split("|")[2].strip() == shown

"""Rewards, options and loading."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from llm_envs import sudoku_v0
from llm_envs.core.env import TextAECEnv
from llm_envs.core.errors import UsageError
from llm_envs.core.task import Split
from llm_envs.sandbox.base import Outcome, Status
from llm_envs.sudoku.state import rows
from llm_envs.sudoku.task import SudokuTask
from tests.llm_envs.sudoku.boards import CLASSIC, CLASSIC_SOLUTION, SEVERAL, SMALL, SMALL_SOLUTION

PROGRAM = "```python\n...\n```"


class Prints:
    """A sandbox whose programs give the outcome it was made with; it keeps the programs."""

    name = "unsafe"
    guarantees: frozenset[str] = frozenset()

    def __init__(self, stdout: str = "", status: Status = Status.OK, stderr: str = "") -> None:
        self.outcome = Outcome(status, 0, stdout, stderr)
        self.programs: list[Any] = []

    def run(self, programs: Any) -> list[Outcome]:
        self.programs += programs
        return [self.outcome for _ in programs]


def game(task: Any = SMALL, sandbox: Any = "unsafe", **options: Any) -> TextAECEnv:
    env = sudoku_v0.raw_env(size=4, sandbox=sandbox, **options)
    env.reset(options={"task": task})
    return env


def planner(reply: str, env: TextAECEnv | None = None) -> TextAECEnv:
    env = env or game(turn_order=("planner", "tool"))
    env.step(reply)
    return env


def test_the_team_earns_what_right_less_wrong_cells_rise_by() -> None:
    env = planner("r1c2=2 r1c3=2 r1c4=4")
    info = env.infos["planner_0"]
    assert info["team_reward"] == pytest.approx(1 / 12)  # two right, one wrong
    assert (info["placed"], info["illegal"], info["empty"], info["blanks"]) == (3, 0, 9, 12)
    assert env.rewards == pytest.approx({"planner_0": 1 / 12, "tool_0": 1 / 12})


def test_the_whole_solution_solves_and_earns_one() -> None:
    env = planner(f"<answer>{SMALL_SOLUTION}</answer>")
    assert env.infos["planner_0"]["success"]
    assert env.rewards["planner_0"] == 1.0
    assert all(env.terminations.values())


@pytest.mark.parametrize(
    ("reply", "penalty"),
    [
        ("r1c1=2", -0.05),
        ("r1c1=.", -0.05),
        ("r1c2=1", -0.05),
        ("r1c1=2 r1c2=1 r1c3=3", -0.15),
        ("r1c1=2 " * 30, -1.0),
        ("r1c1=1", 0.0),
        ("r1c2=2", 0.0),
    ],
)
def test_an_illegal_placement_has_no_effect_and_costs(reply: str, penalty: float) -> None:
    env = planner(reply)
    assert env.infos["planner_0"]["illegal_penalty"] == pytest.approx(penalty)
    assert env.rewards["planner_0"] == pytest.approx(penalty)
    assert env.snapshot.grid[0] == 1


@pytest.mark.parametrize(
    ("stdout", "local", "useful"),
    [
        (SMALL_SOLUTION, 0.0, True),
        ("1 3 2 4\n4 2 3 1\n2 4 1 3\n3 1 4 2\n", 0.0, True),
        ("r1c2=3 r1c3=2 r1c4=4", 3 / 12 - 1, True),
        ("r1c2=2", -1.0, False),
        ("r1c1=2 r1c2=3", 1 / 12 - 1 - 0.05, True),
        ("no answer", -1.0, False),
        ("", -1.0, False),
        (SMALL_SOLUTION + "\nSolved!", -1.0, False),
    ],
)
def test_a_tool_is_paid_for_what_its_answer_would_achieve_now(stdout: str, local: float, useful: bool) -> None:
    env = game(sandbox=Prints(stdout))
    env.step(PROGRAM)
    info = env.infos["tool_0"]
    assert info["local_reward"] == pytest.approx(local)
    assert (info["team_reward"], info["tool_useful"], info["program_ran"]) == (0.0, useful, True)
    assert env.snapshot.grid == env.snapshot.puzzle.clues


@pytest.mark.parametrize("status", [Status.ERROR, Status.TIMEOUT, Status.MEMORY, Status.OUTPUT])
def test_a_program_that_fails_costs_whatever_it_printed(status: Status) -> None:
    env = game(sandbox=Prints(SMALL_SOLUTION, status, "Traceback\nNameError: x"))
    env.step(PROGRAM)
    assert env.infos["tool_0"]["program"] == -1.0
    assert env.snapshot.candidate is None
    assert f"failed ({status}: NameError: x)" in env.observe("tool_0")


def test_a_program_reads_the_puzzle_and_not_what_was_filled_in() -> None:
    sandbox = Prints("r1c2=3")
    env = planner("r1c2=2", game(sandbox=sandbox, turn_order=("planner", "tool")))
    env.step(PROGRAM)
    assert sandbox.programs[0].stdin == rows(env.snapshot.puzzle.clues) + "\n"


def test_a_candidate_goes_when_cells_are_filled() -> None:
    env = game(sandbox=Prints("r1c2=3"))
    env.step(PROGRAM)
    assert "The tool suggests: r1c2=3" in env.observe("planner_0")
    env.step("r1c3=2")
    assert env.snapshot.candidate is None


def test_a_real_program_solves_in_the_sandbox(sandbox: Any) -> None:
    code = (
        "import itertools, sys\n"
        "grid = [line.split() for line in sys.stdin.read().strip().splitlines()]\n"
        "for rows in itertools.product(itertools.permutations('1234'), repeat=4):\n"
        "    if any(a != '.' and a != b for g, r in zip(grid, rows) for a, b in zip(g, r)):\n"
        "        continue\n"
        "    boxes = [[rows[r + i][c + j] for i in (0, 1) for j in (0, 1)] for r in (0, 2) for c in (0, 2)]\n"
        "    if all(len(set(unit)) == 4 for unit in [*zip(*rows), *boxes]):\n"
        "        print('\\n'.join(map(' '.join, rows)))\n"
    )
    env = game(sandbox=sandbox)
    env.step(f"```python\n{code}```")
    assert env.infos["tool_0"]["local_reward"] == 0.0, env.observe("tool_0")
    env.step(rows(env.snapshot.candidate.grid))
    assert env.infos["planner_0"]["success"]


def test_a_single_agent_runs_programs_and_answers() -> None:
    env = game(sandbox=Prints("r1c2=3"), roles="single")
    env.step(PROGRAM)
    assert env.infos["solver_0"]["tool_useful"]
    assert "The last program printed:\nr1c2=3" in env.observe("solver_0")
    env.step("<answer>r1c2=3</answer>" + PROGRAM)
    assert env.infos["solver_0"]["placed"] == 1


def test_planners_without_a_tool_are_told_so() -> None:
    env = game(roles="planners", agents={"planner": 2})
    assert env.possible_agents == ["planner_0", "planner_1"]
    assert "tool" not in env.observe("planner_0")


# ---- loading


@pytest.mark.parametrize(
    "form", [str, lambda text: {"puzzle": text}, lambda text: {"puzzle": text, "allow_multiple": False}]
)
def test_a_puzzle_with_several_solutions_is_refused(form: Callable[[str], Any]) -> None:
    """UC-031: False is honoured."""
    with pytest.raises(UsageError, match="several solutions; add clues, or admit it"):
        game(form(SEVERAL))


def test_an_admitted_puzzle_is_solved_by_any_of_its_solutions() -> None:
    for last in ("34", "43"):
        env = game({"puzzle": SEVERAL, "allow_multiple": True}, turn_order=("planner", "tool"))
        env.step(f"r1c3={last[0]}")
        assert env.rewards["planner_0"] == 0.0
        env.step("no program")
        env.step(f"12{last}\n3412\n21{last[::-1]}\n4321")
        assert env.infos["planner_0"]["success"]
        assert env.rewards["planner_0"] == 1.0


def test_a_puzzle_that_is_admitted_but_has_one_solution_pays_by_the_cell() -> None:
    env = game({"puzzle": SMALL, "allow_multiple": True}, turn_order=("planner", "tool"))
    env.step("r1c2=3")
    assert env.rewards["planner_0"] == pytest.approx(1 / 12)


def test_a_state_is_loaded_from_its_text() -> None:
    env = planner("r1c2=3")
    copy = game(env.state())
    assert copy.snapshot.grid == env.snapshot.grid


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        (CLASSIC, "it must have"),
        (7, "a grid as text"),
        ({"allow_multiple": True}, "a grid as text"),
        ({"puzzle": SMALL, "allow_multiple": 1}, "True or False"),
        ({"puzzle": SMALL, "alow_multiple": True}, "Did you mean 'allow_multiple'"),
        (f"{SMALL}\nnow: {SMALL_SOLUTION}", "not solved yet"),
        (SMALL_SOLUTION, "at least one blank cell"),
    ],
)
def test_a_task_that_is_not_valid_is_refused(task: Any, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        game(task)


def test_the_classic_is_loaded_in_every_common_form() -> None:
    """UC-034."""
    env = sudoku_v0.raw_env(engine="python")
    for text in (CLASSIC, CLASSIC.replace("\n", ""), CLASSIC.replace(".", "0"), "\n".join(CLASSIC.splitlines())):
        env.reset(options={"task": text})
        assert env.snapshot.puzzle.solution == bytes(map(int, CLASSIC_SOLUTION))
    for wrong in (CLASSIC.replace("\n", "")[:-1], CLASSIC.replace("\n", "") + "1"):
        with pytest.raises(UsageError, match="it must have 81"):
            env.reset(options={"task": wrong})


# ---- options


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"size": 5}, "one of 4, 6, 9, 16"),
        ({"size": "9"}, "whole number"),
        ({"difficulty": "esay"}, "Did you mean 'easy'"),
        ({"blanks": 64}, "at most 60"),
        ({"hardest": "pair"}, "Did you mean 'pairs'"),
        ({"roles": "teams"}, "Did you mean 'team'"),
        ({"engine": "pythn"}, "Did you mean 'python'"),
        ({"action_format": "Discrete"}, "Did you mean 'discrete'"),
        ({"action_format": "discrete", "roles": "single"}, "must be 'planners'"),
        ({"difficultyy": "easy"}, "Did you mean 'difficulty'"),
    ],
)
def test_an_option_that_is_not_allowed_is_refused(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        sudoku_v0.raw_env(**options)


def test_blanks_and_techniques_replace_the_preset() -> None:
    task = SudokuTask(size=9, blanks=(41, 43), hardest="hidden_single", engine="python")
    assert {task.instance(Split.TEST, index).puzzle.blanks for index in range(12)} == {41, 42, 43}


def test_reference_players_solve_in_the_order_of_their_skill() -> None:
    solved: dict[str, int] = {}
    for player in SudokuTask.players:
        env = sudoku_v0.raw_env(size=4, difficulty="hard", roles="planners", max_cycles=12)
        solved[player] = 0
        for index in range(12):
            env.reset(options={"index": index})
            rng = random.Random(index)
            while env.agents and not any(env.truncations.values()) and not any(env.terminations.values()):
                env.step(env.task.reference(player, env.snapshot, "planner", rng))
            solved[player] += env.snapshot.solved
    assert solved["oracle"] == 12
    assert solved["oracle"] >= solved["greedy"] > solved["weak"] >= solved["random"]

"""Prompts: golden files, roles, secrets."""

import re

import pytest

from llm_envs import sudoku_v0
from llm_envs.core.env import TextAECEnv
from llm_envs.core.parsing import Unparsed
from llm_envs.sudoku.puzzle import play
from llm_envs.sudoku.reading import Answer, read_answer
from llm_envs.sudoku.state import State, rows
from tests.llm_envs.sudoku.boards import SMALL
from tests.llm_envs.sudoku.golden import FOLDER, observations
from tests.llm_envs.sudoku.test_task import game, planner
from tests.scale import scaled

OBSERVATIONS = observations()
PLACEMENT = re.compile(r"r\d+c\d+ ?[=:] ?\w", re.IGNORECASE)


@pytest.mark.parametrize("name", OBSERVATIONS)
def test_prompts_read_as_agreed(name: str) -> None:
    """A change here is a new version of the environment; `python -m tests.llm_envs.sudoku.golden` writes them anew."""
    assert OBSERVATIONS[name] + "\n" == (FOLDER / f"{name}.txt").read_text()


def test_no_golden_file_is_left_over() -> None:
    assert {path.stem for path in FOLDER.glob("sudoku_*.txt")} == set(OBSERVATIONS)


def test_each_role_reads_its_own_rules_and_the_whole_puzzle() -> None:
    """UC-014."""
    env = game()
    tool, planned = env.observe("tool_0"), env.observe("planner_0")
    assert "You are the tool" in tool
    assert "You are the planner" in planned
    assert "You are the tool" not in planned
    assert rows(env.snapshot.puzzle.clues) in tool
    assert rows(env.snapshot.puzzle.clues) in planned


def windows(text: str, size: int) -> list[str]:
    """Every run of lines of a text, and every placement in it: all that could be an answer."""
    lines = text.splitlines()
    runs = [
        "\n".join(lines[first:last])
        for first in range(len(lines))
        for last in range(first + 1, len(lines) + 1)
        if last - first <= size + size
    ]
    return [text, *runs, *PLACEMENT.findall(text), " ".join(PLACEMENT.findall(text))]


def gain(env: TextAECEnv, text: str) -> float:
    """The most that anything in a text would raise the potential by, read as an answer."""
    state: State = env.snapshot
    gains = [0.0]
    for window in windows(text, state.puzzle.size):
        answer = read_answer(window, state.puzzle.size)
        if isinstance(answer, Answer):
            played = play(state.puzzle, state.grid, state.right, state.wrong, answer.placements)
            after = State(state.puzzle, played.grid, played.right, played.wrong)
            gains.append(after.potential - state.potential)
    return max(gains)


@pytest.mark.parametrize("roles", ["team", "single", "planners"])
@pytest.mark.parametrize("size", [4, 6])
def test_no_prompt_holds_an_answer_that_pays(size: int, roles: str) -> None:
    """UC-014: nothing in a prompt, read as an answer, fills a cell rightly; neither at the start nor after feedback."""
    env = sudoku_v0.raw_env(size=size, roles=roles, difficulty="medium", sandbox="unsafe")
    for index in range(scaled(fast=15, long=500)):
        env.reset(options={"index": index})
        for reply in ("r99c1=1", "no answer", "r1c1=1 oops"):
            for agent in env.possible_agents:
                prompt = str(env.observe(agent))
                assert gain(env, prompt) == 0.0
                assert rows(env.snapshot.puzzle.solution) not in prompt
            env.step(reply)


def test_an_answer_in_a_prompt_would_be_found() -> None:
    """Negative control of the test above."""
    env = game()
    prompt = str(env.observe("planner_0"))
    assert gain(env, f"{prompt}\nFor example r1c2=3.") > 0.0
    assert gain(env, f"{prompt}\n{rows(env.snapshot.puzzle.solution)}\nis it.") == 1.0


def test_feedback_says_which_check_it_is_and_nothing_of_right_and_wrong() -> None:
    """UC-037: a wrong entry that breaks no rule is taken like a right one."""
    right, wrong = planner("r1c2=3").observe("planner_0"), planner("r1c2=2").observe("planner_0")
    assert right.replace("1 3 . .", "1 2 . .") == wrong
    clash = planner("r1c2=2 r1c3=2").observe("planner_0")
    assert "Rule check (it does not know the solution): r1c2=2 repeats r1c3; r1c3=2 repeats r1c2." in clash
    assert "Rule check" not in wrong
    assert "Without effect: r1c1=2 (r1c1 is a clue)" in planner("r1c1=2").observe("planner_0")
    assert "Without effect: r1c2=1 (the clue r1c1 is 1 already)" in planner("r1c2=1").observe("planner_0")


def test_a_repeated_digit_that_was_cleared_again_is_no_finding() -> None:
    assert "Rule check" not in planner("r1c2=2 r1c3=2 r1c3=.").observe("planner_0")


def test_long_lists_of_findings_are_cut() -> None:
    text = planner(" ".join(["r1c1=2"] * 200)).observe("planner_0")
    assert text.count("r1c1=2") == 10
    assert "; and 190 more." in text


def test_planners_see_what_others_filled_in_at_once() -> None:
    """UC-020."""
    env = game(roles="planners", agents={"planner": 2})
    env.step("r1c2=3")
    assert "1 3 . ." in env.observe("planner_1")


def test_a_puzzle_without_clues_has_no_example() -> None:
    env = game({"puzzle": "." * 16, "allow_multiple": True})
    assert "the first clue reads" not in env.observe("planner_0")
    assert "the first clue reads r1c1=1" in game(SMALL).observe("planner_0")
    assert isinstance(read_answer("PLACEMENTS", 4), Unparsed)

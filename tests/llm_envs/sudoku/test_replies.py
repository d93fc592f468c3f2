"""What counts as an answer, and what as a program."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.core.parsing import Unparsed
from llm_envs.core.tool_use import Script
from llm_envs.sudoku.puzzle import Placement
from llm_envs.sudoku.reading import Answer
from llm_envs.sudoku.replies import read_reply
from tests.llm_envs.sudoku.boards import SMALL_SOLUTION, grid_of

ONE, TWO = Answer((Placement(0, 1),)), Answer((Placement(1, 2),))
GRID = Answer.of_grid(grid_of(SMALL_SOLUTION))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<answer>r1c1=1</answer>", ONE),
        ("r1c1=1", ONE),
        ("First r1c2=2, but: <answer>r1c1=1</answer>", ONE),
        ("<answer>r1c1=1</answer> or rather <answer>r1c2=2</answer>", TWO),
        ("<think>r1c1=1</think>r1c2=2", TWO),
        ("<think><answer>r1c1=1</answer></think><answer>r1c2=2</answer>", TWO),
        (f"<answer>\n```\n{SMALL_SOLUTION}\n```\n</answer>", GRID),
        (f"Solved:\n```\n{SMALL_SOLUTION}\n```", GRID),
        (f"````\nnested\n```\n````\n<answer>{SMALL_SOLUTION}</answer>", GRID),
        (f"```\nr1c2=2\n```\n```\n{SMALL_SOLUTION}\n```", GRID),
    ],
)
def test_an_answer_is_found(text: str, expected: Answer) -> None:
    """UC-016, UC-017: the last answer counts; words around it do not."""
    assert read_reply("planner", text, 4) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I would put r1c1=1.",
        "<answer></answer>",
        "<answer>r1c1=1 because it fits</answer>",
        "<answer>r1c1=1</answer><answer>PLACEMENTS</answer>",
        "<answer>r1c1=1",
        "<think>r1c1=1",
        "```python\nprint('r1c1=1')\n```",
        "1 2 3 4",
    ],
)
def test_what_holds_no_answer_is_refused(text: str) -> None:
    found = read_reply("planner", text, 4)
    assert isinstance(found, Unparsed)
    assert found.reason


@pytest.mark.parametrize("role", ["tool", "solver"])
def test_a_program_is_the_last_python_block(role: str) -> None:
    text = "```python\nprint(1)\n```\n```\nnotes\n```"
    assert read_reply(role, text, 4) == Script("print(1)\n")
    assert read_reply(role, "````python\nprint('''\n```\n''')\n````", 4) == Script("print('''\n```\n''')\n")
    assert isinstance(read_reply(role, "print(1)", 4), Unparsed)
    assert isinstance(read_reply(role, "```python\n\n```", 4), Unparsed)


def test_a_single_agents_answer_goes_before_its_program() -> None:
    assert read_reply("solver", "```python\nprint(1)\n```\n<answer>r1c1=1</answer>", 4) == ONE
    assert read_reply("solver", f"```\n{SMALL_SOLUTION}\n```", 4) == GRID
    assert isinstance(read_reply("solver", "```python\nprint(1)\n```\n<answer>none</answer>", 4), Unparsed)


@given(st.text(max_size=400), st.sampled_from(["tool", "planner", "solver"]))
def test_no_reply_is_an_error(text: str, role: str) -> None:
    assert isinstance(read_reply(role, text, 9), Answer | Script | Unparsed)


@pytest.mark.parametrize(
    "text", [" " * 60_000, "r1c1=1" + " " * 60_000 + "x", "=" * 60_000, "(" * 60_000, "1 " * 30_000]
)
@pytest.mark.parametrize("role", ["tool", "planner", "solver"])
def test_long_replies_are_read_in_passing(role: str, text: str) -> None:
    """UC-004: reading takes time in proportion to the text; a pattern that backtracks would trip the watchdog."""
    for _ in range(20):
        assert isinstance(read_reply(role, text, 16), Unparsed)

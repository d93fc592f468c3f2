"""What counts as a move list and as a program."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.core.parsing import Unparsed
from llm_envs.core.tool_use import Script
from llm_envs.sokoban.board import Move
from llm_envs.sokoban.replies import parse_moves, read_reply
from tests.llm_envs.sokoban.strategies import MOVE_LISTS

LIMIT = 3
UP_RIGHT = ("up", "right")


@pytest.mark.parametrize(
    ("reply", "moves"),
    [
        ("up right", UP_RIGHT),
        ("up, right", UP_RIGHT),
        ("UP\nRight\n", UP_RIGHT),
        ("u,r", UP_RIGHT),
        ("I push up, then right.\n<answer>\nup\nright\n</answer>", UP_RIGHT),
        ("<answer>left</answer> or rather <answer>up right</answer>", UP_RIGHT),
        ("<think>left? <answer>left</answer></think><answer>up right</answer>", UP_RIGHT),
        ("I considered going right, but upon reflection: <answer>left</answer>", ("left",)),
    ],
)
def test_a_move_list_is_an_answer_or_a_reply_of_nothing_but_moves(reply: str, moves: tuple[str, ...]) -> None:
    """UC-016, UC-017: the last closed answer counts."""
    assert read_reply("planner", reply, LIMIT) == moves
    assert read_reply("solver", reply, LIMIT) == moves


@pytest.mark.parametrize(
    "reply",
    ["", "  ", "stand upright", "go up", "up.", "updown", "<answer></answer>", "<answer>up north</answer>", "↑ →"],
)
def test_anything_else_is_no_move_list(reply: str) -> None:
    """UC-016: a word that holds a move is no move."""
    assert isinstance(read_reply("planner", reply, LIMIT), Unparsed)


@pytest.mark.parametrize("reply", ["up, up, up, up", "<answer>u u u u</answer>", "up " * 200])
def test_a_list_that_is_too_long_is_refused_and_not_cut(reply: str) -> None:
    """UC-017."""
    for role in ("planner", "solver"):
        refused = read_reply(role, reply, LIMIT)
        assert isinstance(refused, Unparsed)
        assert "at most 3" in refused.reason


@given(MOVE_LISTS, st.sampled_from([" ", ",", ", ", "\n", " , \t"]))
def test_a_joined_list_reads_back(moves: tuple[Move, ...], separator: str) -> None:
    assert parse_moves(separator.join(moves)) == moves


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=300), st.sampled_from(["tool", "planner", "solver"]))
def test_no_text_makes_the_reader_fail(text: str, role: str) -> None:
    """UC-002, UC-004."""
    action = read_reply(role, text, LIMIT)
    assert isinstance(action, (tuple, Script, Unparsed))
    if isinstance(action, Unparsed):
        assert action.reason


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("```python\nprint('up')\n```", "print('up')\n"),
        ("```python\nprint(1)\n```\nand\n```\nleft\n```", "print(1)\n"),
        ("<think>```python\nprint(0)\n```</think>```python\nprint(1)\n```", "print(1)\n"),
        ("````python\nx = '''\n```python\nprint(0)\n```\n'''\n````", "x = '''\n```python\nprint(0)\n```\n'''\n"),
    ],
)
def test_a_program_is_the_last_python_block(reply: str, code: str) -> None:
    assert read_reply("tool", reply, LIMIT) == Script(code)
    assert read_reply("solver", reply, LIMIT) == Script(code)


@pytest.mark.parametrize("reply", ["", "up", "print('up')", "I will print the moves.", "```python\n```"])
def test_a_reply_without_a_block_is_no_program(reply: str) -> None:
    assert isinstance(read_reply("tool", reply, LIMIT), Unparsed)


def test_an_answer_of_a_single_agent_wins_over_its_program() -> None:
    program = "```python\nprint('up')\n```\n"
    assert read_reply("solver", program + "<answer>left</answer>", LIMIT) == ("left",)
    assert isinstance(read_reply("solver", program + "<answer>north</answer>", LIMIT), Unparsed)


def test_a_single_agent_is_told_what_was_missing() -> None:
    refused = read_reply("solver", "hm", LIMIT)
    assert isinstance(refused, Unparsed)
    assert "neither moves nor a program" in refused.reason

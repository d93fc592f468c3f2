"""What counts as a move list and as a program."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.core.parsing import Unparsed
from llm_envs.core.tool_use import Script, is_bare_program
from llm_envs.plan_path.replies import parse_moves, read_reply
from tests.llm_envs.plan_path.strategies import MOVE_LISTS

LIMIT = 3
UP_RIGHT = ("up", "right")


@pytest.mark.parametrize(
    ("reply", "moves"),
    [
        ("up right", UP_RIGHT),
        ("up, right", UP_RIGHT),
        ("up\nright\n", UP_RIGHT),
        ("UP Right", UP_RIGHT),
        ("U R", UP_RIGHT),
        ("u,r", UP_RIGHT),
        ("<answer>up right</answer>", UP_RIGHT),
        ("I think up is best, then right.\n<answer>\nup\nright\n</answer>", UP_RIGHT),
        ("<answer>left</answer> or rather <answer>up right</answer>", UP_RIGHT),
        ("<think>left? <answer>left</answer></think><answer>up right</answer>", UP_RIGHT),
        ("I considered going right, but upon reflection: <answer>left</answer>", ("left",)),
        ("up up up", ("up", "up", "up")),
    ],
)
def test_a_move_list_is_an_answer_or_a_reply_of_nothing_but_moves(reply: str, moves: tuple[str, ...]) -> None:
    """UC-016, UC-017: the last closed answer counts."""
    assert read_reply("planner", reply, LIMIT) == moves
    assert read_reply("solver", reply, LIMIT) == moves


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "   ",
        "stand upright",
        "upright",
        "go up",
        "up.",
        "up right!",
        "updown",
        "north",
        "<answer></answer>",
        "<answer>none</answer>",
        "<answer>up north</answer>",
        "<answer>up",
        "<answer>up</answer><answer>stay</answer>",
        "<think>up</think>",
        "<think>up right",
        '["up", "right"]',
        "up right 1",
        "<answer>```\nup\n```</answer>",
        "↑ →",
    ],
)
def test_anything_else_is_no_move_list(reply: str) -> None:
    """UC-016: a word that holds a move is no move. UC-017: nor is a block with something beside moves."""
    assert isinstance(read_reply("planner", reply, LIMIT), Unparsed)


@pytest.mark.parametrize("reply", ["up, up, up, up", "<answer>u u u u</answer>", "up " * 200])
def test_a_list_that_is_too_long_is_refused_and_not_cut(reply: str) -> None:
    """UC-017."""
    for role in ("planner", "solver"):
        refused = read_reply(role, reply, LIMIT)
        assert isinstance(refused, Unparsed)
        assert "at most 3" in refused.reason


@given(MOVE_LISTS, st.sampled_from([" ", ",", ", ", "\n", " , \t"]))
def test_a_joined_list_reads_back(moves: tuple[str, ...], separator: str) -> None:
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
        ("First:\n```\nup\n```\nthen\n```python\nprint(1)\n```\nand\n```\nleft\n```", "print(1)\n"),
        ("```\nprint(1)\n```", "print(1)\n"),
        ('print("up right")', 'print("up right")'),
        ("import sys\nprint(len(sys.stdin.read()))", "import sys\nprint(len(sys.stdin.read()))"),
        ("<think>```python\nprint(0)\n```</think>```python\nprint(1)\n```", "print(1)\n"),
        ("````python\nx = '''\n```python\nprint(0)\n```\n'''\n````", "x = '''\n```python\nprint(0)\n```\n'''\n"),
    ],
)
def test_a_program_is_the_last_python_block_or_a_short_bare_program(reply: str, code: str) -> None:
    assert read_reply("tool", reply, LIMIT) == Script(code)
    assert read_reply("solver", reply, LIMIT) == Script(code)


@pytest.mark.parametrize(
    "reply", ["", "up", "Go up (twice) then left.", "I will print the moves.", "```python\n```", "("]
)
def test_prose_is_no_program(reply: str) -> None:
    assert isinstance(read_reply("tool", reply, LIMIT), Unparsed)


def test_a_long_program_needs_a_fence() -> None:
    code = "print(1)\n" * 200
    assert isinstance(read_reply("tool", code, LIMIT), Unparsed)
    assert read_reply("tool", f"```python\n{code}```", LIMIT) == Script(code)


@pytest.mark.parametrize("text", ["(" * 500, "f(\x00)", "x = (" + "[" * 300, "f(" * 400])
def test_source_that_breaks_the_parser_is_no_program(text: str) -> None:
    """UC-004."""
    assert not is_bare_program(text)


def test_noise_that_is_tried_as_source_warns_nobody(recwarn: pytest.WarningsRecorder) -> None:
    read_reply("tool", "(0x1for x in 1is 2)", LIMIT)
    assert not recwarn.list


def test_an_answer_of_a_single_agent_wins_over_its_program() -> None:
    reply = "```python\nprint('up')\n```\n<answer>left</answer>"
    assert read_reply("solver", reply, LIMIT) == ("left",)
    assert isinstance(read_reply("solver", "```python\nprint('up')\n```\n<answer>north</answer>", LIMIT), Unparsed)


def test_a_single_agent_is_told_what_was_missing() -> None:
    refused = read_reply("solver", "hm", LIMIT)
    assert isinstance(refused, Unparsed)
    assert "neither moves nor a program" in refused.reason

r"""What counts as an answer and as a program."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.core.parsing import Unparsed
from llm_envs.core.tool_use import Script
from llm_envs.math.replies import LONGEST_ANSWER, Answer, read_output, read_reply

PROGRAM = "print(6 * 7)"
FENCED = f"```python\n{PROGRAM}\n```"
PRINTS_A_BOX = '```python\nprint("\\\\boxed{" + str(6 * 7) + "}")\n```'


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (r"\boxed{42}", "42"),
        (r"So it is $\boxed{ \frac{1}{1+\frac{1}{2}} }$.", r"\frac{1}{1+\frac{1}{2}}"),
        (r"First \boxed{5}. Wrong; so \boxed{7}.", "7"),
        (r"<think>\boxed{5}</think>It is \boxed{7}.", "7"),
        (r"\boxed{5} or so</think>It is \boxed{7}.", "7"),
        (f"{FENCED}\nIt printed 42, so \\boxed{{42}}.", "42"),
    ],
)
def test_the_last_box_outside_the_reasoning_is_the_answer(reply: str, answer: str) -> None:
    """UC-044, UC-059."""
    assert read_reply("reasoner", reply) == Answer(answer)
    assert read_reply("solver", reply) == Answer(answer)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ("", "no answer in"),
        ("It is 42.", "no answer in"),
        ("<answer>42</answer>", "no answer in"),
        (r"<think>It is \boxed{42}", "no answer in"),
        (r"<think>It is \boxed{42}</think>", "no answer in"),
        (r"\boxed{42}</think>", "no answer in"),
        (r"\boxed{42", "no answer in"),
        (r"\boxed{}", "box is empty"),
        (r"\boxed{ }", "box is empty"),
        (rf"\boxed{{{'4' * 501}}}", "501 characters, at most 500"),
        (FENCED, "no answer in"),
    ],
)
def test_a_reply_without_a_usable_box_is_no_answer(reply: str, words: str) -> None:
    """UC-059: neither is one whose only box stands in a think block, closed or cut off."""
    parsed = read_reply("reasoner", reply)
    assert isinstance(parsed, Unparsed)
    assert words in parsed.reason


@pytest.mark.parametrize("role", ["tool", "solver"])
@pytest.mark.parametrize("reply", [FENCED, PROGRAM, f"I compute.\n{FENCED}\nThat should do.", f"```\n{PROGRAM}\n```"])
def test_a_program_is_read_fenced_or_bare(role: str, reply: str) -> None:
    parsed = read_reply(role, reply)
    assert isinstance(parsed, Script)
    assert parsed.code.strip() == PROGRAM


def test_a_box_inside_a_program_is_part_of_the_program() -> None:
    parsed = read_reply("solver", PRINTS_A_BOX)
    assert isinstance(parsed, Script)
    assert "boxed" in parsed.code
    assert read_reply("solver", f"{PRINTS_A_BOX}\n\\boxed{{42}}") == Answer("42")


@pytest.mark.parametrize("block", ["```\n\\boxed{42}\n```", "```latex\nx = \\boxed{42}\n```"])
def test_a_box_in_a_block_that_is_no_program_is_an_answer(block: str) -> None:
    assert read_reply("solver", block) == Answer("42")


@pytest.mark.parametrize("reply", ["", "It is 42.", "<think>print(1)", "```python\n\n```"])
def test_a_solver_that_says_neither_is_told_so(reply: str) -> None:
    assert read_reply("solver", reply) == Unparsed(r"your reply holds neither an answer in \boxed{} nor a program")


def test_a_solver_with_an_empty_box_hears_of_the_box() -> None:
    assert read_reply("solver", r"\boxed{}") == Unparsed("your box is empty")


@pytest.mark.parametrize(
    ("stdout", "output"),
    [("42\n", "42"), ("  42  ", "42"), ("\n\n3/4\n\n", "3/4"), ("{1, 2}", "{1, 2}")],
)
def test_a_program_comes_to_the_one_line_that_it_prints(stdout: str, output: str) -> None:
    assert read_output(stdout) == output


@pytest.mark.parametrize(
    ("stdout", "words"),
    [("", "no lines"), (" \n ", "no lines"), ("41\n42", "2 lines"), ("4" * (LONGEST_ANSWER + 1), "501 characters")],
)
def test_a_program_that_prints_anything_else_has_no_output(stdout: str, words: str) -> None:
    output = read_output(stdout)
    assert isinstance(output, Unparsed)
    assert words in output.reason


@given(
    st.sampled_from(["tool", "reasoner", "solver"]),
    st.lists(
        st.sampled_from([r"\boxed", "{", "}", "```", "```python\n", "\n", "print(1)", "<think>", "</think>", "4", "\\"])
        | st.text(max_size=5),
        max_size=12,
    ).map("".join),
)
def test_any_text_is_an_action_of_its_role_or_refused_in_words(role: str, reply: str) -> None:
    parsed = read_reply(role, reply)
    if isinstance(parsed, Unparsed):
        assert parsed.reason
    else:
        assert isinstance(parsed, {"tool": Script, "reasoner": Answer}.get(role, Script | Answer))
        assert isinstance(parsed, Script) or 0 < len(parsed.text) <= LONGEST_ANSWER

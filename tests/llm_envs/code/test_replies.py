"""What a reply says: programs, test cases, both."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.code.players import _tags
from llm_envs.code.problem import Case
from llm_envs.code.replies import Cases, read_cases, read_reply
from llm_envs.core.parsing import Unparsed
from llm_envs.core.tool_use import Script

# UC-074
PROGRAMS: dict[str, tuple[str, str | None]] = {
    "one block": ("Here:\n```python\nprint(1)\n```\nDone.", "print(1)\n"),
    "the second corrects the first": ("```python\nprint(0)\n```\nNo:\n```python\nprint(1)\n```", "print(1)\n"),
    "a sample output behind it": ("```python\nprint(1)\n```\nIt prints\n```\n1\n```", "print(1)\n"),
    "opened only": ("```python\nprint(1)", "print(1)"),
    "closed only": ("print(1)\n```", None),
    "py": ("```py\nprint(1)\n```", "print(1)\n"),
    "Python3": ("```Python3\nprint(1)\n```", "print(1)\n"),
    "no language": ("```\nprint(1)\n```", "print(1)\n"),
    "tildes": ("~~~\nprint(1)\n~~~", "print(1)\n"),
    "a fence in a docstring": (
        "````python\n'''\n```\nx\n```\n'''\nprint(1)\n````",
        "'''\n```\nx\n```\n'''\nprint(1)\n",
    ),
    "no fence": ("print(1)", "print(1)"),
    "prose": ("I would print one.", None),
    "an empty block": ("```python\n```", None),
    "thoughts": ("<think>```python\nprint(0)\n```</think>print(1)", "print(1)"),
    "thoughts that were cut": ("<think>```python\nprint(0)\n```", None),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_program_of_a_reply(name: str) -> None:
    """UC-074."""
    text, code = PROGRAMS[name]
    parsed = read_reply("coder", text, 5)
    assert (parsed.code if isinstance(parsed, Script) else None) == code
    assert code is not None or isinstance(parsed, Unparsed)


CASES: dict[str, tuple[str, tuple[Case, ...] | None]] = {
    "one": ("<input>\n1 2\n</input>\n<output>\n3\n</output>", (Case("1 2\n", "3\n"),)),
    "on one line": ("<input>1 2</input><output>3</output>", (Case("1 2\n", "3\n"),)),
    "in any case": ("<INPUT>1</INPUT> <Output>2</Output>", (Case("1\n", "2\n"),)),
    "with prose": ("First:\n<input>1</input> gives\n<output>2</output>, I think.", (Case("1\n", "2\n"),)),
    "two": (
        "<input>1</input><output>2</output>\n<input>3</input><output>4</output>",
        (Case("1\n", "2\n"), Case("3\n", "4\n")),
    ),
    "an empty first line": ("<input>\n\n5\n</input><output>0</output>", (Case("\n5\n", "0\n"),)),
    "nothing": ("<input></input><output></output>", (Case("\n", "\n"),)),
    "spaces": ("<input>\n a b\n</input><output>\n  x\n</output>", (Case(" a b\n", "  x\n"),)),
    "line breaks of other systems": ("<input>\r\n1\r\n</input><output>2</output>", (Case("1\n", "2\n"),)),
    "the last one cut": ("<input>1</input><output>2</output><input>3</input><output>4", (Case("1\n", "2\n"),)),
    "no output": ("<input>1</input>", None),
    "no input": ("<output>1</output>", None),
    "an input corrected": ("<input>1</input><input>2</input><output>3</output>", (Case("2\n", "3\n"),)),
    "two outputs": ("<input>1</input><output>2</output><output>3</output>", (Case("1\n", "2\n"),)),
    "tags crossed": ("<input>1<output>2</input>3</output>", None),
    "assertions": ("assert f(1) == 2", None),
    "in a fence": ("```\n<input>1</input>\n<output>2</output>\n```", (Case("1\n", "2\n"),)),
    "in thoughts": ("<think><input>1</input><output>2</output></think>", None),
}


@pytest.mark.parametrize("name", CASES)
def test_the_cases_of_a_reply(name: str) -> None:
    text, cases = CASES[name]
    parsed = read_reply("tester", text, 5)
    assert (parsed.cases if isinstance(parsed, Cases) else None) == cases
    assert cases is not None or isinstance(parsed, Unparsed)


def test_more_cases_than_allowed_are_refused_and_not_cut() -> None:
    """UC-017."""
    text = "<input>1</input><output>2</output>" * 6
    assert read_cases(text, 6) == Cases((Case("1\n", "2\n"),) * 6)
    parsed = read_cases(text, 5)
    assert isinstance(parsed, Unparsed)
    assert "6 test cases, which are more than the 5 allowed" in parsed.reason


SINGLE: dict[str, tuple[str, Any]] = {
    "a program": ("```python\nprint(1)\n```", Script("print(1)\n")),
    "cases": ("<input>1</input><output>2</output>", Cases((Case("1\n", "2\n"),))),
    "both": (
        "```python\nprint(1)\n```\n<input>1</input><output>2</output>",
        Cases((Case("1\n", "2\n"),), "print(1)\n"),
    ),
    "cases in a fence": ("```\n<input>1</input>\n<output>2</output>\n```", Cases((Case("1\n", "2\n"),))),
    "tags in the program": (
        "```python\nprint('<input>1</input><output>2</output>')\n```",
        Script("print('<input>1</input><output>2</output>')\n"),
    ),
    "half a case": ("```python\nprint(1)\n```\n<input>1</input>", Script("print(1)\n")),
}


@pytest.mark.parametrize("name", SINGLE)
def test_the_action_of_a_single_agent(name: str) -> None:
    text, action = SINGLE[name]
    assert read_reply("solver", text, 5) == action


@given(st.lists(st.tuples(st.text("ab 1\n", max_size=8), st.text("ab 1\n", max_size=8)), min_size=1, max_size=5))
def test_cases_survive_being_written_and_read(pairs: list[tuple[str, str]]) -> None:
    written = tuple(Case(*(text if text.endswith("\n") else text + "\n" for text in pair)) for pair in pairs)
    assert read_cases(_tags(written), 5) == Cases(written)


@given(st.text("<>/inputoutput 1\n`", max_size=200), st.sampled_from(["tester", "coder", "solver"]))
def test_no_reply_raises(text: str, role: str) -> None:
    assert read_reply(role, text, 5) is not None

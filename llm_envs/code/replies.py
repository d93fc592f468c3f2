"""What an agent's reply says: a program, test cases, or both."""

import re
from dataclasses import dataclass

from llm_envs.code.problem import Case
from llm_envs.core.parsing import Unparsed, strip_thinking
from llm_envs.core.tool_use import Script, is_python, read_program

_TAG = re.compile(r"<(/?)(input|output)>", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class Cases:
    """Test cases.

    Attributes:
        code: a single agent's program to try out on them, or None for the one that it handed in last.
    """

    cases: tuple[Case, ...]
    code: str | None = None


def read_reply(role: str, text: str, most: int) -> Cases | Script | Unparsed:
    """The action in a reply of the role `tester`, `coder` or `solver`; `most` cases are read."""
    text = strip_thinking(text)
    if role == "coder":
        return read_program(text, bare=True)
    return read_cases(text, most) if role == "tester" else read_cases_or_program(text, most)


def read_cases(text: str, most: int) -> Cases | Unparsed:
    """The test cases in a reply: each `<input>` with the `<output>` that follows it. What is not closed is left out."""
    cases = _pairs(text)
    if not cases:
        return Unparsed("your reply holds no test case in <input> and <output> tags")
    if len(cases) > most:
        return Unparsed(f"your reply holds {len(cases)} test cases, which are more than the {most} allowed")
    return Cases(cases)


def read_cases_or_program(text: str, most: int) -> Cases | Script | Unparsed:
    """A single agent's reply: a program by itself is handed in; with cases it is only tried out on them.

    Tags inside the program are part of it, but a block that is no Python and holds cases is one of cases.
    """
    program = read_program(text, bare=True)
    if isinstance(program, Unparsed):
        cases = read_cases(text, most)
        none = isinstance(cases, Unparsed) and not _pairs(text)
        return Unparsed("your reply holds neither a Python program nor test cases") if none else cases
    around = text.replace(program.code, "\n")
    if not _pairs(around):
        holds_cases = _pairs(program.code) and not is_python(program.code)
        return read_cases(program.code, most) if holds_cases else program
    cases = read_cases(around, most)
    return cases if isinstance(cases, Unparsed) else Cases(cases.cases, program.code)


def _pairs(text: str) -> tuple[Case, ...]:
    found: list[Case] = []
    stdin: str | None = None
    opened, begin = "", 0
    for match in _TAG.finditer(text):
        name = match.group(2).lower()
        if not match.group(1):
            opened, begin = name, match.end()
        elif name == opened:
            content, opened = _lines(text[begin : match.start()]), ""
            if name == "input":
                stdin = content
            elif stdin is not None:
                found.append(Case(stdin, content))
                stdin = None
    return tuple(found)


def _lines(text: str) -> str:
    """What stands in a tag, as whole lines; the line break behind the opening tag is not part of it."""
    text = text.replace("\r\n", "\n").removeprefix("\n")
    return text if text.endswith("\n") else text + "\n"

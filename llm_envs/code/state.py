"""The state of a programming episode and its text form."""

import hashlib
from typing import NamedTuple

from llm_envs.code.judging import Verdict
from llm_envs.code.problem import Case, Problem

SHOWN = 1_000  # characters of an input or an output that a prompt shows
SHOWN_PROGRAM = 12_000
SHOWN_STATEMENT = 24_000


class Report(NamedTuple):
    """How a program did on a test that its author may see.

    Attributes:
        got: what it gave, or why it gave nothing, cut to size; empty where it passed.
    """

    case: Case
    verdict: Verdict
    got: str = ""


class Tried(NamedTuple):
    """A program that a single agent tried out without handing it in."""

    code: str
    on_visible: tuple[Report, ...]


class State(NamedTuple):
    """What has been handed in and tested so far (a tuple, since one is made on every turn).

    Attributes:
        program: the latest one, if any. It is the one that counts.
        on_visible: how it did on the visible tests.
        passed: how many hidden tests it passes.
        cases: the tester's, or a single agent's own.
        on_cases: how the latest program did on them, or the one that was tried out; empty before there is one.
        judged: whether a program was handed in since the cases came; new ones then take their place.
        attempts: the last few wrong programs that passed a visible test, oldest first.
        tried: the program that the latest cases came with, until one is handed in.
        agreed: whether the latest program passes the visible tests and all cases, or was handed in a second time.
    """

    problem: Problem
    program: str | None = None
    on_visible: tuple[Report, ...] = ()
    passed: int = 0
    cases: tuple[Case, ...] = ()
    on_cases: tuple[Report, ...] = ()
    judged: bool = False
    attempts: tuple[str, ...] = ()
    tried: Tried | None = None
    agreed: bool = False

    @property
    def share(self) -> float:
        """The share of hidden tests that the latest program passes."""
        return self.passed / len(self.problem.hidden)

    @property
    def solved(self) -> bool:
        return self.passed == len(self.problem.hidden)


def cut(text: str, most: int) -> str:
    """The text, or its head and its tail where it is longer than `most` characters."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"


def render(state: State) -> str:
    """All of the state but the hidden tests, of which a digest tells one set from another."""
    problem = state.problem
    parts = [
        f"problem: {problem.name}\n{cut(problem.statement, SHOWN_STATEMENT)}",
        *(_case_text("example", case) for case in problem.visible[:10]),
        f"hidden tests: {len(problem.hidden)} ({_digest(problem.hidden)}), passed: {state.passed}",
        *(_case_text("case", case) for case in state.cases),
    ]
    for name, code in (("program", state.program), ("tried", state.tried and state.tried.code)):
        if code is not None:
            parts.append(f"{name}:\n{cut(code, SHOWN_PROGRAM)}")
    for name, reports in (("example", state.on_visible), ("case", state.on_cases)):
        parts += [f"{name} {number}: {report.verdict}" for number, report in enumerate(reports, 1)]
    return "\n".join(parts)


def _case_text(name: str, case: Case) -> str:
    return f"{name}: {cut(case.stdin, SHOWN)!r} -> {cut(case.expected, SHOWN)!r}"


def _digest(cases: tuple[Case, ...]) -> str:
    content = "\0".join(f"{case.stdin}\0{case.expected}" for case in cases)
    return hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()

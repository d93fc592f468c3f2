"""Runs generated programs in this process: they are the package's own, and there are thousands."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from io import StringIO
from types import CodeType, FrameType

from llm_envs.code.problem import Case, Problem

CPU_S = 0.5  # of a program


class StillRunningError(Exception):
    """A program took too long."""


@lru_cache(maxsize=1024)
def _compiled(program: str) -> CodeType:
    return compile(program, "<program>", "exec")


@contextmanager
def _cpu_limit(seconds: float) -> Iterator[None]:
    """By a timer of CPU time; the watchdog of pytest-timeout takes that of wall-clock time."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise StillRunningError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def output(program: str, stdin: str) -> str | None:
    """What the program prints, or None where it fails or does not end."""
    out, lines = StringIO(), iter(stdin.splitlines())
    names = {"__name__": "__main__", "input": lambda: next(lines), "print": partial(print, file=out)}
    try:
        with _cpu_limit(CPU_S):
            exec(_compiled(program), names)
    except Exception:  # noqa: BLE001 - a wrong program may fail in any way
        return None
    return out.getvalue()


def passes(problem: Problem, program: str, case: Case) -> bool:
    """Whether the program does what one test of the problem asks for."""
    if problem.entry_point is None:
        return _same(output(program, case.stdin), case.expected)
    arguments = ", ".join(case.stdin.splitlines())
    call = f"{program}\nimport json\nprint(json.dumps({problem.entry_point}(*json.loads(input()))))\n"
    return _same(output(call, f"[{arguments}]\n"), case.expected)


def _same(got: str | None, expected: str) -> bool:
    """The tests' own comparison of outputs: word by word."""
    return got is not None and got.split() == expected.split()

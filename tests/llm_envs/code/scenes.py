"""Short games on problems by hand."""

from typing import Any

from llm_envs import code_v0
from llm_envs.code.problem import Problem
from llm_envs.core.env import TextAECEnv
from llm_envs.sandbox.base import Sandbox
from tests.llm_envs.code.problems import SUM_STDIO

REFERENCE = SUM_STDIO.reference
NO_REPEATS, ABSOLUTE, SHORT = SUM_STDIO.mutants  # the sum of different numbers, of absolute values, of short words
SHARE = {REFERENCE: 1.0, NO_REPEATS: 0.5, ABSOLUTE: 0.5, SHORT: 0.5, "print(6)": 0.0}
# Cases and the mutants that they find out.
REPEATED, NEGATIVE, LONG = ("4 4", "8"), ("9 -9", "0"), ("5000 1", "5001")
ALL_AT_ONCE = ("8 8 -3 4000", "4013")
WRONG_OUTPUT = ("4 4", "9")
KILLS_NOTHING = ("7", "7")
COPY = ("1 2 3", "6")  # of a visible test


def block(code: str) -> str:
    """A reply with a program."""
    return f"```python\n{code}\n```"


def cases(*pairs: tuple[str, str]) -> str:
    """A reply with test cases."""
    return "\n".join(f"<input>\n{stdin}\n</input>\n<output>\n{expected}\n</output>" for stdin, expected in pairs)


def game(sandbox: Sandbox | str = "unsafe", problem: Problem = SUM_STDIO, **options: Any) -> TextAECEnv:
    """An environment at the start of a problem."""
    env = code_v0.raw_env(sandbox=sandbox, **options)
    env.reset(options={"task": problem})
    return env


def coder_first(sandbox: Sandbox | str, problem: Problem = SUM_STDIO, **options: Any) -> TextAECEnv:
    """The same, with the coder to move."""
    return game(sandbox, problem, turn_order=("coder", "tester"), **options)

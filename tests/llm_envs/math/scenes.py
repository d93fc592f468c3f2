"""Questions and sandboxes that the tests of the math environment share."""

from collections.abc import Mapping, Sequence
from typing import Any

from llm_envs import math_v0
from llm_envs.core.env import TextAECEnv
from llm_envs.sandbox.base import Outcome, Program, Status

SUM = {
    "text": "What is the sum of 17 and 25? Give the answer as a whole number.",
    "answer": "42",
    "program": "print(17 + 25)",
}
ROOTS = {"text": "Solve $x^2 = 9$. Give the answer as a set.", "answer": r"\{-3, 3\}"}
UNDECIDABLE = "9^{9^{9^{9}}}"  # nobody can work it out
PROGRAM = "```python\nprint('whatever')\n```"


class Prints:
    """A sandbox whose programs give the outcome it was made with; it keeps the programs."""

    name = "unsafe"
    guarantees: frozenset[str] = frozenset()

    def __init__(self, stdout: str = "", status: Status = Status.OK, stderr: str = "") -> None:
        self.outcome = Outcome(status, 0, stdout, stderr)
        self.programs: list[Program] = []

    def run(self, programs: Sequence[Program]) -> list[Outcome]:
        self.programs += programs
        return [self.outcome for _ in programs]

    async def arun(self, programs: Sequence[Program]) -> list[Outcome]:
        return self.run(programs)


class Echoes(Prints):
    """A sandbox whose programs print their own source."""

    def run(self, programs: Sequence[Program]) -> list[Outcome]:
        self.programs += programs
        return [Outcome(Status.OK, 0, program.code) for program in programs]


def game(task: Mapping[str, str] = SUM, sandbox: Any = "unsafe", **options: Any) -> TextAECEnv:
    """An environment at the start of a given question."""
    env = math_v0.raw_env(sandbox=sandbox, **options)
    env.reset(options={"task": task})
    return env


def tool_says(stdout: str, task: Mapping[str, str] = SUM, **options: Any) -> TextAECEnv:
    """The reasoner's turn, after a program that printed this."""
    env = game(task, Prints(stdout), **options)
    env.step(PROGRAM)
    return env


def boxed(answer: str) -> str:
    return rf"\boxed{{{answer}}}"


def answered(*answers: str, **options: Any) -> TextAECEnv:
    """After these answers of a reasoner without a tool worth the name."""
    env = game(turn_order=("reasoner", "tool"), **{"stop": "budget", "max_cycles": 9, **options})
    for number, answer in enumerate(answers):
        if number:
            env.step("nothing")
        env.step(boxed(answer))
    return env

"""A two-role counting task whose every reward can be worked out by hand.

`tool` proposes a digit d and is paid -d/10; `planner` adds a digit to the sum and is paid -d/100 besides the team's
share of the way to 9. A reply `run CODE` of the tool asks for a program, which the tests' sandbox answers.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from llm_envs.core.env import TextAECEnv
from llm_envs.core.parsing import Unparsed
from llm_envs.core.task import Split, Transition
from llm_envs.sandbox.base import Outcome, Program, SandboxError, Status

GOAL = 9


@dataclass(frozen=True)
class Count:
    instance: int
    total: int = 0
    proposed: str = "none"


class CountTask:
    roles = ("tool", "planner")
    players = ("oracle",)

    def instance(self, split: Split, index: int) -> Count:
        return Count(index)

    def load(self, description: Any) -> Count:
        return Count(int(description))

    def observe(self, state: Count, role: str, feedback: str) -> str:
        return f"{role} of {state.instance} at {state.total} heard {state.proposed} {feedback}".strip()

    def parse(self, state: Count, role: str, text: str) -> str | Unparsed:
        if role == "tool" and text.startswith("run "):
            return text
        return text if len(text) == 1 and text.isdigit() else Unparsed("not a digit")

    def jobs(self, state: Count, role: str, action: str) -> tuple[Program, ...]:
        return (Program(action.removeprefix("run ")),) if action.startswith("run ") else ()

    def apply(self, state: Count, role: str, action: str, results: Sequence[Outcome]) -> Transition[Count]:
        if role == "tool":
            proposed = results[0].stdout if results else action
            return Transition(replace(state, proposed=proposed), {"size": -int(proposed) / 10})
        return Transition(replace(state, total=min(GOAL, state.total + int(action))), {"size": -int(action) / 100})

    def potential(self, state: Count) -> float:
        return state.total / GOAL

    def solved(self, state: Count) -> bool:
        return state.total == GOAL

    def finished(self, state: Count) -> bool:
        return self.solved(state)

    def text(self, state: Count) -> str:
        return f"{state.instance}: {state.total}/{GOAL}, proposed {state.proposed}"

    def reference(self, player: str, state: Count, role: str, rng: random.Random) -> str:
        return "0" if role == "tool" else str(GOAL - state.total)


def count_env(**options: Any) -> TextAECEnv:
    return TextAECEnv(CountTask(), name="count_v0", **{"max_cycles": 3, "sandbox": EchoSandbox()} | options)


class EchoSandbox:
    """Prints a program's code back; code `lost` fails as a dead engine would. Counts what really ran."""

    name = "echo"
    guarantees: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def run(self, programs: Sequence[Program]) -> list[Outcome]:
        self.batches.append([program.code for program in programs])
        if any(program.code == "lost" for program in programs):
            raise SandboxError("the engine is gone")
        return [Outcome(Status.OK, exit_code=0, stdout=program.code) for program in programs]

    async def arun(self, programs: Sequence[Program]) -> list[Outcome]:
        return self.run(programs)

    def close(self) -> None:
        pass

"""A two-role text game for tests of the suite: `scout` measures by a program, `walker` walks three steps.

The scout's program is a job of the sandbox, so that a sandbox that is down in some instances shows what becomes of
them.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from llm_envs.core.env import TextAECEnv
from llm_envs.core.parsing import Unparsed
from llm_envs.core.task import Result, Split, Transition
from llm_envs.sandbox.base import Outcome, Program, SandboxError, Status

ENV_ID = "tests/corridor-v0"
LENGTH = 3


@dataclass(frozen=True)
class State:
    index: int
    walked: int = 0
    measured: bool = False


class CorridorTask:
    roles = ("scout", "walker")
    players = ("oracle", "idle", "silent", "random")  # random is as good as idle

    def instance(self, split: Split, index: int) -> State:
        return State(index)

    def load(self, description: Any) -> State:
        return State(int(description))

    def observe(self, state: State, role: str, feedback: str) -> str:
        return f"{role} of corridor {state.index}: walked {state.walked} of {LENGTH}. {feedback}".strip()

    def parse(self, state: State, role: str, text: str) -> str | Unparsed:
        return text if text in {"measure", "step", "wait"} else Unparsed(f"{text!r} is no action")

    def jobs(self, state: State, role: str, action: str) -> tuple[Program, ...]:
        return (Program(code=str(state.index)),) if action == "measure" else ()

    def apply(self, state: State, role: str, action: str, results: Sequence[Result]) -> Transition[State]:
        if action == "measure":
            return Transition(replace(state, measured=True), info={"tool_useful": state.index % 2 == 0})
        return Transition(replace(state, walked=state.walked + 1) if action == "step" else state, {"slow": -0.1})

    def potential(self, state: State) -> float:
        return state.walked / LENGTH

    def solved(self, state: State) -> bool:
        return state.walked == LENGTH

    def finished(self, state: State) -> bool:
        return self.solved(state)

    def text(self, state: State) -> str:
        return "#####\n#" + "".join("@" if cell == state.walked else "." for cell in range(LENGTH)) + "#\n#####"

    def reference(self, player: str, state: State, role: str, rng: random.Random) -> str:
        if player == "silent":
            return ""
        return {"scout": "measure", "walker": "step" if player == "oracle" else "wait"}[role]


class PickySandbox:
    """Runs nothing; it is down for the programs that `is_down` names."""

    name = "picky"
    guarantees: frozenset[str] = frozenset()

    def __init__(self, is_down: Callable[[str], bool]) -> None:
        self.is_down = is_down

    def run(self, programs: Sequence[Program]) -> list[Outcome]:
        if any(self.is_down(program.code) for program in programs):
            raise SandboxError("the engine is gone")
        return [Outcome(Status.OK) for _ in programs]

    async def arun(self, programs: Sequence[Program]) -> list[Outcome]:
        return self.run(programs)

    def close(self) -> None:
        pass


SANDBOX = PickySandbox(lambda code: False)


def env(**options: Any) -> TextAECEnv:
    """The registered entry point."""
    return TextAECEnv(CorridorTask(), name="corridor_v0", sandbox=SANDBOX, **{"max_cycles": 5} | options)

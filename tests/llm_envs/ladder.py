"""A two-role toy task whose every reward can be worked out by hand: climb a ladder of five rungs.

`scout` says a number, which costs it 0.1 and changes nothing; `climber` says how many rungs to go, up or down, and pays
0.1 for each rung that it goes down. `scout` may also say `run CODE`: its output is the scout's note.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from llm_envs.core.env import TextAECEnv
from llm_envs.core.errors import UsageError
from llm_envs.core.parsing import Unparsed
from llm_envs.core.task import Split, Transition
from llm_envs.sandbox.base import Outcome, Program

TOP = 5


@dataclass(frozen=True)
class Rung:
    name: str
    height: int = 0
    note: str = ""


class LadderTask:
    roles: tuple[str, ...] = ("scout", "climber")
    players: tuple[str, ...] = ("oracle", "random")

    def instance(self, split: Split, index: int) -> Rung:
        return Rung(f"ladder {index} of {split}")

    def load(self, description: Any) -> Rung:
        if not isinstance(description, str):
            raise UsageError(f"options['task']={description!r}: must be the name of a ladder.")
        return Rung(description)

    def observe(self, state: Rung, role: str, feedback: str) -> str:
        return f"You are the {role} on {state.name} at rung {state.height}. Note: {state.note}. {feedback}"

    def parse(self, state: Rung, role: str, text: str) -> str | Unparsed:
        if role == "scout" and text.startswith("run "):
            return text
        digits = text.strip().removeprefix("-")
        return text.strip() if digits.isascii() and digits.isdigit() and len(digits) < 3 else Unparsed("not a number")

    def jobs(self, state: Rung, role: str, action: str) -> tuple[Program, ...]:
        return (Program(action.removeprefix("run ")),) if action.startswith("run ") else ()

    def apply(self, state: Rung, role: str, action: str, results: Sequence[Outcome]) -> Transition[Rung]:
        if role == "scout":
            note = results[0].stdout.strip() if results else action
            return Transition(replace(state, note=note), {"talk": -0.1}, {"said": note})
        rungs = int(action)
        after = replace(state, height=max(0, min(TOP, state.height + rungs)))
        return Transition(after, {"descent": max(-1.0, 0.1 * rungs) if rungs < 0 else 0.0}, {"rungs": rungs})

    def potential(self, state: Rung) -> float:
        return state.height / TOP

    def solved(self, state: Rung) -> bool:
        return state.height == TOP

    def finished(self, state: Rung) -> bool:
        return self.solved(state)

    def text(self, state: Rung) -> str:
        return f"{state.name} at rung {state.height}, note {state.note}"

    def reference(self, player: str, state: Rung, role: str, rng: random.Random) -> str:
        if player == "oracle":
            return "0" if role == "scout" else str(TOP - state.height)
        return str(rng.randint(-2, 2))


def ladder(task: LadderTask | None = None, **options: Any) -> TextAECEnv:
    """The environment without wrappers."""
    return TextAECEnv(task or LadderTask(), name="ladder_v0", **options)

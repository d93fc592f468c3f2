"""Small levels and a sandbox whose programs print what a test wants."""

from collections.abc import Sequence
from typing import Any

from llm_envs import sokoban_v0
from llm_envs.core.env import TextAECEnv
from llm_envs.sandbox.base import Outcome, Program, Status

PROGRAM = "```python\nprint('whatever')\n```"
TWO = "########\n#@ $ . #\n#      #\n# .  $ #\n#      #\n########"  # two boxes, each a few pushes from its goal
TWO_PLAN = "right right right down right right down left left left"
# Every plan begins with a push that lowers the potential: "left left down right" begins the shortest.
AWAY = "#######\n# .+  #\n# $   #\n# $# ##\n#     #\n#######"


class Prints:
    """A sandbox whose programs all have one outcome."""

    name = "unsafe"
    guarantees: frozenset[str] = frozenset()

    def __init__(self, outcome: Outcome | str) -> None:
        self.outcome = outcome if isinstance(outcome, Outcome) else Outcome(Status.OK, 0, outcome)
        self.programs: list[Program] = []

    def run(self, programs: Sequence[Program]) -> list[Outcome]:
        self.programs += programs
        return [self.outcome for _ in programs]

    async def arun(self, programs: Sequence[Program]) -> list[Outcome]:
        return self.run(programs)

    def close(self) -> None:
        pass


def game(level: str = TWO, printed: Outcome | str = "up", **options: Any) -> TextAECEnv:
    """An environment that plays a level."""
    env = sokoban_v0.raw_env(sandbox=Prints(printed), **options)
    env.reset(options={"task": level})
    return env


def planner_first(level: str = TWO, **options: Any) -> TextAECEnv:
    """One in which the planner acts first, with a tool that has nothing to say."""
    return game(level, turn_order=("planner", "tool"), **options)

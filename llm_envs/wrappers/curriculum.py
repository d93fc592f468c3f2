"""`Curriculum`: difficulty follows the success rate."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from pettingzoo import AECEnv

from llm_envs.core.errors import UsageError, require, whole_number
from llm_envs.core.fork import fork
from llm_envs.core.stepping import astep, is_over
from llm_envs.core.wrapper import TextWrapper
from llm_envs.registry import make as make_by_id


@dataclass(frozen=True, slots=True)
class Course:
    """Where a learner stands on a ladder of levels, and the rule by which it moves; a pure value.

    Attributes:
        levels: how many there are; level 0 is the easiest.
        window: episodes that decide; they are counted anew on every level.
        up, down: success rates over the window from which the level rises and at which it falls.
        level: the present one.
        outcomes: the last episodes on this level, the oldest first.
    """

    levels: int
    window: int
    up: float
    down: float
    level: int = 0
    outcomes: tuple[bool, ...] = ()

    def after(self, success: bool) -> Self:
        """Where the learner stands after one more episode."""
        outcomes = (*self.outcomes, success)[-self.window :]
        if len(outcomes) == self.window:
            rate = sum(outcomes) / self.window
            if rate >= self.up and self.level < self.levels - 1:
                return replace(self, level=self.level + 1, outcomes=())
            if rate <= self.down and self.level > 0:
                return replace(self, level=self.level - 1, outcomes=())
        return replace(self, outcomes=outcomes)


class Curriculum(TextWrapper):
    """Plays the environment of the present level, and picks the level at each `reset` by the episodes before it.

        Curriculum("plan_path_v0", [{"size": 5, "min_path": 2}, {"size": 6}, {"size": 8}])

    An episode counts when its last live agent has acted; its outcome is `success`. What was broken off does not
    count, nor does what is played on a fork: that has a course of its own. The same outcomes give the same levels.

    Attributes:
        course: where it stands; set it to go on from a saved one.
    """

    def __init__(
        self,
        make: str | Callable[..., AECEnv[str, str, str]],
        levels: Sequence[Mapping[str, Any]],
        *,
        window: int = 20,
        up: float = 0.8,
        down: float = 0.2,
    ) -> None:
        """Build the ladder; environments are made when their level is first played.

        Args:
            make: a registry id, or a function of the options, such as `plan_path_v0.env`.
            levels: options of each level, the easiest first. Levels must have the same agents.
            window, up, down: see `Course`.

        Raises:
            UsageError: an argument outside what is allowed.
        """
        require(len(levels) > 0, "levels", levels, "at least one set of options")
        require(0 <= down < up <= 1, "down, up", (down, up), "0 <= down < up <= 1")
        self._make = make
        self._levels = [dict(level) for level in levels]
        self.course = Course(len(levels), whole_number("window", window, least=1), float(up), float(down))
        self._envs: dict[int, AECEnv[str, str, str]] = {}
        super().__init__(self._made(0))

    def _made(self, level: int) -> AECEnv[str, str, str]:
        """The environment of a level."""
        if level not in self._envs:
            options = self._levels[level]
            made = make_by_id(self._make, **options) if isinstance(self._make, str) else self._make(**options)
            first = next(iter(self._envs.values()), made)
            if made.possible_agents != first.possible_agents:
                theirs, ours = ", ".join(made.possible_agents), ", ".join(first.possible_agents)
                raise UsageError(f"levels[{level}]={options!r}: has the agents {theirs}; all levels must have {ours}.")
            self._envs[level] = made
        return self._envs[level]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.env = self._made(self.course.level)
        super().reset(seed=seed, options=options)

    def step(self, action: str | None) -> None:
        super().step(action)
        self._count(action)

    async def astep(self, action: str | None) -> None:
        await astep(self.env, action)
        self._count(action)

    def _count(self, action: str | None) -> None:
        if isinstance(action, str) and self.env.agents and is_over(self.env):
            self.course = self.course.after(bool(self.env.infos[self.env.agent_selection]["success"]))

    def fork(self) -> Self:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.env = fork(self.env)
        level = next(level for level, env in self._envs.items() if env is self.env)
        other._envs = {level: other.env}  # it makes the other levels' environments anew when it gets there
        return other

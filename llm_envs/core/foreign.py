"""Forks of environments that know nothing of forks: PettingZoo's own and everybody else's.

`copy.deepcopy` and pickle are no use there: an environment that inherits Gymnasium's `EzPickle` is "copied" by calling
its constructor again, which gives a new, unplayed game. So a stack is copied attribute by attribute (`copy_stack`),
nested environments included. Where an attribute can't be copied, a `Recording` that knows how to make the environment
plays `reset(seed)` and the recorded actions again. Neither way is trusted before it was tried (`core.fork_check`).
"""

import copy
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Any, Self, TypeAlias

import gymnasium
from gymnasium.utils import EzPickle
from pettingzoo import AECEnv, ParallelEnv

from llm_envs.core.fork import ForkError

Game: TypeAlias = AECEnv[Any, Any, Any]
_ENVIRONMENTS = (AECEnv, ParallelEnv, gymnasium.Env, EzPickle)


class Way(StrEnum):
    """How a foreign environment is forked."""

    COPY = "copy"
    REPLAY = "replay"


def stack_of(env: Any) -> list[Any]:
    """The environment and every environment that attributes lead to from it, the outermost first.

    An object with a `__deepcopy__` of its own is left to it: whoever wrote that knows how to copy the object.
    """
    found: dict[int, Any] = {id(env): env}
    waiting = [env]
    while waiting:
        for value in _members(waiting.pop()):
            if isinstance(value, _ENVIRONMENTS) and id(value) not in found and not hasattr(type(value), "__deepcopy__"):
                found[id(value)] = value
                waiting.append(value)
    return list(found.values())


def _members(layer: Any) -> Iterator[Any]:
    """Attributes of a layer, and what stands in those that are plain containers."""
    for value in vars(layer).values():
        if isinstance(value, dict):
            yield from value.values()
        elif isinstance(value, (list, tuple)):
            yield from value
        else:
            yield value


def copy_stack(env: Any) -> Any:
    """A copy of a whole stack, made without calling any constructor; spaces are shared.

    Raises:
        ForkError: an attribute that can't be copied.
    """
    layers = stack_of(env)
    twins = [object.__new__(type(layer)) for layer in layers]
    memo: dict[int, Any] = {
        id(member): member for layer in layers for member in _members(layer) if isinstance(member, gymnasium.Space)
    }
    memo.update((id(layer), twin) for layer, twin in zip(layers, twins, strict=True))
    for layer, twin in zip(layers, twins, strict=True):
        for name, value in vars(layer).items():
            try:
                twin.__dict__[name] = copy.deepcopy(value, memo)
            except Exception as error:  # foreign code: whatever it raises is why there is no copy
                raise ForkError(f"{type(layer).__name__}.{name} can't be copied ({error})") from error
    return twins[0]


class Recording:
    """A foreign game and all that was done in it since its reset, so that it can be forked either way.

    Attributes:
        env: the game.
    """

    def __init__(self, env: Any, make: Callable[[], Any] | None = None) -> None:
        """Hold an environment.

        Args:
            env: a PettingZoo environment.
            make: makes the same environment anew; without it forks can only be copies.
        """
        self.env = env
        self._make = make
        self._reset: tuple[int | None, dict[str, Any] | None] | None = None
        self._actions: tuple[Any, ...] = ()
        self._way: Way | None = None

    def reset(self, seed: int | None, options: dict[str, Any] | None = None) -> None:
        """Start a game and its record."""
        self.env.reset(seed=seed, options=options)
        self._reset, self._actions = (seed, options), ()

    @property
    def can_replay(self) -> bool:
        """Whether the game could be played again from its start."""
        return self._make is not None and self._reset is not None and self._reset[0] is not None

    def step(self, action: Any) -> None:
        """Act in the game and note it down."""
        self.env.step(action)
        self._actions = (*self._actions, action)

    def fork(self) -> Self:
        """A game of its own in the same position.

        Raises:
            ForkError: neither a copy nor a replay of it goes on as the original does; the message says why.
        """
        from llm_envs.core.fork_check import trusted_way  # late: the check forks recordings itself

        if self._way is None:
            self._way = trusted_way(self)
        other = self.fork_by(self._way)
        other._way = self._way
        return other

    def fork_by(self, way: Way) -> Self:
        """A fork made in a given way, unchecked. Raises `ForkError` where the way is closed."""
        if way is Way.COPY:
            other = type(self)(copy_stack(self.env), self._make)
            other._reset, other._actions = self._reset, self._actions
            return other
        if self._make is None:
            raise ForkError("nothing makes it anew: pass a function that does, in place of the environment")
        if self._reset is None or self._reset[0] is None:
            raise ForkError("it was not reset with a seed, so that its chance can't be repeated")
        other = type(self)(self._make(), self._make)
        other.reset(*self._reset)
        for action in self._actions:
            other.step(action)
        return other


def fork_foreign(env: Any) -> Any:
    """A checked copy of a foreign environment (see `Recording.fork`)."""
    return Recording(env).fork().env

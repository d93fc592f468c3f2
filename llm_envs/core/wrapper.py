"""Wrappers around text environments: the base of our own, and the one that every `env()` carries."""

from typing import Self

from pettingzoo.utils.wrappers import BaseWrapper, OrderEnforcingWrapper

from llm_envs.core.fork import fork, fork_wrapper
from llm_envs.core.stepping import astep


class TextWrapper(BaseWrapper[str, str, str]):
    """Base class of wrappers around text environments: forks with what it wraps, and steps without blocking.

    A subclass that overrides `step` overrides `astep` alike.
    """

    def fork(self) -> Self:
        """This wrapper, with copies of its own attributes, around the fork of what it wraps."""
        return fork_wrapper(self)

    async def astep(self, action: str | None) -> None:
        """`step` without blocking the event loop while programs run."""
        await astep(self.env, action)


class OrderEnforcing(TextWrapper, OrderEnforcingWrapper[str, str, str]):
    """PettingZoo's check of the order of calls (`reset` first, one `step` per `agent_iter`), for `astep` too."""

    def fork(self) -> Self:
        other = object.__new__(type(self))
        other.__dict__.update(
            self.__dict__
        )  # two flags: shared by value, which is several times as fast as deep copies
        other.env = fork(self.env)
        return other

    async def astep(self, action: str | None) -> None:
        if not self._has_reset or not self.agents:
            OrderEnforcingWrapper.step(self, action)  # reports what is out of order
            return
        self._has_updated = True
        await super().astep(action)

    def __str__(self) -> str:
        return str(self.env)

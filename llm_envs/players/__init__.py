"""Players: whoever answers an observation with a reply.

A player is any object with a name and an `act`; it may be asynchronous (models behind a server) or not (reference
players).
"""

import random
from collections.abc import Awaitable
from typing import Any, Protocol, TypeAlias, runtime_checkable

from pettingzoo import AECEnv

from llm_envs.core.errors import unknown_choice

Env: TypeAlias = AECEnv[str, str, str]


@runtime_checkable
class Player(Protocol):
    """Answers for an agent. `env` is there for players that know the game; a model looks at the observation only."""

    name: str

    def act(self, env: Env, agent: str, observation: str) -> str | Awaitable[str]:
        """The reply of `agent` to its observation."""
        ...


def instance_mark(raw: Any) -> str:
    """What tells an episode from others in the same state: the instance, where all begin alike (as in tic-tac-toe).
    Elsewhere nothing, since the state does.
    """
    return f"{raw.index}:" if getattr(raw, "instances_begin_alike", False) else ""


class ReferencePlayer:
    """A player that the task itself defines, such as its oracle.

    Its chance depends on (seed, state, agent, cycle) only, and on the instance where instances begin alike, so that
    episodes repeat in any order and at any concurrency.
    """

    def __init__(self, name: str, seed: int = 0) -> None:
        self.name = name
        self._seed = seed

    def act(self, env: Env, agent: str, observation: str) -> str:
        raw: Any = env.unwrapped
        if self.name not in raw.task.players:
            raise unknown_choice("player", self.name, raw.task.players)
        rng = random.Random(f"{instance_mark(raw)}{self._seed}:{raw.cycle}:{agent}:{observation}")
        return str(raw.task.reference(self.name, raw.snapshot, raw.roles[agent], rng))

"""Stepping without blocking, and when nothing is left to step, whatever wraps the environment."""

import asyncio
from typing import Any

from pettingzoo import AECEnv


async def astep(env: AECEnv[Any, Any, Any], action: Any) -> None:
    """`env.step(action)` without blocking the event loop.

    A class with an `astep` of its own is asked. Any other one, such as PettingZoo's wrappers, steps in a thread: their
    `__getattr__` would hand out the `astep` of what they wrap, which skips the wrapper.
    """
    if hasattr(type(env), "astep"):
        await env.astep(action)
    else:
        await asyncio.to_thread(env.step, action)


def is_over(env: AECEnv[Any, Any, Any]) -> bool:
    """Whether no agent can act any more; those that are left only leave."""
    return all(env.terminations[agent] or env.truncations[agent] for agent in env.agents)

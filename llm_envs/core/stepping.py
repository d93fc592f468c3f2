"""Stepping without blocking, whatever wraps the environment."""

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

"""Asking again where it may help, and counting what went wrong."""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from llm_envs.core.errors import require
from llm_envs_bench.agents.errors import AgentError
from llm_envs_bench.attempts import CALLS_AGAIN, Event

T = TypeVar("T")
FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 60.0
_jitter = random.Random()  # spreads retries in time, and nothing else


@dataclass(frozen=True, slots=True)
class Patience:
    """How long an agent is waited for.

    Attributes:
        retries: further tries after a failed one.
        timeout_s: seconds for one try.
    """

    retries: int = 5
    timeout_s: float = 120.0

    def __post_init__(self) -> None:
        require(self.retries >= 0, "retries", self.retries, "a whole number >= 0")
        require(self.timeout_s > 0, "timeout", self.timeout_s, "a number of seconds > 0")


async def ask(request: Callable[[], Awaitable[T]], patience: Patience, events: Counter[str]) -> T:
    """The reply to a request; 429, 5xx, time-outs and lost connections are tried again, nothing else.

    Args:
        request: makes one try and raises `AgentError` where it fails.
        patience: how often and how long.
        events: counts every fault, those that a later try mended included.

    Raises:
        AgentError: the last try's.
    """
    for number in range(patience.retries + 1):
        try:
            async with asyncio.timeout(patience.timeout_s):
                return await request()
        except TimeoutError as error:
            failure = AgentError(Event.TIMEOUT, f"no answer within {patience.timeout_s:g} s")
            failure.__cause__ = error
        except AgentError as error:
            failure = error
        events[failure.event] += 1
        if failure.event not in CALLS_AGAIN or number == patience.retries:
            break
        await asyncio.sleep(wait_before(number, failure.retry_after))
    raise failure


def wait_before(retry: int, retry_after: float | None) -> float:
    """Seconds to wait before a retry (from 0): as the endpoint asks, else twice as long each time, with jitter."""
    if retry_after is not None:
        return min(retry_after, LONGEST_WAIT_S)
    return min(FIRST_WAIT_S * (1 << retry), LONGEST_WAIT_S) * (0.5 + _jitter.random() / 2)

"""Whether a server whose process runs still serves, by its health checks and by what its requests have seen.

Busy is not hung: vLLM's front process answers health checks while its engine computes, and any answer to anybody is a
sign of life. On a CPU that all threads want it may be late (measured: by 0.4 s at most, with 48 requests of 700 tokens
on two cores that six other programs wanted), so that one counts as hung only after `inference.hang_s` without a sign.
"""

import asyncio
import threading
import time
from enum import StrEnum

from at_grpo.inference.base import SamplerError
from at_grpo.inference.endpoint import Endpoint, SilentError

HEALTH_S = 5.0  # between two health checks, and the most that one may take
REFUSALS = 3  # in a row, before a process that runs counts as dead: its engine may have died and left it hanging


class Health(StrEnum):
    """What came of a health check: a good answer; nobody there, or an answer that the engine is dead; no answer."""

    WELL = "well"
    REFUSES = "refuses"
    SILENT = "silent"


def health(url: str, timeout_s: float = HEALTH_S) -> Health:
    """Ask a server how it is, once."""
    once = Endpoint(url, timeout_s=timeout_s, patience_s=0.0)
    try:
        asyncio.run(once.get("/health"))
    except SilentError:
        return Health.SILENT
    except SamplerError:
        return Health.REFUSES
    return Health.WELL


class Vitals:
    """The signs of life of one server, whose process may be replaced by another."""

    def __init__(self, endpoint: Endpoint, hang_s: float) -> None:
        """Have the endpoint's requests tell of silence.

        Args:
            endpoint: the server's.
            hang_s: seconds without any sign of life after which it counts as hung.
        """
        self._endpoint, self._hang_s = endpoint, hang_s
        self._period_s = min(HEALTH_S, hang_s / 2)
        self._silence = threading.Event()
        endpoint.on_silence = self._silence.set
        self.begin()

    def begin(self) -> None:
        """Count anew: the process is a new one, and was alive just now."""
        self._refusals = 0
        self._alive = self._looked = time.monotonic()
        self._silence.clear()

    def complaint(self) -> str:
        """Why the process must be replaced, in words that follow "the server"; nothing while it need not be.

        Asks for its health where the last time is long enough ago, and then takes a while.
        """
        if self._silence.is_set():
            return "let a request wait for inference.timeout_s and answered no other one meanwhile"
        if time.monotonic() - self._looked < self._period_s:
            return ""
        found = health(self._endpoint.url, self._period_s)
        self._looked = time.monotonic()
        self._refusals = self._refusals + 1 if found is Health.REFUSES else 0
        if found is Health.WELL:
            self._alive = self._looked
        if self._refusals == REFUSALS:
            return "ran and refused its health checks"
        if self._looked - max(self._alive, self._endpoint.answered) > self._hang_s:
            return f"ran and answered nothing for {self._hang_s:g} s (inference.hang_s)"
        return ""

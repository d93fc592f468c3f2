"""The process's shared pool of math-verify workers."""

import atexit
import logging
import os
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from importlib.util import find_spec

from llm_envs.math.judging.verdict import Verdict
from llm_envs.math.judging.workers import Pair, Workers

logger = logging.getLogger(__name__)


class _Shared:
    """The pool, made when it is first needed, and the lock that keeps two threads from making two."""

    def __init__(self) -> None:
        self.workers: Workers | None = None
        self.warned = False
        self.renew_lock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.renew_lock)
        atexit.register(self.close)

    def renew_lock(self) -> None:
        """In a forked process it may be held by a thread that is not there."""
        self.lock = threading.Lock()

    def close(self) -> None:
        """End the pool; the next use makes a new one."""
        with self.lock:
            workers, self.workers = self.workers, None
        if workers is not None:
            workers.close()


_shared = _Shared()


def submit(pairs: Sequence[Pair]) -> "Future[list[Verdict]]":
    """Ask the library; the future holds `UNDECIDED` for all pairs where math-verify is not installed."""
    with _shared.lock:
        if find_spec("math_verify") is not None:
            if _shared.workers is None:
                _shared.workers = Workers(slots=_usable_cores())
            return _shared.workers.submit(pairs)
        if not _shared.warned:
            logger.warning("answers beyond exact comparison stay undecided: pip install 'llm-envs[math]'")
            _shared.warned = True
    future: Future[list[Verdict]] = Future()
    future.set_result([Verdict.UNDECIDED] * len(pairs))
    return future


def close_workers() -> None:
    """End the worker processes of this process. A later judgement that needs some starts new ones."""
    _shared.close()


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

"""A cage in reserve, for kinds that take long to start and to end: both happen beside the work and not before it."""

import logging
import threading
from collections import deque
from collections.abc import Callable

from llm_envs.sandbox.base import SandboxError
from llm_envs.sandbox.cage import Cage, CageLostError

logger = logging.getLogger(__name__)

_WAITING = 2  # worn cages that may wait for the next one to be ready; more must not pile up


class Spares:
    """One cage ahead of need, from the first one that was worn, and the end of worn ones, in a thread of its own."""

    def __init__(self, name: str, start: Callable[[], Cage], end: Callable[[Cage], None]) -> None:
        """Start nothing yet. `start` raises CageLostError and SandboxError, `end` nothing."""
        self._name, self._start, self._end = name, start, end
        self._changed = threading.Condition()
        self._worn: deque[Cage] = deque()
        self._ready: Cage | None = None
        self._wanted = self._closed = False
        self._thread: threading.Thread | None = None

    def take(self) -> Cage | None:
        """The cage in reserve, if there is one that still serves."""
        with self._changed:
            cage, self._ready = self._ready, None
            self._changed.notify()
        if cage is not None and cage.outdated:
            self.put_away(cage)
            return None
        return cage

    def put_away(self, cage: Cage) -> None:
        """End a worn cage, and have another one ready."""
        with self._changed:
            if not self._closed:
                self._worn.append(cage)
                self._wanted = True
                if self._thread is None:
                    self._thread = threading.Thread(target=self._work, name=f"sandbox-{self._name}-spare", daemon=True)
                    self._thread.start()
                self._changed.notify()
                return
        self._end(cage)

    def close(self) -> None:
        """End what is in reserve and what is worn, and the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _work(self) -> None:
        while True:
            with self._changed:
                while not (self._worn or self._closed or self._lacking):
                    self._changed.wait()
                if self._closed and self._ready is not None:
                    self._worn.append(self._ready)
                    self._ready = None
                first = self._lacking and len(self._worn) < _WAITING
                ended = self._worn.popleft() if self._worn and not first else None
                if ended is None and self._closed:
                    return
            if ended is not None:
                self._end(ended)
            else:
                self._prepare()

    @property
    def _lacking(self) -> bool:
        return self._wanted and self._ready is None and not self._closed

    def _prepare(self) -> None:
        try:
            cage = self._start()
        except (CageLostError, SandboxError) as error:  # whoever needs one tries again, and tells
            logger.debug("no cage in reserve for the sandbox %r: %s", self._name, error)
            with self._changed:
                self._wanted = False
            return
        with self._changed:
            self._ready = cage

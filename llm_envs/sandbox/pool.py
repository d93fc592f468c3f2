"""Many callers, few cages: one queue, and one thread per slot with one warm cage each.

Safe from any thread and any event loop: all that callers share with the slots is a lock held for microseconds, and
futures of `concurrent.futures`. A forked process that uses an inherited pool gets threads and cages of its own.
"""

import asyncio
import logging
import math
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future

from llm_envs.sandbox.base import Outcome, Program, SandboxError, Status
from llm_envs.sandbox.cage import Cage, CageLostError
from llm_envs.sandbox.calls import Call, Task
from llm_envs.sandbox.encoding import Key, checked
from llm_envs.sandbox.imports import Imports
from llm_envs.sandbox.spares import Spares

logger = logging.getLogger(__name__)

RECYCLE_AFTER = 5000  # runs of one cage: if there is anything that it cannot wipe, it does not pile up
_WEARING = (Status.TIMEOUT, Status.MEMORY)
_ATTEMPTS = 2
_BATCH_S = 0.03  # work given to a slot at once: more than a hand-over costs, less than another slot should wait for
_LONGEST_BATCH = 32


class Pool:
    """The queue and its slots, which grow as they are needed."""

    def __init__(
        self, name: str, start: Callable[[Imports], Cage], slots: int, recycle_after: int, spare: bool = False
    ) -> None:
        """Start nothing yet.

        Args:
            name: what threads and errors call it.
            start: makes a cage, in the thread that will use it, with the imports that programs were seen to use at
                hand. Raises CageLostError, SandboxError or OSError.
            slots: cages at once, at most.
            recycle_after: runs after which a cage is replaced by a fresh one.
            spare: keep a cage in reserve; `start` then serves another thread than the one that calls it.
        """
        for argument, value in (("slots", slots), ("recycle_after", recycle_after)):
            if value < 1:
                raise ValueError(f"{argument}={value!r}: must be at least 1")
        self._name, self._start, self._slots, self.recycle_after = name, start, slots, recycle_after
        self._spare = spare
        self._closed = False
        self._begin()
        _POOLS.add(self)

    def _begin(self) -> None:
        self._changed = threading.Condition()
        self._queue: deque[Task] = deque()
        self._threads: list[threading.Thread] = []
        self._cages: set[Cage] = set()
        self._idle = 0
        self._imports = Imports()
        self._usual_s = _BATCH_S / 4
        self._spares = Spares(self._name, self._fresh, self._end) if self._spare else None

    def submit(self, programs: Sequence[Program]) -> Future[list[Outcome]]:
        """Queue programs; the future holds their outcomes in order. Cancelling it drops those that still wait."""
        call = Call(programs)
        with self._changed:
            if self._closed:
                raise SandboxError(f"the sandbox {self._name!r} is closed: get a new one from get_sandbox")
            self._queue.extend(call.tasks)
            for task in call.tasks:
                self._imports.note(task.program.code)
            while len(self._threads) < self._slots and self._idle < len(self._queue):
                name = f"sandbox-{self._name}-{len(self._threads)}"
                self._threads.append(threading.Thread(target=self._serve, name=name, daemon=True))
                self._threads[-1].start()
                self._idle += 1
            self._changed.notify(len(call.tasks))
        return call.future

    def close(self) -> None:
        """End what runs, fail what waits, and leave no thread, process or folder. A second call does nothing."""
        with self._changed:
            self._closed = True
            waiting = list(self._queue)
            self._queue.clear()
            self._changed.notify_all()
            for cage in self._cages:
                cage.stop()
            threads = list(self._threads)
        for task in waiting:
            self._fail_closed(task)
        if threading.current_thread() not in threads:  # a collector may close us in a slot that the others wait for
            for thread in threads:
                thread.join()
        if self._spares is not None:
            self._spares.close()

    def forget_parent(self) -> None:
        """In a forked process: let go of what is the parent's, without touching it. Threads and locks are not here."""
        for cage in self._cages:
            cage.abandon()
        self._begin()

    def start(self) -> Cage:
        """A fresh cage. Raises CageLostError where it dies at once, SandboxError where it cannot be had here."""
        return (self._spares.take() if self._spares is not None else None) or self._fresh()

    def put_away(self, cage: Cage) -> None:
        """End a cage that is worn or lost."""
        if self._spares is None or self._closed:
            self._end(cage)
        else:
            self._spares.put_away(cage)

    def _fresh(self) -> Cage:
        try:
            cage = self._start(self._imports)
        except OSError as error:  # no process, no room for a folder: perhaps only now
            raise CageLostError(f"{type(error).__name__}: {error}") from error
        with self._changed:
            if not self._closed:
                self._cages.add(cage)  # to be stopped when the pool closes
                return cage
        cage.close()
        raise CageLostError("closed")

    def _end(self, cage: Cage) -> None:
        with self._changed:
            self._cages.discard(cage)
        cage.close()

    def report(self, outcome: Outcome) -> None:
        """Learn how long programs usually take: short ones are handed over in larger batches.

        On a busy machine all takes longer, the hand-over too, so it is CPU time that counts, unless a program sleeps.
        """
        self._usual_s += (max(outcome.cpu_s, outcome.wall_s / 16) - self._usual_s) / 8

    def retry(self, tasks: Sequence[Task], error: CageLostError) -> None:
        """Put back what a lost cage has not answered; only the first of them can have been the reason."""
        tasks[0].losses += 1
        if tasks[0].losses >= _ATTEMPTS:
            tasks[0].call.fail(SandboxError(f"the cage {self._name!r} was lost {_ATTEMPTS} times: {error}"))
        with self._changed:
            if not self._closed:
                logger.warning("lost a cage of the sandbox %r: %s", self._name, error)
                self._queue.extendleft(reversed(tasks))
                return
        for task in tasks:
            self._fail_closed(task)

    def _fail_closed(self, task: Task) -> None:
        task.call.fail(SandboxError(f"the sandbox {self._name!r} was closed before the program had run"))

    def _take(self) -> list[Task]:
        """The next batch for a slot, a fair share of what waits; empty when the pool is closed."""
        with self._changed:
            while not self._closed:
                while self._queue and not self._queue[0].wanted:
                    self._queue.popleft()
                if self._queue:
                    break
                self._changed.wait()
            share = math.ceil(0.75 * len(self._queue) / self._slots)  # the rest evens out what takes longer
            count = min(share, _LONGEST_BATCH, max(1, int(_BATCH_S / max(self._usual_s, 1e-6))))
            batch = [self._queue.popleft() for _ in range(count)]
            self._idle -= 1
            return batch

    def _serve(self) -> None:
        slot = _Slot(self)
        try:
            while batch := self._take():
                slot.run(batch)
                with self._changed:
                    self._idle += 1
        finally:
            slot.end()


class _Slot:
    """One thread's cage, replaced when it is worn or lost."""

    def __init__(self, pool: Pool) -> None:
        """No cage yet."""
        self._pool = pool
        self._cage: Cage | None = None
        self._runs = 0

    def run(self, batch: Sequence[Task]) -> None:
        """Run a batch; whatever happens, each task is finished, failed or queued again."""
        answered = 0
        worn = False
        try:
            if self._cage is None:
                self._cage = self._pool.start()
            compile_once = frozenset[Key]().union(*(task.call.compile_once for task in batch))
            outcomes = self._cage.run([task.program for task in batch], compile_once)
            for outcome, task in zip(outcomes, batch, strict=True):
                answered += 1
                worn |= outcome.status in _WEARING
                self._pool.report(outcome)
                task.finish(outcome)
        except CageLostError as error:
            worn = True
            self._pool.retry(batch[answered:], error)
        except SandboxError as error:  # there will be no cage at the next try, either
            for task in batch[answered:]:
                task.call.fail(error)
        except Exception as error:  # the boundary of a thread: a caller must never wait for one that has died
            logger.exception("a slot of the sandbox failed")
            worn = True
            for task in batch[answered:]:
                task.call.fail(SandboxError(f"the sandbox failed: {error!r}"))
        self._runs += answered
        if worn or self._runs >= self._pool.recycle_after or (self._cage is not None and self._cage.outdated):
            self.end()

    def end(self) -> None:
        """Give the cage away; the next run takes a fresh one."""
        if self._cage is not None:
            self._pool.put_away(self._cage)
            self._cage = None
        self._runs = 0


class PooledSandbox:
    """A `Sandbox` over a pool of cages; ends with the process, or when nobody holds it any more."""

    def __init__(
        self,
        name: str,
        guarantees: frozenset[str],
        start: Callable[[Imports], Cage],
        *,
        slots: int | None = None,
        recycle_after: int = RECYCLE_AFTER,
        spare: bool = False,
    ) -> None:
        """See `Pool`; `slots` is the number of usable cores by default, since a cage is busy with computing."""
        self.name = name
        self.guarantees = guarantees
        self._pool = Pool(name, start, _usable_cores() if slots is None else slots, recycle_after, spare)
        self._close = weakref.finalize(self, self._pool.close)

    def run(self, programs: Sequence[Program]) -> list[Outcome]:
        """Run programs, blocking; outcomes in the order of the programs. Raises SandboxError, ValueError."""
        future = self._pool.submit([checked(program) for program in programs])
        try:
            return future.result()
        finally:
            future.cancel()  # interrupted: what has not started need not

    async def arun(self, programs: Sequence[Program]) -> list[Outcome]:
        """The same without blocking the event loop; a cancelled call drops what has not started."""
        return await asyncio.wrap_future(self._pool.submit([checked(program) for program in programs]))

    @property
    def closed(self) -> bool:
        """Whether it was closed and takes no more programs."""
        return not self._close.alive

    def close(self) -> None:
        """Stop every cage and leave nothing behind. A second call does nothing."""
        self._close()


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_POOLS: "weakref.WeakSet[Pool]" = weakref.WeakSet()


def _forget_parents() -> None:
    for pool in list(_POOLS):
        pool.forget_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parents)

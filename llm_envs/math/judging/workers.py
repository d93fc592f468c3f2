"""Worker processes that compare expressions with math-verify, each killed when it overruns its time.

Safe from any thread and any event loop: a queue, one thread per slot with one warm process each, and futures of
`concurrent.futures`. No signal handler is touched. A forked process that uses an inherited pool gets threads and
processes of its own. Nothing outlives `close`, nor the owner, however that ends.
"""

import json
import logging
import os
import select
import subprocess
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

from llm_envs.math.judging.verdict import Verdict

logger = logging.getLogger(__name__)

Pair = tuple[str, str]  # gold, answer

LIMIT_S = 5.0  # of a request: a comparison takes milliseconds, a hostile one for ever
_START_S = 60.0  # two seconds of imports, but on a machine that swaps
_ATTEMPTS = 2
_PROGRAM = Path(__file__).with_name("library.py")


class WorkerLostError(Exception):
    """The worker died, or could not be started."""


class OverrunError(Exception):
    """The worker was still busy when its time was over."""


class Worker:
    """One process and the conversation with it. It belongs to the thread that made it, but for `kill`."""

    def __init__(self, limit_s: float) -> None:
        """Start a process. Raises WorkerLostError."""
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(_PROGRAM), str(os.getpid()), str(limit_s + 1)],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the owner
            )
        except OSError as error:
            raise WorkerLostError(f"a worker cannot be started: {error}") from error
        self._limit_s = limit_s
        self._received = b""

    def open(self) -> None:
        """Wait until it is ready. Raises WorkerLostError."""
        try:
            problem = json.loads(self._line(_START_S))
        except OverrunError as error:
            raise WorkerLostError("a worker does not start") from error
        if problem is not None:
            raise WorkerLostError(problem)

    def compare(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """The verdicts on pairs. Raises WorkerLostError, OverrunError; the worker is of no more use then."""
        stdin = self._process.stdin
        try:
            if stdin is not None:
                stdin.write(json.dumps(pairs).encode() + b"\n")
        except OSError as error:
            raise WorkerLostError(f"the worker ended: {error}") from error
        return [Verdict(verdict) for verdict in json.loads(self._line(self._limit_s))]

    def _line(self, limit_s: float) -> bytes:
        """The next line. Raises WorkerLostError at the end of the stream, OverrunError when the time is over."""
        stdout = self._process.stdout
        deadline = time.monotonic() + limit_s
        while stdout is not None and b"\n" not in self._received:
            poll = select.poll()
            poll.register(stdout, select.POLLIN)
            if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
                raise OverrunError
            data = stdout.read(1 << 16)
            if not data:
                raise WorkerLostError("the worker ended")
            self._received += data
        line, _, self._received = self._received.partition(b"\n")
        return line

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    def kill(self) -> None:
        """End the process at once. Another thread that waits for it finds it lost."""
        self._process.kill()

    def close(self) -> None:
        """End the process and leave nothing behind."""
        self._process.kill()
        self._process.wait()
        self._close_streams()

    def abandon(self) -> None:
        """In a forked process: it is the parent's child, there is nothing to end here."""
        self._process.returncode = 0
        self._close_streams()

    def _close_streams(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()


class Workers:
    """The queue and its slots, which grow as they are needed."""

    def __init__(self, slots: int, limit_s: float = LIMIT_S) -> None:
        """Start nothing yet.

        Args:
            slots: processes at once, at most.
            limit_s: wall time of a request, in seconds.
        """
        self._slots, self._limit_s = slots, limit_s
        self._closed = False
        self._begin()
        _POOLS.add(self)

    def _begin(self) -> None:
        self._changed = threading.Condition()
        self._queue: deque[tuple[Future[list[Verdict]], Sequence[Pair]]] = deque()
        self._threads: list[threading.Thread] = []
        self._workers: set[Worker] = set()
        self._idle = 0

    @property
    def pids(self) -> list[int]:
        """The processes of now."""
        with self._changed:
            return [worker.pid for worker in self._workers]

    def submit(self, pairs: Sequence[Pair]) -> Future[list[Verdict]]:
        """Queue pairs; the future holds their verdicts in order, undecided where no worker could tell in time."""
        future: Future[list[Verdict]] = Future()
        with self._changed:
            if self._closed:
                raise RuntimeError("the pool of math-verify workers is closed")
            self._queue.append((future, pairs))
            if self._idle < len(self._queue) and len(self._threads) < self._slots:
                name = f"math-verify-{len(self._threads)}"
                self._threads.append(threading.Thread(target=self._serve, name=name, daemon=True))
                self._threads[-1].start()
                self._idle += 1
            self._changed.notify()
        return future

    def close(self) -> None:
        """End what runs, drop what waits, and leave no thread and no process. A second call does nothing."""
        with self._changed:
            self._closed = True
            waiting = list(self._queue)
            self._queue.clear()
            for worker in self._workers:
                worker.kill()
            self._changed.notify_all()
        for future, pairs in waiting:
            if future.set_running_or_notify_cancel():
                future.set_result([Verdict.UNDECIDED] * len(pairs))
        for thread in self._threads:
            thread.join()

    def forget_parent(self) -> None:
        """In a forked process: let go of what is the parent's, without touching it. Threads and locks are not here."""
        for worker in self._workers:
            worker.abandon()
        self._begin()

    def _serve(self) -> None:
        """One slot: a thread and the worker that it keeps."""
        worker: Worker | None = None
        while (task := self._take()) is not None:
            future, pairs = task
            if future.set_running_or_notify_cancel():
                try:
                    verdicts, worker = self._compare(pairs, worker)
                except Exception:  # the boundary of a thread: a caller must never wait for one that has died
                    logger.exception("a slot of math-verify workers failed")
                    self._end(worker)
                    verdicts, worker = [Verdict.UNDECIDED] * len(pairs), None
                future.set_result(verdicts)
            with self._changed:
                self._idle += 1
        self._end(worker)

    def _take(self) -> tuple[Future[list[Verdict]], Sequence[Pair]] | None:
        with self._changed:
            while not self._queue and not self._closed:
                self._changed.wait()
            if self._closed:
                return None
            self._idle -= 1
            return self._queue.popleft()

    def _compare(self, pairs: Sequence[Pair], worker: Worker | None) -> tuple[list[Verdict], Worker | None]:
        """The verdicts, and the worker for the next request if it is still of use."""
        for _ in range(_ATTEMPTS):
            try:
                worker = worker or self._start()
                return worker.compare(pairs), worker
            except OverrunError:
                logger.info("math-verify did not answer within %g s: undecided", self._limit_s)
                self._end(worker)
                return [Verdict.UNDECIDED] * len(pairs), None
            except WorkerLostError as error:
                self._end(worker)
                worker = None
                if self._closed:
                    break
                logger.warning("lost a math-verify worker: %s", error)
        return [Verdict.UNDECIDED] * len(pairs), None

    def _start(self) -> Worker:
        worker = Worker(self._limit_s)
        with self._changed:
            self._workers.add(worker)
            if self._closed:
                worker.kill()
        try:
            worker.open()
        except WorkerLostError:
            self._end(worker)
            raise
        return worker

    def _end(self, worker: Worker | None) -> None:
        if worker is not None:
            with self._changed:
                self._workers.discard(worker)
            worker.close()


_POOLS: "weakref.WeakSet[Workers]" = weakref.WeakSet()


def _forget_parents() -> None:
    for pool in list(_POOLS):
        pool.forget_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parents)

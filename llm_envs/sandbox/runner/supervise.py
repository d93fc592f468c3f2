"""One program from fork to verdict: feeds its input, collects its output, keeps its limits, ends its whole tree.

Nothing of a program is ever made into a Python object on this side: requests and outputs stay in mapped buffers that
are cleared, or not inherited, before the next fork. So a program finds nothing of another one in its memory.
"""

from __future__ import annotations

import os
import select
import time

from . import child, watch, wire
from .libc import SIGKILL
from .streams import Input, Output

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .cgroup import Group
    from .child import Job

_REQUESTS = 0  # the descriptor on which the owner speaks to us
_BRIEF_MS = 3  # most programs are over by then and have not filled a pipe: one wake-up for them instead of three
_NEARLY_FULL = 0.8
_INTERPRETER_BYTES = 16 << 20  # in a cgroup: pages of the runner that a program changes and so gets a copy of


class OwnerGoneError(Exception):
    """Nobody is left to read a reply."""


class Verdict:
    """How a program ended; what it wrote lies in the supervisor's outputs."""

    __slots__ = ("cpu_s", "exit_code", "status", "wall_s")

    def __init__(self, status: int, exit_code: int, wall_s: float, cpu_s: float) -> None:
        """See `wire.REPLY`."""
        self.status, self.exit_code, self.wall_s, self.cpu_s = status, exit_code, wall_s, cpu_s


class Supervisor:
    """Runs programs one at a time. The process must be a subreaper (or pid 1), so that no orphan is out of reach."""

    def __init__(self, *, alone: bool, group: Group | None = None) -> None:
        """Prepare.

        Args:
            alone: nothing but programs can be reached by a signal to all processes.
            group: the memory cgroup that programs move into, where there is one.
        """
        self._alone = alone
        self._group = group
        self._kills = 0
        self.stdout, self.stderr = Output(), Output()

    def run(self, job: Job) -> Verdict:
        """Run one program. Raises OwnerGoneError, OSError where the system has no process or pipe left."""
        request = job.request
        # what compiles is bounded by its memory: its output is code that nobody has asked to be short
        cap = request.memory_bytes if request.kind == wire.COMPILE else request.output_bytes
        job.entered[0] = 0
        if self._group is not None:
            self._group.limit(request.memory_bytes + _INTERPRETER_BYTES)
            self._kills = self._group.kills()
        data = memoryview(job.inbox)[request.body_bytes : request.body_bytes + request.stdin_bytes]
        stdin, stdout, stderr = Input(data), self.stdout.open(cap), self.stderr.open(request.output_bytes)
        brief = select.poll()  # made before the fork: until the program ends, each page that we touch is copied
        brief.register(_REQUESTS, 0)
        started = time.monotonic()
        pid = os.fork()
        if pid == 0:
            data.release()
            child.become(job, stdin.read_end, stdout, stderr)
        for end in (stdin.read_end, stdout, stderr):
            os.close(end)
        exited = os.pidfd_open(pid)
        brief.register(exited, select.POLLIN)
        stopped = None
        if stdin.fd >= 0 or (exited, select.POLLIN) not in brief.poll(_BRIEF_MS):
            stopped = self._follow(exited, stdin, job, started)
        os.close(exited)
        if stopped is not None:
            self._kill()
        _, wait_status, usage = os.wait4(pid, 0)
        wall_s = time.monotonic() - started
        self.end_all()
        for output in (self.stdout, self.stderr):
            self._drain(output)
            output.close()
        stdin.close()
        data.release()
        status = self._status(job, stopped, wait_status, usage.ru_maxrss << 10, usage.ru_utime + usage.ru_stime)
        return Verdict(status, os.waitstatus_to_exitcode(wait_status), wall_s, usage.ru_utime + usage.ru_stime)

    def _follow(self, exited: int, stdin: Input, job: Job, started: float) -> int | None:
        """Serve the pipes until the program ends (None) or must be ended (the status that earns)."""
        poll = select.poll()
        poll.register(_REQUESTS, 0)  # reports only that the other side has closed
        for fd in (exited, self.stdout.fd, self.stderr.fd):
            poll.register(fd, select.POLLIN)
        if stdin.fd >= 0:
            poll.register(stdin.fd, select.POLLOUT)
        deadline, sample = started + job.request.wall_s, started + watch.INTERVAL_S
        while True:
            now = time.monotonic()
            if now >= deadline:
                return wire.TIMEOUT
            if now >= sample:
                if (status := self._sample(job)) is not None:
                    return status
                sample = time.monotonic() + watch.INTERVAL_S
            events = {fd for fd, _ in poll.poll((min(deadline, sample) - now) * 1000)}
            if _REQUESTS in events:
                raise OwnerGoneError
            self._transfer(poll, events, stdin)
            if self.flooded:
                return wire.OUTPUT
            if exited in events:
                return None

    def _transfer(self, poll: select.poll, ready: set[int], stdin: Input) -> None:
        for output in (self.stdout, self.stderr):
            if output.fd in ready and not output.read():
                poll.unregister(output.fd)
        if stdin.fd in ready:
            poll.unregister(stdin.fd)
            if stdin.feed():
                poll.register(stdin.fd, select.POLLOUT)

    @property
    def flooded(self) -> bool:
        """Whether the program wrote more than it may."""
        return self.stdout.flooded or self.stderr.flooded

    def _sample(self, job: Job) -> int | None:
        """The status of a program that is over a limit which only looking at it can hold."""
        request, pids = job.request, watch.descendants()
        if watch.cpu_s(pids) >= request.cpu_s:
            return wire.TIMEOUT
        if self._out_of_memory(pids, request.memory_bytes):
            return wire.MEMORY
        if watch.overfull(job.folder):
            return wire.OUTPUT
        return wire.ERROR if watch.threads(pids) > request.processes else None

    def _out_of_memory(self, pids: list[int], limit_bytes: int) -> bool:
        """Whether the processes together were stopped at their limit or, without a cgroup, are seen above it."""
        if self._group is not None:
            return self._group.kills() > self._kills
        return len(pids) > 1 and watch.memory_bytes(pids, limit_bytes) > limit_bytes

    def _kill(self) -> None:
        for pid in (-1,) if self._alone else watch.descendants():
            try:
                os.kill(pid, SIGKILL)
            except (ProcessLookupError, PermissionError):  # it ended; of all, some are not ours
                pass

    def end_all(self) -> None:
        """Kill and reap whatever a program has left running."""
        while True:
            try:
                left = os.waitpid(-1, os.WNOHANG)[0] == 0
            except ChildProcessError:
                return
            if left:
                self._kill()
                os.waitpid(-1, 0)

    @staticmethod
    def _drain(output: Output) -> None:
        """Read what the pipe still holds; it has no writer left."""
        if output.flooded:
            return
        poll = select.poll()
        poll.register(output.fd, select.POLLIN)
        while poll.poll(0) and output.read():
            pass

    def _status(self, job: Job, stopped: int | None, wait_status: int, peak_bytes: int, cpu_s: float) -> int:
        code, request = os.waitstatus_to_exitcode(wait_status), job.request
        if not job.entered[0]:
            return wire.LOST
        if stopped is not None:
            return stopped
        if self.flooded or (code != 0 and watch.overfull(job.folder)):  # it may have failed for want of room
            return wire.OUTPUT
        if self._group is not None and self._group.kills() > self._kills:
            return wire.MEMORY
        if cpu_s > request.cpu_s:  # between two samples
            return wire.TIMEOUT
        if code == 1 and self.stderr.last_line_starts_with(b"MemoryError"):
            return wire.MEMORY
        # nobody here sent that SIGKILL: it is the kernel's, out of memory; other signals are a crash on the way there
        if code == -SIGKILL or (code < 0 and peak_bytes > _NEARLY_FULL * request.memory_bytes):
            return wire.MEMORY
        return wire.OK if code == 0 else wire.ERROR

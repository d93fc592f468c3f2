"""What a fork of the runner becomes: it takes over the pipes, sets its limits, enters the cage, runs the program.

Nothing is imported or opened here that could have been before the fork: this is the time that every program pays.
"""

from __future__ import annotations

import marshal
import os
import resource
import sys

from . import program, wire
from .confine import STDLIB_FD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mmap import mmap
    from types import CodeType
    from typing import NoReturn

    from .cgroup import Group
    from .confine import Confinement

UNCONFINED = 97  # exit code of a fork that never reached its program
OPEN_FILES = 64


class Request:
    """The header of a request; see `wire.REQUEST`."""

    __slots__ = (
        "body_bytes", "cpu_s", "kind", "memory_bytes", "output_bytes", "processes", "stdin_bytes", "wall_s",
    )  # fmt: skip

    def __init__(  # noqa: PLR0917  # in the order of the wire
        self,
        kind: int,
        body_bytes: int,
        stdin_bytes: int,
        cpu_s: float,
        wall_s: float,
        memory_bytes: int,
        processes: int,
        output_bytes: int,
    ) -> None:
        """Sizes in bytes, times in seconds."""
        self.kind, self.body_bytes, self.stdin_bytes = kind, body_bytes, stdin_bytes
        self.cpu_s, self.wall_s, self.memory_bytes = cpu_s, wall_s, memory_bytes
        self.processes, self.output_bytes = processes, output_bytes


class Job:
    """What a fork inherits for one program."""

    __slots__ = ("base_bytes", "confinement", "entered", "folder", "group", "inbox", "kept", "request")

    def __init__(  # noqa: PLR0917  # made in one place
        self,
        request: Request,
        inbox: mmap,
        kept: mmap | None,
        folder: str,
        base_bytes: int,
        confinement: Confinement | None,
        entered: mmap,
        group: Group | None,
    ) -> None:
        """Take it together.

        Args:
            request: limits and sizes.
            inbox: body, then standard input.
            kept: marshalled (source, code) of an earlier request.
            folder: where the program may write.
            base_bytes: address space of the runner itself.
            confinement: the cage, where the runner makes one.
            entered: one byte, shared with the supervisor: 1 once the cage is closed and only the program can fail.
            group: the memory cgroup of programs, where there is one.
        """
        self.request, self.inbox, self.kept, self.folder = request, inbox, kept, folder
        self.base_bytes, self.confinement, self.entered, self.group = base_bytes, confinement, entered, group


def become(job: Job, stdin: int, stdout: int, stderr: int) -> NoReturn:
    """Run the program of a job, then end the process. Called in the fork; never returns."""
    code = UNCONFINED
    try:
        os.setsid()
        os.dup2(stdin, 0)
        os.dup2(stdout, 1)
        os.dup2(stderr, 2)
        _limit(job.request, job.confinement)
        if job.confinement is not None:
            job.confinement.enter()
        source, kept, argv = _unpack(job)
        if job.group is not None:
            job.group.enter()  # only now: what a program is given costs it no memory
        job.entered[0] = 1
        job.entered.close()  # out of reach: a program may not claim that its cage failed
        _close_descriptors(job.confinement)
        code = _run(job, source, kept, argv)
    except BaseException as error:  # noqa: BLE001  # the boundary of a process: it is told on stderr and ends here
        sys.__excepthook__(type(error), error, error.__traceback__)
    finally:
        os._exit(code)


def _limit(request: Request, confinement: Confinement | None) -> None:
    seconds = int(request.cpu_s) + 2  # the supervisor is more exact; this holds where it is starved
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    if confinement is not None and confinement.others_counted is not None:
        most = request.processes + confinement.others_counted
        resource.setrlimit(resource.RLIMIT_NPROC, (most, most))


def _close_descriptors(confinement: Confinement | None) -> None:
    first_to_close = 3
    if confinement is not None and confinement.library is not None:
        os.dup2(confinement.library, STDLIB_FD)
        first_to_close = STDLIB_FD + 1
    os.closerange(first_to_close, OPEN_FILES)


def _unpack(job: Job) -> tuple[str, CodeType | None, tuple[str, ...]]:
    """A program's source, its code where that is kept, and its arguments; its files are written."""
    request = job.request
    source, files, argv = marshal.loads(memoryview(job.inbox)[: request.body_bytes])
    code = None
    if request.kind == wire.RUN_KEPT and job.kept is not None:
        source, code = marshal.loads(job.kept)
        job.kept.close()
    job.inbox.close()  # it would count as the program's memory
    for name, text in files:
        with open(name, "w", encoding="utf-8", errors="replace", newline="") as file:
            file.write(text)
    return source, code, argv


def _run(job: Job, source: str, code: CodeType | None, argv: tuple[str, ...]) -> int:
    """The exit code of the program, or of compiling it."""
    request = job.request
    program.limit_memory(job.base_bytes + request.memory_bytes)
    if request.kind == wire.COMPILE:
        return program.run_compiler(source, job.folder)
    return program.run_main(source, code, argv, job.folder)

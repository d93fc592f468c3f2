"""What a fork of the runner becomes: it takes over the pipes, sets its limits, enters the cage, runs the program.

Nothing is imported or opened here that could have been before the fork: this is the time that every program pays.
"""

import marshal
import os
import resource
import traceback
from mmap import mmap
from typing import NamedTuple, NoReturn

from . import program, wire
from .confine import STDLIB_FD, Confinement

UNCONFINED = 97  # exit code of a fork that never reached its program
OPEN_FILES = 64


class Request(NamedTuple):
    """The header of a request; see `wire.REQUEST`."""

    kind: int
    body_bytes: int
    stdin_bytes: int
    cpu_s: float
    wall_s: float
    memory_bytes: int
    processes: int
    output_bytes: int


class Job(NamedTuple):
    """What a fork inherits for one program."""

    request: Request
    inbox: mmap  # body, then standard input
    kept: mmap | None  # marshalled (source, code) of an earlier request
    folder: str
    base_bytes: int  # address space of the runner itself
    confinement: Confinement | None
    entered: mmap  # one byte, shared with the supervisor: 1 once the cage is closed


def become(job: Job, stdin: int, stdout: int, stderr: int) -> NoReturn:
    """Run the program of a job, then end the process. Called in the fork; never returns."""
    code = UNCONFINED
    try:
        os.setsid()
        os.dup2(stdin, 0)
        os.dup2(stdout, 1)
        os.dup2(stderr, 2)
        _limit(job.request, job.confinement)
        _confine(job.confinement)
        job.entered[0] = 1
        job.entered.close()  # out of reach: a program may not claim that its cage failed
        code = _run(job)
    except BaseException:  # noqa: BLE001  # the boundary of a process: whatever it was is told on stderr and ends here
        traceback.print_exc()
    finally:
        os._exit(code)


def _limit(request: Request, confinement: Confinement | None) -> None:
    seconds = int(request.cpu_s) + 2  # the supervisor is more exact; this holds where it is starved
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    if confinement is not None and confinement.counts_processes:
        resource.setrlimit(resource.RLIMIT_NPROC, (request.processes, request.processes))


def _confine(confinement: Confinement | None) -> None:
    first_to_close = 3
    if confinement is not None:
        confinement.enter()
        if confinement.library is not None:
            os.dup2(confinement.library, STDLIB_FD)
            first_to_close = STDLIB_FD + 1
    os.closerange(first_to_close, OPEN_FILES)


def _run(job: Job) -> int:
    """The exit code of the program, or of compiling it."""
    kind, body_bytes, _, _, _, memory_bytes, _, _ = job.request
    source, files, argv = marshal.loads(memoryview(job.inbox)[:body_bytes])
    code = None
    if kind == wire.RUN_KEPT and job.kept is not None:
        source, code = marshal.loads(job.kept)
        job.kept.close()
    job.inbox.close()  # it would count as the program's memory
    for name, text in files:
        with open(name, "w", encoding="utf-8", errors="replace", newline="") as file:
            file.write(text)
    program.limit_memory(job.base_bytes + memory_bytes)
    if kind == wire.COMPILE:
        return program.run_compiler(source)
    return program.run_main(source, code, argv, job.folder)

"""Programs to frames and replies to outcomes: the sandbox's side of `runner.wire`, and checks on what users give."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from llm_envs.sandbox.base import Outcome, Program, Status
from llm_envs.sandbox.runner import wire

COMPILE_ONCE_FROM = 4096  # characters of code that need not be compiled again, to be worth one fork (about 1 us each)


def checked(program: Program) -> Program:
    """The program, if it can be run at all; else ValueError with the field, its value and what is allowed."""
    for name in ("cpu_s", "wall_s"):
        value = getattr(program, name)
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"Program.{name}={value!r}: must be a finite number of seconds above 0")
    for name, least in (("memory_mb", 1), ("processes", 1), ("output_bytes", 0)):
        value = getattr(program, name)
        if value < least:
            raise ValueError(f"Program.{name}={value!r}: must be at least {least}")
    for name, _ in program.files:
        if name in ("", ".", "..") or "/" in name or "\0" in name:
            raise ValueError(f"Program.files: {name!r} must be a plain file name, without folders")
    return program


@dataclass(frozen=True, slots=True)
class Step:
    """One request of a batch."""

    kind: int
    program: Program
    frame: bytes


Key = tuple[str, float, float, int, int]


def compilation_key(program: Program) -> Key:
    """Programs with equal keys can share one compilation: the same code under the same limits."""
    return (program.code, program.cpu_s, program.wall_s, program.memory_mb, program.processes)


def plan(programs: Sequence[Program], kept: Key | None) -> list[Step]:
    """The requests for a batch. Neighbours of equal code are compiled once, where that pays; `kept` already is."""
    steps: list[Step] = []
    for key, group in groupby(programs, compilation_key):
        same = list(group)
        if key != kept:
            worth = (len(same) - 1) * len(same[0].code) >= COMPILE_ONCE_FROM
            kept = key if worth else None
            if worth:
                steps.append(_step(wire.COMPILE, same[0]))
        steps += (_step(wire.RUN if kept is None else wire.RUN_KEPT, program) for program in same)
    return steps


def _step(kind: int, program: Program) -> Step:
    if kind == wire.COMPILE:
        body, stdin = wire.pack((program.code,)), b""
    else:
        body = wire.pack(("" if kind == wire.RUN_KEPT else program.code, program.files, program.argv))
        stdin = program.stdin.encode(errors="replace")
    header = wire.REQUEST.pack(
        kind,
        len(body),
        len(stdin),
        program.cpu_s,
        program.wall_s,
        program.memory_mb << 20,
        program.processes,
        program.output_bytes,
    )
    return Step(kind, program, header + body + stdin)


def read_reply(read_exactly: Callable[[int], bytes]) -> Outcome | None:
    """The next outcome; None where the kept code was asked for and there is none."""
    header = wire.REPLY.unpack(read_exactly(wire.REPLY.size))
    status, truncated, exit_code, wall_s, cpu_s, stdout_bytes, stderr_bytes = header
    stdout = read_exactly(stdout_bytes).decode(errors="replace")
    stderr = read_exactly(stderr_bytes).decode(errors="replace")
    if status == wire.NOT_COMPILED:
        return None
    return Outcome(Status(wire.STATUSES[status]), exit_code, stdout, stderr, wall_s, cpu_s, bool(truncated))

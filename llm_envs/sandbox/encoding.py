"""Programs to frames and replies to outcomes: the sandbox's side of `runner.wire`, and checks on what users give."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from llm_envs.sandbox.base import Outcome, Program, Status
from llm_envs.sandbox.runner import wire
from llm_envs.sandbox.runner.watch import FOLDER_BYTES

COMPILE_ONCE_FROM = 4096  # characters of code that need not be compiled again, to be worth one fork (about 1 us each)


_DAY_S = 86_400.0
_BOUNDS = {"memory_mb": (1, 1 << 24), "processes": (1, 1 << 22), "output_bytes": (0, 1 << 30)}


def checked(program: Program) -> Program:
    """The program, if it can be run at all; else ValueError with the field, its value and what is allowed."""
    for name in ("cpu_s", "wall_s"):
        seconds = getattr(program, name)
        if not 0 < seconds <= _DAY_S:
            raise ValueError(f"Program.{name}={seconds!r}: must be seconds above 0 and at most {_DAY_S:.0f}")
    for name, (least, most) in _BOUNDS.items():
        number = getattr(program, name)
        if not (isinstance(number, int) and least <= number <= most):
            raise ValueError(f"Program.{name}={number!r}: must be a whole number from {least} to {most}")
    for name, _ in program.files:
        if name in ("", ".", "..") or "/" in name or "\0" in name or len(name.encode(errors="replace")) > 255:
            raise ValueError(
                f"Program.files: {name!r} must be a plain file name, without folders, of 255 bytes at most"
            )
    if (size := sum(len(text) for _, text in program.files)) > FOLDER_BYTES:
        raise ValueError(
            f"Program.files: {size} characters in all: must be at most {FOLDER_BYTES}, what a folder may hold"
        )
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


def worth_compiling_once(programs: Iterable[Program]) -> frozenset[Key]:
    """Which codes come so often, and are so long, that one compilation saves more than the fork that it takes."""
    times = Counter(map(compilation_key, programs))
    return frozenset(key for key, count in times.items() if (count - 1) * len(key[0]) >= COMPILE_ONCE_FROM)


def plan(programs: Sequence[Program], kept: Key | None, compile_once: Collection[Key]) -> list[Step]:
    """The requests for a batch: code that is among `compile_once` is compiled and kept, unless it is `kept` already."""
    steps: list[Step] = []
    for program in programs:
        key = compilation_key(program)
        if key != kept:
            kept = key if key in compile_once else None
            if kept is not None:
                steps.append(_step(wire.COMPILE, program))
        steps.append(_step(wire.RUN if kept is None else wire.RUN_KEPT, program))
    return steps


def _step(kind: int, program: Program) -> Step:
    if kind == wire.COMPILE:
        body, stdin = wire.pack((program.code, (), ())), b""
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

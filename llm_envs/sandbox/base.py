"""What a sandbox is: programs go in, outcomes come out.

The harness decides what an outcome is worth; a sandbox only reports what happened. Nothing here imports more than the
standard library, so that any environment can name a `Program` without starting a cage.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, runtime_checkable


class Status(StrEnum):
    """How a program ended. `LOST` means that the cage died: it is never the program's fault and never a verdict."""

    OK = "ok"
    ERROR = "error"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    OUTPUT = "output"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Program:
    """A Python program and the limits it runs under. Equal programs (all fields) may share one run within a batch.

    Attributes:
        code: Python source, run as `__main__`.
        stdin: text the program reads from its standard input.
        files: name -> text, written into the working directory before the start (flat names, no folders).
        argv: arguments after `sys.argv[0]`.
        cpu_s: CPU seconds allowed.
        wall_s: wall-clock seconds allowed, counted from the start of the program and not from its place in a queue.
        memory_mb: address space allowed, in MiB.
        processes: processes and threads allowed, the program itself included.
        output_bytes: bytes allowed on stdout and stderr, each.
    """

    code: str
    stdin: str = ""
    files: tuple[tuple[str, str], ...] = ()
    argv: tuple[str, ...] = ()
    cpu_s: float = 5.0
    wall_s: float = 10.0
    memory_mb: int = 256
    processes: int = 8
    output_bytes: int = 1 << 20


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a program did: streams are decoded as UTF-8 with replacement and cut at `Program.output_bytes`."""

    status: Status
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    wall_s: float = 0.0
    cpu_s: float = 0.0
    truncated: bool = False


class SandboxError(RuntimeError):
    """The sandbox itself failed (engine gone, cage lost twice, platform not able). Never to be turned into a reward."""


@runtime_checkable
class Sandbox(Protocol):
    """Runs programs in a cage. Safe to call from any thread and from any event loop, several at once.

    `guarantees` names what the cage holds: a subset of {'files', 'network', 'processes', 'memory', 'memory_tree',
    'kernel'}. Every method raises `SandboxError` where a cage was lost and lost again on the retry.
    """

    name: str
    guarantees: frozenset[str]

    def run(self, programs: Sequence[Program]) -> list[Outcome]:
        """Run programs, blocking; outcomes in the order of the programs."""
        ...

    async def arun(self, programs: Sequence[Program]) -> list[Outcome]:
        """The same without blocking the event loop."""
        ...

    def close(self) -> None:
        """Stop every cage and leave nothing behind. A second call does nothing."""
        ...

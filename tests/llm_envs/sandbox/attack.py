"""Bounded attacks on a cage. Standard library only: they also run where nothing else is installed.

Each program tries one thing that a guarantee rules out, and prints a line that starts with BREACH where it succeeds.
An attack that never came to its end, or did not even start, proves nothing: it prints `tried` when it is through, or
must be stopped with the status given.
"""

from dataclasses import dataclass, field

from llm_envs.sandbox.base import Outcome, Program, Status
from tests.llm_envs.sandbox.target import Target


@dataclass(frozen=True)
class Attack:
    """One hostile program.

    Attributes:
        name: what it tries.
        guarantee: which guarantee rules it out; empty where every sandbox does, whatever else it holds.
        code: the program, with `{places}` of `Target` in braces of the form `<name>`.
        stopped: the statuses that also mean that it failed.
        limits: fields of the program that differ from `LIMITS`.
    """

    name: str
    guarantee: str
    code: str
    stopped: frozenset[Status] = frozenset()
    limits: dict[str, object] = field(default_factory=dict)

    def program(self, target: Target) -> Program:
        """The program, aimed."""
        code = self.code
        for name, value in target.places().items():
            code = code.replace(f"<{name}>", value)
        return Program(f"{PRELUDE}{code}\nprint('tried')\n", **{**LIMITS, **self.limits})  # type: ignore[arg-type]

    def held(self, outcome: Outcome) -> bool:
        """Whether the cage kept its guarantee."""
        if "BREACH" in outcome.stdout or "BREACH" in outcome.stderr:
            return False
        if outcome.status in self.stopped:
            return True
        return outcome.status is Status.OK and "tried" in outcome.stdout


LIMITS: dict[str, object] = {"cpu_s": 5.0, "wall_s": 30.0, "memory_mb": 256, "processes": 8}
PRELUDE = """
import ctypes, os, socket, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def attempt(what, do):
    try:
        result = do()
    except (OSError, ValueError, MemoryError, ImportError) as error:
        print("refused", what, error)
    else:
        print("BREACH", what, repr(result)[:200])
def call(what, number, *arguments):
    #A raw system call: any answer but 'not you' and 'no such call' means that it was let through
    arguments = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    refused = libc.syscall(ctypes.c_long(number), *arguments) < 0 and ctypes.get_errno() in (1, 13, 38)
    print("refused" if refused else f"BREACH errno {ctypes.get_errno()}", what)
"""

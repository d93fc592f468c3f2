"""The few system calls that Python's `os` does not offer, through the C library already in the process."""

from __future__ import annotations

import ctypes
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

SIGKILL, SIGTERM = 9, 15
PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


class Call:
    """A call with its arguments converted beforehand: forks make it, and have no time for that. Raises OSError."""

    __slots__ = ("_arguments", "_function", "_name")

    def __init__(self, name: str, function: Callable[..., int], *arguments: object) -> None:
        """`name` is for the error."""
        self._name, self._function, self._arguments = name, function, arguments

    def __call__(self) -> int:
        """Make it."""
        result = self._function(*self._arguments)
        if result < 0:
            error = ctypes.get_errno()
            raise OSError(error, f"{self._name}: {os.strerror(error)}")
        return result


def prctl(option: int, argument: int, pointer: int = 0) -> Call:
    """An operation on this process; unused arguments are zero, as the kernel demands."""
    numbers = map(ctypes.c_ulong, (argument, pointer, 0, 0))
    return Call(f"prctl {option}", _libc.prctl, ctypes.c_int(option), *numbers)


def syscall(number: int, *arguments: object) -> Call:
    """A raw system call; arguments are ctypes values, so that none is cut to 32 bits."""
    return Call(f"system call {number}", _libc.syscall, ctypes.c_long(number), *arguments)


def named(what: str, function: str, *arguments: object) -> None:
    """Call a function of the C library once; `what` is for the error. Raises OSError."""
    Call(what, getattr(_libc, function), *arguments)()


def give_up_capabilities() -> None:
    """Keep no privilege that a root uid may bring along (capset of nothing, version 3). Raises OSError."""
    header, nothing = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    Call("capset", _libc.capset, header, nothing)()


def use_one_heap() -> None:
    """Let threads share one heap; by default each reserves 64 MiB or more of a limited address space (glibc only)."""
    if hasattr(_libc, "mallopt"):
        _libc.mallopt(-8, 1)  # M_ARENA_MAX

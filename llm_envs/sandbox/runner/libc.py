"""The few system calls that Python's `os` does not offer, through the C library already in the process."""

import ctypes
import os

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

_libc = ctypes.CDLL(None, use_errno=True)
_libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
_libc.syscall.restype = ctypes.c_long


def _checked(result: int, what: str, number: int | None = None) -> int:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what} {'' if number is None else number}: {os.strerror(error)}")
    return result


def prctl(option: int, argument: int, pointer: int = 0) -> None:
    """An operation on this process; unused arguments are zero, as the kernel demands. Raises OSError."""
    _checked(_libc.prctl(option, argument, pointer, 0, 0), "prctl", option)


def syscall(number: int, *arguments: object) -> int:
    """A raw system call; arguments are ctypes values, so that none is cut to 32 bits. Raises OSError."""
    return _checked(_libc.syscall(ctypes.c_long(number), *arguments), "system call", number)


def give_up_capabilities() -> None:
    """Keep no privilege that a root uid may bring along (capset of nothing, version 3). Raises OSError."""
    header, nothing = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    _checked(_libc.capset(header, nothing), "capset")


def use_one_heap() -> None:
    """Let threads share one heap; by default each reserves 64 MiB or more of a limited address space (glibc only)."""
    if hasattr(_libc, "mallopt"):
        _libc.mallopt(-8, 1)  # M_ARENA_MAX

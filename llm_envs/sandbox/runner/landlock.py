"""Landlock: an unprivileged process gives up access to files, TCP, and processes outside its domain, for good.

Numbers and structures: linux/landlock.h; the three calls have the same numbers on every architecture. What each ABI
version added: 1 files (Linux 5.13), 2 moving files between folders, 3 truncating, 4 TCP, 5 device ioctl, 6 signals and
abstract sockets. `stat`, `chmod`, `chdir` and unix sockets with a path are not covered: the system-call filter is.
"""

import ctypes
import os
import stat

from . import libc

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446
_RULE_PATH_BENEATH = 1
_NO_FLAGS = ctypes.c_uint32(0)

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, REMOVE_DIR, REMOVE_FILE = (1 << bit for bit in range(6))
MAKE_CHAR, MAKE_DIR, MAKE_REG, MAKE_SOCK, MAKE_FIFO, MAKE_BLOCK, MAKE_SYM = (1 << bit for bit in range(6, 13))
REFER, TRUNCATE, IOCTL_DEV = (1 << bit for bit in range(13, 16))
TCP = 0b11
ABSTRACT_SOCKETS, SIGNALS = 0b01, 0b10

READ = READ_FILE | READ_DIR
READ_WRITE = READ | WRITE_FILE | TRUNCATE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_SYM | REFER
_ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def abi() -> int:
    """The version that the kernel offers; 0 where it has none or has it switched off."""
    try:
        return libc.syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))()
    except OSError:
        return 0


def _handled_files(version: int) -> int:
    return (1 << 13 + (version >= 2) + (version >= 3) + (version >= 5)) - 1


def create(version: int, *, files: bool = True) -> int:
    """A ruleset that refuses all this version can refuse (without `files`, only signals and abstract sockets)."""
    rules = _Ruleset(
        _handled_files(version) if files else 0,
        TCP if files and version >= 4 else 0,
        ABSTRACT_SOCKETS | SIGNALS if version >= 6 else 0,
    )
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    return libc.syscall(_CREATE, ctypes.byref(rules), ctypes.c_size_t(size), _NO_FLAGS)()


def allow(ruleset: int, version: int, path: str, rights: int) -> None:
    """Let the path, and all below it, be used with these rights; a path that is not there is left out."""
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        rights &= _handled_files(version)
        if not stat.S_ISDIR(os.fstat(handle).st_mode):
            rights &= _ON_FILES
        rule = _PathBeneath(rights, handle)
        arguments = (ctypes.c_int(ruleset), ctypes.c_int(_RULE_PATH_BENEATH), ctypes.byref(rule), _NO_FLAGS)
        libc.syscall(_ADD_RULE, *arguments)()
    finally:
        os.close(handle)


def restrict(ruleset: int) -> libc.Call:
    """To enter the ruleset's domain, with every later child; needs no_new_privs. There is no way back."""
    return libc.syscall(_RESTRICT, ctypes.c_int(ruleset), _NO_FLAGS)

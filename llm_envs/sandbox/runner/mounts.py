"""Mounts and namespaces: the system calls behind them, with errors that name what was tried.

Numbers: linux/sched.h, linux/mount.h; mount_setattr has the same number on every architecture (Linux 5.12).
"""

from __future__ import annotations

import ctypes
import os

from . import libc

NEW_NAMESPACE, NEW_CGROUP, NEW_UTS, NEW_IPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000  # the first: of mounts
NEW_USER, NEW_PID, NEW_NET = 0x10000000, 0x20000000, 0x40000000
NO_SUID, NO_DEVICES, NO_EXECUTION = 2, 4, 8  # the same bits in mount and mount_setattr
_READ_ONLY = 1  # of mount_setattr
_BIND, _RECURSIVE, _PRIVATE, _DETACH = 0x1000, 0x4000, 1 << 18, 2
_MOUNT_SETATTR, _HERE, _BELOW_TOO = 442, -100, 0x8000


class _Attributes(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "user_namespace"))


def unshare(flags: int) -> None:
    """Leave namespaces for new ones; a new one of processes is entered by the next child. Raises OSError."""
    libc.named("unshare", "unshare", ctypes.c_int(flags))


def name_host(name: str) -> None:
    """Name the machine, as far as this namespace goes. Raises OSError."""
    text = name.encode()
    libc.named("sethostname", "sethostname", text, ctypes.c_size_t(len(text)))


def keep_to_ourselves() -> None:
    """Let no later mount of ours be seen outside, nor one of theirs here. Raises OSError."""
    _mount("none", "/", None, _RECURSIVE | _PRIVATE)


def mount_new(kind: str, place: str, flags: int, options: str) -> None:
    """A fresh file system. Raises OSError."""
    _mount(kind, place, kind, flags, options)


def bind_read_only(source: str, place: str, flags: int) -> None:
    """Show a file or a folder, with what is mounted below it, at a place that exists. Raises OSError."""
    _mount(source, place, None, _BIND | _RECURSIVE)
    set_read_only(place, flags, below_too=True)


def set_read_only(place: str, flags: int, *, below_too: bool = False) -> None:
    """Allow no change to files any more (devices and pipes still take what is written). Raises OSError."""
    attributes = _Attributes(_READ_ONLY | flags, 0, 0, 0)
    arguments = (
        ctypes.c_int(_HERE),
        ctypes.c_char_p(os.fsencode(place)),
        ctypes.c_uint(_BELOW_TOO if below_too else 0),
        ctypes.byref(attributes),
        ctypes.c_size_t(ctypes.sizeof(attributes)),
    )
    libc.named(f"mount_setattr {place}", "syscall", ctypes.c_long(_MOUNT_SETATTR), *arguments)


def change_root(new: str, old: str) -> None:
    """Make a mounted folder the root, and find the old root in a folder inside it. Raises OSError."""
    number = ctypes.c_long(155)  # pivot_root on x86_64, without a wrapper in the C library
    libc.named(f"pivot_root {new}", "syscall", number, os.fsencode(new), os.fsencode(f"{new}/{old}"))
    os.chdir("/")


def detach(place: str) -> None:
    """Take away a mount and all below it, at once and for good. Raises OSError."""
    libc.named(f"umount {place}", "umount2", os.fsencode(place), ctypes.c_int(_DETACH))


def _mount(source: str, place: str, kind: str | None, flags: int, options: str = "") -> None:
    texts = (os.fsencode(source), os.fsencode(place), None if kind is None else kind.encode())
    libc.named(f"mount {source} on {place}", "mount", *texts, ctypes.c_ulong(flags), options.encode())

"""Emptying a program's folder at constant depth, since a hostile one may be nested deeper than any path is long."""

from __future__ import annotations

import os
import stat
from itertools import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def wipe(folder: str) -> None:
    """Delete all that is below the folder, which stays. Nothing may be writing into it any more. Raises OSError."""
    if not os.listdir(folder):
        return
    top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    fresh = map(f"{os.urandom(8).hex()}-{{}}".format, count()).__next__  # names that the program cannot have taken
    try:
        while names := os.listdir(top):
            for name in names:
                try:
                    os.unlink(name, dir_fd=top)  # a symbolic link goes, never what it points at
                except IsADirectoryError:
                    _flatten(top, name, fresh)
    finally:
        os.close(top)


def _flatten(top: int, name: str, fresh: Callable[[], str]) -> None:
    """Delete one folder; those inside it are lifted to the top."""
    try:
        _lift(top, name, fresh)
    except PermissionError:  # closed even to their owner, by a system call that only a container may leave open
        _open_up(top, name)
        _lift(top, name, fresh)


def _lift(top: int, name: str, fresh: Callable[[], str]) -> None:
    inner = os.open(name, _FOLDER, dir_fd=top)
    try:
        for child in os.listdir(inner):
            try:
                os.unlink(child, dir_fd=inner)
            except IsADirectoryError:
                os.rename(child, fresh(), src_dir_fd=inner, dst_dir_fd=top)
    finally:
        os.close(inner)
    os.rmdir(name, dir_fd=top)


def _open_up(top: int, name: str) -> None:
    os.chmod(name, 0o700, dir_fd=top)
    inner = os.open(name, _FOLDER, dir_fd=top)
    try:
        for child in os.listdir(inner):
            if stat.S_ISDIR(os.stat(child, dir_fd=inner, follow_symlinks=False).st_mode):
                os.chmod(child, 0o700, dir_fd=inner)
    finally:
        os.close(inner)

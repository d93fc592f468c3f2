"""Emptying a program's folder at constant depth, since a hostile one may be nested deeper than any path is long."""

from __future__ import annotations

import os
from itertools import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


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
    """Delete one folder, which its owner may always use (see `syscalls`); those inside it are lifted to the top."""
    inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=top)
    try:
        for child in os.listdir(inner):
            try:
                os.unlink(child, dir_fd=inner)
            except IsADirectoryError:
                os.rename(child, fresh(), src_dir_fd=inner, dst_dir_fd=top)
    finally:
        os.close(inner)
    os.rmdir(name, dir_fd=top)

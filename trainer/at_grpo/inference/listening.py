"""Who listens at a port of this machine, by what Linux's /proc says."""

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

_TABLES = tuple(Path(f"/proc/net/{name}") for name in ("tcp", "tcp6"))
_LISTENS = "0A"  # the state of such a socket, `TCP_LISTEN` in the kernel


def listens(processes: Collection[int], port: int) -> bool:
    """Whether one of these processes listens at a port. True where there is nothing to read it from.

    A port that was free may have been taken by another program before the process that it is meant for has come so
    far; what then answers there is somebody else.
    """
    tables = [path for path in _TABLES if path.exists()]
    return not tables or bool(_sockets_at(tables, port) & set().union(*map(_sockets_of, processes)))


def _sockets_at(tables: Collection[Path], port: int) -> set[str]:
    """Inodes of the sockets that listen at a port; see proc_pid_net(5)."""
    lines = (line.split() for path in tables for line in path.read_text().splitlines()[1:])
    return {words[9] for words in lines if words[3] == _LISTENS and int(words[1].rpartition(":")[2], 16) == port}


def _sockets_of(process: int) -> set[str]:
    """Inodes of the sockets that a process has open; none where it has ended."""
    found = set()
    with suppress(OSError):
        for path in Path(f"/proc/{process}/fd").iterdir():
            with suppress(OSError):  # it was closed
                found.add(str(path.readlink()).removeprefix("socket:[").removesuffix("]"))
    return found

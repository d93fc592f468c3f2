"""Which processes belong to a server: those that were started with its folder in their environment."""

import os
from pathlib import Path


def of(folder: Path) -> list[int]:
    """The server that has its sockets in this folder and its workers; the keeper, whose child it is, is not among
    them, nor is a process that has ended and was not asked about yet.
    """
    mark = f"VLLM_RPC_BASE_PATH={folder}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            environment = (path / "environ").read_bytes().split(b"\0")
            command = (path / "cmdline").read_bytes()
        except OSError:  # it has ended, or is another user's
            continue
        if mark in environment and b"keeper.py" not in command and command:
            found.append(int(path.name))
    return sorted(found)


def leaders(folder: Path) -> list[int]:
    """The server's own process: the one that leads its session."""
    return [process for process in of(folder) if process == _session(process)]


def _session(process: int) -> int:
    try:
        return os.getsid(process)
    except ProcessLookupError:
        return -1


def parent(process: int) -> int:
    """The process that started it."""
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])

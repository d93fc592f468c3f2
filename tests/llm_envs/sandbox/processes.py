"""What is running, read from /proc."""

import os
import time
from collections.abc import Callable
from pathlib import Path


def children(pid: int | None = None) -> dict[int, str]:
    """Every descendant of a process (this one by default) and its state, `Z` for a zombie."""
    parents: dict[int, tuple[int, str]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            except (FileNotFoundError, ProcessLookupError):
                continue
            parents[int(entry.name)] = (int(parent), state)
    found: dict[int, str] = {}
    pending = [os.getpid() if pid is None else pid]
    while pending:
        above = pending.pop()
        for process, (parent, state) in parents.items():
            if parent == above:
                found[process] = state
                pending.append(process)
    return found


def alive(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def eventually(condition: Callable[[], bool], seconds: float = 30) -> bool:
    """Whether it becomes true in that time; the bound is for a hang, not for speed."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return condition()

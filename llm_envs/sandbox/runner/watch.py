"""What no limit of the kernel holds without a cgroup: the size of a whole process tree, and of a folder. Sampled.

Between two samples (`INTERVAL_S`) a program may overshoot; it is stopped at the next one.
"""

import os
import time

INTERVAL_S = 0.05
FOLDER_BYTES = 64 << 20
FOLDER_ENTRIES = 1024
_PAGE = os.sysconf("SC_PAGESIZE")


def descendants() -> list[int]:
    """Every live process below this one. A subreaper has them all, since orphans become its children."""
    found = _children(os.getpid())
    for pid in found:  # grows as it is walked: breadth first
        found += _children(pid)
    return found


def _children(pid: int) -> list[int]:
    pids: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                pids += map(int, file.read().split())
    except (FileNotFoundError, ProcessLookupError):  # it ended meanwhile
        pass
    return pids


def threads(pids: list[int]) -> int:
    """Processes and their threads, counted as the limit counts them."""
    total = 0
    for pid in pids:
        try:
            total += len(os.listdir(f"/proc/{pid}/task"))
        except (FileNotFoundError, ProcessLookupError):
            pass
    return total


def cpu_s(pids: list[int]) -> float:
    """CPU seconds of the live processes."""
    total = 0.0
    for pid in pids:
        try:
            total += time.clock_gettime((~pid << 3) | 2)  # the kernel's name for the CPU clock of another process
        except OSError:
            pass
    return total


def memory_bytes(pids: list[int], limit: int) -> int:
    """Memory of the processes together. Pages shared after a fork count once where the kernel lets us see that.

    Resident pages are quick to read and an upper bound; only where they exceed the limit is the exact share read.
    """
    resident = sum(_resident_bytes(pid) for pid in pids)
    return resident if resident <= limit else sum(_proportional_bytes(pid) for pid in pids)


def _resident_bytes(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            fields = file.read().split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return (int(fields[1]) - int(fields[2])) * _PAGE


def _proportional_bytes(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            lines = file.read().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    except PermissionError:
        return _resident_bytes(pid)
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(b"Pss_Anon:"))


def overfull(folder: str) -> bool:
    """Whether the folder holds more than a program may leave there, or something that cannot be measured."""
    size = entries = 0
    pending = [folder]
    while pending:
        try:
            with os.scandir(pending.pop()) as listed:
                for entry in listed:
                    entries += 1
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    else:
                        size += entry.stat(follow_symlinks=False).st_blocks * 512
                    if size > FOLDER_BYTES or entries > FOLDER_ENTRIES:
                        return True
        except FileNotFoundError:  # deleted meanwhile
            continue
        except OSError:  # deeper than a path is long, or closed to us
            return True
    return False

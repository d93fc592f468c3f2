"""A memory cgroup for the programs of one slot: the kernel counts and bounds what all their processes hold together.

The runner stays in the cgroup of its owner and each fork moves itself into this one, so that a lack of memory ends
programs and never the runner. Works with both versions of cgroups, wherever a folder may be made: below one's own in
version 1; in version 2, where only leaves hold processes, beside one's own.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time

PREFIX = "llm-envs-sandbox-"
_ENDING_S = 5.0  # a process that has been reaped may stay in its cgroup for a moment
_LIMIT = {1: "memory.limit_in_bytes", 2: "memory.max"}
_EVENTS = {1: "memory.oom_control", 2: "memory.events"}
# no swapping instead of failing; the killer is on, even where it is switched off above; it ends a program as a whole
_SETTINGS = {
    1: (("memory.swappiness", b"0"), ("memory.oom_control", b"0")),
    2: (("memory.swap.max", b"0"), ("memory.oom.group", b"1")),
}


class Place:
    """A folder of the cgroup file system in which memory cgroups can be made."""

    __slots__ = ("folder", "version")

    def __init__(self, folder: str, version: int) -> None:
        """`version`: 1 or 2."""
        self.folder, self.version = folder, version


def find() -> Place | None:
    """Where this process may make cgroups; None where there is no such place."""
    try:
        with (
            open("/proc/self/cgroup", encoding="utf-8") as own,
            open("/proc/self/mountinfo", encoding="utf-8") as mounts,
        ):
            places = candidates(own.read(), mounts.read())
    except FileNotFoundError:  # a kernel without cgroups
        return None
    for place in places:
        writable = os.access(place.folder, os.W_OK) and os.access(f"{place.folder}/cgroup.procs", os.W_OK)
        if writable and (place.version == 1 or _passes_memory_on(place.folder)):
            return place
    return None


def candidates(own: str, mounts: str) -> list[Place]:
    """Where to look, nearest first, after the texts of /proc/self/cgroup and /proc/self/mountinfo (cgroups(7))."""
    kinds = {
        controllers: path
        for _, controllers, path in (line.split(":", 2) for line in own.splitlines())
        if controllers == "" or "memory" in controllers.split(",")
    }
    found: list[Place] = []
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        root, point = left.split()[3:5]
        kind, _, options = right.split()[:3]
        for controllers, path in kinds.items():
            version = 1 if controllers else 2
            if kind != ("cgroup", "cgroup2")[version - 1] or (version == 1 and "memory" not in options.split(",")):
                continue
            if (below := _below(path, root)) is None:
                continue
            found += [Place(point + folder, version) for folder in _upwards(below)[: 1 if version == 1 else None]]
    return found


def _below(path: str, root: str) -> str | None:
    """A cgroup's path as seen in a mount that shows what is below `root`; None where it does not show it."""
    if root == "/":
        return None if path.startswith("/..") else path.rstrip("/")
    return path[len(root) :].rstrip("/") if f"{path}/".startswith(f"{root}/") else None


def _upwards(path: str) -> list[str]:
    """A path without a slash at its end, and those above it up to the empty one."""
    parts = path.split("/")
    return ["/".join(parts[:length]) for length in range(len(parts), 0, -1)]


def _passes_memory_on(folder: str) -> bool:
    with open(f"{folder}/cgroup.subtree_control", encoding="utf-8") as file:
        return "memory" in file.read().split()


class Group:
    """One cgroup of ours. It is locked while anybody who made or inherited this object lives."""

    def __init__(self, place: Place, name: str) -> None:
        """Make one called `name`, after removing those whose makers have ended without doing so. Raises OSError."""
        _sweep(place.folder)
        self.folder = f"{place.folder}/{PREFIX}{name}"
        self._lock = _make(self.folder)
        for setting, value in _SETTINGS[place.version]:
            try:
                _write(f"{self.folder}/{setting}", value)
            except FileNotFoundError:  # a kernel without swap, or before the setting
                pass
        self._processes = os.open(f"{self.folder}/cgroup.procs", os.O_WRONLY)
        self._limit = os.open(f"{self.folder}/{_LIMIT[place.version]}", os.O_WRONLY)
        self._events = os.open(f"{self.folder}/{_EVENTS[place.version]}", os.O_RDONLY)
        self._limit_bytes = -1

    def limit(self, size_bytes: int) -> None:
        """Bound what its processes hold together, from now on. Raises OSError."""
        if size_bytes != self._limit_bytes:
            os.write(self._limit, b"%d" % size_bytes)
            self._limit_bytes = size_bytes

    def enter(self) -> None:
        """Move the calling process in. Raises OSError."""
        os.write(self._processes, b"0")

    def kills(self) -> int:
        """How many processes the kernel has ended for a lack of memory so far."""
        for line in os.pread(self._events, 4096, 0).splitlines():
            name, _, count = line.partition(b" ")
            if name == b"oom_kill":
                return int(count)
        return 0

    def remove(self) -> None:
        """Remove it; its processes have ended. Raises OSError where one has not."""
        end = time.monotonic() + _ENDING_S
        while True:
            try:
                os.rmdir(self.folder)
            except OSError as error:
                if error.errno != errno.EBUSY or time.monotonic() > end:
                    raise
                time.sleep(0.002)
            else:
                os.close(self._lock)
                return


def _make(path: str) -> int:
    """A new cgroup; the lock on it."""
    while True:
        os.mkdir(path)
        try:
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:  # somebody swept here before we had locked it
            continue
        if _locked(lock) and os.path.isdir(path):
            return lock
        os.close(lock)


def _sweep(folder: str) -> None:
    """Remove the cgroups that nobody holds any more: of a runner that was killed together with its owner."""
    for name in os.listdir(folder):
        if not name.startswith(PREFIX):
            continue
        path = f"{folder}/{name}"
        try:
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:  # somebody else was quicker, or it is another user's
            continue
        try:
            if _locked(lock):
                os.rmdir(path)
        except OSError:  # the last of its processes is still ending, or it is another user's
            pass
        finally:
            os.close(lock)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _write(path: str, value: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, value)
    finally:
        os.close(descriptor)

"""Whose a container is: written on it as labels, so that whoever comes later can tell a dead owner from a living one.

A process is known by its number only within one process namespace of one boot of one machine, and by its start time
even there, since numbers are used again. So all of these are on the label.
"""

import os
import platform
import sys
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

CAGE = "llm-envs.sandbox"
HOST = f"{CAGE}.host"
_PID = f"{CAGE}.pid"
_STARTED = f"{CAGE}.started"
_ON_LINUX = sys.platform == "linux"


@dataclass(frozen=True, slots=True)
class Owner:
    """A process that owns containers.

    Attributes:
        host: boot and process namespace in which `pid` has a meaning; elsewhere the machine.
        pid: its number there.
        started: when it started, in ticks since boot; empty where the system does not tell.
    """

    host: str
    pid: int
    started: str

    def labels(self, token: str) -> dict[str, str]:
        """What to write on the container of this token."""
        return {CAGE: token, HOST: self.host, _PID: str(self.pid), _STARTED: self.started}

    @property
    def alive(self) -> bool:
        """Whether it runs; asked only where its host is ours. In doubt it does."""
        if _ON_LINUX:
            return _started(self.pid) == self.started
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass
        return True


def current() -> Owner:
    """This process."""
    return Owner(_host(), os.getpid(), _started(os.getpid()))


def of(labels: Mapping[str, str]) -> tuple[str, Owner]:
    """The token and the owner that labels tell. Raises KeyError, ValueError for labels that are none of ours."""
    return labels[CAGE], Owner(labels[HOST], int(labels[_PID]), labels[_STARTED])


def _host() -> str:
    if _ON_LINUX:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{Path('/proc/self/ns/pid').readlink()}"
    return f"{platform.node()}/{uuid.getnode():x}"


def _started(pid: int) -> str:
    """The start time of a process, empty where there is none (or no way to know). A zombie has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return "" if fields[0] == "Z" else fields[19]

"""The `locked` cage: what an unprivileged process can lock itself into, so that it works in containers, too.

Needs Linux 5.13 or newer with Landlock switched on, and x86_64. No root, no namespace, no package. Each program runs in
a fork of a warm runner that has given up, before the first line of the program:

- `files` (Landlock): it reads the Python library, shared libraries and time zones, and writes into a folder of its own,
  which is emptied after it. No home, no checkout, no /etc, no /proc. It can start no other program.
- `network` (system-call filter): no sockets but a connected pair, so no container engine's or key agent's either.
- `processes`: it neither signals nor traces anything but its own processes (Landlock from ABI 6 on, else its own uid,
  else the filter lets it signal itself only), has no more of them than it may, and none outlives it.
- `memory`: the address space of each process is limited.
- `memory_tree`: the memory of all its processes is sampled every 50 ms. So are CPU and wall time, the size of its
  folder and, where programs run under the caller's own uid, the number of processes and threads. A program may
  overshoot between two samples.

Where the caller is root, each slot has an unused uid; then the kernel counts processes and threads exactly.

Not held: `kernel`. The kernel is shared, and a hole in it is a way out. Beyond that: that a file exists, its size and
its times can be learned by `stat`; files that were deleted while open are bounded one by one (64 MiB) and not together;
the clock, the load of the machine and the kernel's version are visible.

Programs are Python without site-packages and without locks shared by processes (`multiprocessing.Pool`), which take
shared memory. The hash seed is fixed: a program that prints a set prints it the same way in every slot.
"""

import os
import random
import sys
import tempfile
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from llm_envs.sandbox.base import SandboxError
from llm_envs.sandbox.cage import Cage, RunnerProcess
from llm_envs.sandbox.imports import Imports
from llm_envs.sandbox.pool import RECYCLE_AFTER, PooledSandbox
from llm_envs.sandbox.runner import wire

GUARANTEES = frozenset({"files", "network", "processes", "memory", "memory_tree"})
_NEWEST_ABI = 6
WRITABLE = ("/dev/null", "/dev/full")
_READABLE = (
    *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/usr/share/zoneinfo", "/etc/localtime"),
    *("/dev/zero", "/dev/random", "/dev/urandom"),
)
_CAPABILITIES_TO_DROP = (0, 1, 5, 6, 7)  # CHOWN DAC_OVERRIDE KILL SETGID SETUID
_UIDS = range(1 << 30, (1 << 31) - 1)  # beyond all that systems hand out
_ELSEWHERE = "run it on Linux on x86_64, or name the sandbox `unsafe` for programs that you trust"


def unavailable() -> str | None:
    """Why there is no `locked` cage here, and what would help; None where there is one."""
    if sys.platform != "linux":
        return f"it needs Linux and this is {sys.platform}: {_ELSEWHERE}"
    if os.uname().machine != "x86_64":
        return f"its system-call filter knows x86_64 only and this is {os.uname().machine}: {_ELSEWHERE}"
    from llm_envs.sandbox.runner import landlock  # its system calls exist on Linux only

    if landlock.abi() == 0:
        return "the kernel has no Landlock: it takes Linux 5.13 or newer, booted with `landlock` in the list `lsm=`"
    if not Path(f"/proc/self/task/{os.getpid()}/children").exists():
        return "it watches its programs through /proc/*/task/*/children: mount /proc (CONFIG_PROC_CHILDREN)"
    return None


def remark() -> str:
    """Under whose uid programs run."""
    if unused_uid() is None:
        return "under your own uid: the number of processes is sampled"
    return "each slot under an unused uid"


class LockedSandbox(PooledSandbox):
    """Programs under Landlock, a system-call filter and limits. See the module for what that holds and what not."""

    def __init__(
        self, *, slots: int | None = None, recycle_after: int = RECYCLE_AFTER, newest_abi: int = _NEWEST_ABI
    ) -> None:
        """Start nothing yet. Raises SandboxError where the platform is not able.

        Args:
            slots: programs at once; the number of usable cores by default.
            recycle_after: programs after which a slot's process is replaced.
            newest_abi: use no newer version of Landlock than this, as on an older kernel.
        """
        if reason := unavailable():
            raise SandboxError(f"the sandbox 'locked' is not available: {reason}")
        super().__init__("locked", GUARANTEES, partial(_start, newest_abi), slots=slots, recycle_after=recycle_after)


def _start(newest_abi: int, imports: Imports) -> Cage:
    from llm_envs.sandbox.runner.confine import passable

    uid = unused_uid()
    confinement: dict[str, wire.Value] = {
        "readable": tuple(readable_paths()),
        "writable": WRITABLE,
        "uid": uid,
        "newest_abi": newest_abi,
    }
    # the folder is called by its path, too: another uid must be able to get there
    places = (tempfile.gettempdir(), "/tmp", "/var/tmp")  # noqa: S108  # mkdtemp makes the folder
    place = next((place for place in places if uid is not None and passable(place)), None)
    preload = imports.usual
    config: dict[str, wire.Value] = {"confinement": confinement, "preload": tuple(sorted(preload))}
    return RunnerProcess(config, place, outdated=lambda: not imports.usual <= preload)


def readable_paths() -> list[str]:
    """All that a program may read outside its folder: what a Python without site-packages needs, wherever it lies."""
    library = Path(os.__file__).resolve().parent
    return [str(library), str(Path(sys.base_prefix).resolve() / "lib"), *_READABLE]


def unused_uid() -> int | None:
    """A uid for one slot, if we may change to it; None where programs must run under our own.

    Random, since processes are counted by uid over the whole machine, whoever started them, in containers too.
    """
    if os.geteuid() != 0 or not holds_capabilities(_CAPABILITIES_TO_DROP):
        return None
    mapped = [range(int(first), int(first) + int(count)) for first, _, count in _uid_map()]
    if any(_UIDS[0] in block and _UIDS[-1] in block for block in mapped):
        return random.SystemRandom().choice(_UIDS)
    largest = max(mapped, key=len)
    return random.SystemRandom().choice(largest[len(largest) // 2 :]) if len(largest) > 2000 else None


def holds_capabilities(numbers: Iterable[int]) -> bool:
    """Whether this process may use all of them (linux/capability.h)."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    effective = int(status["CapEff"], 16)
    return all(effective >> number & 1 for number in numbers)


def _uid_map() -> list[list[str]]:
    return [line.split() for line in Path("/proc/self/uid_map").read_text().splitlines()]

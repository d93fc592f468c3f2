"""The `native` cage: Linux namespaces, entered once per slot, around the runner that `locked` has, too.

Needs Linux 5.12 or newer on x86_64 and the right to make namespaces: root with CAP_SYS_ADMIN, or a system that lets its
users make user namespaces. No package, no helper program. An ordinary container grants neither right.

Each slot is a tree of processes with a root of its own, built from nothing:

- `files`: the Python library, shared libraries and time zones are there, read-only, and a folder in memory of 64 MiB
  and 1,024 names, which is emptied after each program. Nothing else has a name, so nothing else is found, not even by
  `stat`. Where the kernel has Landlock, that stands behind it as a second wall.
- `network`: a network without any device, and no sockets but a connected pair (system-call filter).
- `processes`: a program sees only the processes of its slot: its own and the runner, which it can neither signal nor
  trace. All end with the program, and with the owner, by the kernel's own doing. The kernel counts them and their
  threads exactly: under a uid that the slot has to itself, or in its own user namespace (Linux 5.14; before, sampled).
- `memory`: the address space of each process is limited.
- `memory_tree`: where a memory cgroup can be made (by root; with version 2 by users, too, to whom one is delegated),
  the kernel bounds all processes of a program together, and the files in its folder with them, at 16 MiB more than a
  program may have: a Python's own. Elsewhere their memory is sampled every 50 ms, and a program may overshoot between
  two samples. `remark()` tells which.

Under root, each slot has an unused uid; a user's programs run under the user's own, in a user namespace where it owns
nothing. Neither runner nor program has a capability left, or a way to gain one.

Not held: `kernel`. The kernel is shared, and a hole in it is a way out; the system-call filter of `locked` keeps most
of it out of reach. The clock, the load of the machine, the kernel's version, and the paths at which Python and this
package are installed are visible.

Programs are what they are in `locked`: Python without site-packages, with a fixed hash seed.
"""

import os
import sys
from functools import cache, partial
from pathlib import Path

from llm_envs.sandbox.base import SandboxError
from llm_envs.sandbox.cage import Cage, CageLostError, RunnerProcess
from llm_envs.sandbox.imports import Imports
from llm_envs.sandbox.locked import WRITABLE, holds_capabilities, readable_paths, unused_uid
from llm_envs.sandbox.pool import RECYCLE_AFTER, PooledSandbox
from llm_envs.sandbox.runner import wire

GUARANTEES = frozenset({"files", "network", "processes", "memory", "memory_tree"})
_NEWEST_ABI = 6  # of Landlock
_CAP_SYS_ADMIN = 21
_INSIDE = "/tmp"  # noqa: S108  # of the cage's own root: nothing of it is on the host
_COUNTED_FROM = (5, 14)  # processes are counted by user namespace
_SWITCHES = (
    ("/proc/sys/user/max_user_namespaces", "0", "set the sysctl user.max_user_namespaces above 0"),
    ("/proc/sys/kernel/unprivileged_userns_clone", "0", "set the sysctl kernel.unprivileged_userns_clone to 1"),
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "set the sysctl kernel.apparmor_restrict_unprivileged_userns to 0",
    ),
)
_ELSEWHERE = "name the sandbox `locked`, which needs no such right, or `docker`"


def unavailable() -> str | None:
    """Why there is no `native` cage here, and what would help; None where there is one. Tries it, once a process."""
    if sys.platform != "linux":
        return f"it needs Linux and this is {sys.platform}: name the sandbox `docker`"
    if os.uname().machine != "x86_64":
        return f"its system-call filter knows x86_64 only and this is {os.uname().machine}: name the sandbox `docker`"
    try:
        return _refusal()
    except (CageLostError, OSError) as error:  # perhaps only now: not remembered
        return f"it does not start: {error}"


@cache
def _refusal() -> str | None:
    """What a cage that is started says against it."""
    try:
        _start(_NEWEST_ABI, Imports()).close()
    except SandboxError as error:
        return f"{error}: {_advice()}"
    return None


def _advice() -> str:
    """What stands in the way of namespaces, as far as it can be seen."""
    for path, value, remedy in _SWITCHES:
        if Path(path).exists() and Path(path).read_text().strip() == value:
            return f"{remedy}, or {_ELSEWHERE}"
    return f"containers usually forbid namespaces (Docker allows them with `--privileged`): {_ELSEWHERE}"


def remark() -> str:
    """With which rights the namespaces are made, and who watches the memory."""
    from llm_envs.sandbox.runner import cgroup  # it exists on Linux only

    rights = "in a user namespace" if _own_uid() is None else "each slot under an unused uid"
    place = cgroup.find()
    memory = "memory_tree is sampled" if place is None else f"memory_tree by a cgroup of version {place.version}"
    return f"{rights}; {memory}"


class NativeSandbox(PooledSandbox):
    """Programs in namespaces of their own. See the module for what that holds and what not."""

    def __init__(
        self, *, slots: int | None = None, recycle_after: int = RECYCLE_AFTER, newest_abi: int = _NEWEST_ABI
    ) -> None:
        """Start nothing yet. Raises SandboxError where the platform is not able.

        Args:
            slots: programs at once; the number of usable cores by default.
            recycle_after: programs after which a slot's namespaces and processes are replaced.
            newest_abi: use no newer version of Landlock than this; 0 is a kernel without it.
        """
        if reason := unavailable():
            raise SandboxError(f"the sandbox 'native' is not available: {reason}")
        super().__init__("native", GUARANTEES, partial(_start, newest_abi), slots=slots, recycle_after=recycle_after)


def _start(newest_abi: int, imports: Imports) -> Cage:
    uid = _own_uid()
    readable = tuple(readable_paths())
    confinement: dict[str, wire.Value] = {
        "readable": readable,
        "writable": WRITABLE,
        "uid": None,  # the runner itself has given up all that programs must not have
        "newest_abi": newest_abi,
        "others_counted": _others_counted(uid),
    }
    preload = imports.usual
    config: dict[str, wire.Value] = {
        "namespaces": {"uid": uid, "shown": (*readable, *WRITABLE)},
        "confinement": confinement,
        "preload": tuple(sorted(preload)),
    }
    return RunnerProcess(config, _INSIDE, outdated=lambda: not imports.usual <= preload)


def _own_uid() -> int | None:
    """A uid for one slot; None where a user namespace must do instead."""
    return unused_uid() if holds_capabilities([_CAP_SYS_ADMIN]) else None


def _others_counted(uid: int | None) -> int | None:
    """Processes that the kernel counts beside a program's: the runner and, in a user namespace, the one outside."""
    if uid is not None:
        return 1
    release = tuple(int(part) for part in os.uname().release.split("-")[0].split(".")[:2])
    # the system's root is never counted
    return 2 if release >= _COUNTED_FROM and os.geteuid() != 0 else None

"""The cage of one program, prepared once in the runner and entered in every fork. What it holds is in `locked`."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` would bring `enum` along
import os
import sys

from . import landlock, libc, seccomp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

STDLIB_FD = 3  # where a program keeps the handle of a standard library that it could not reach by its path


def passable(path: str) -> bool:
    """Whether everybody may pass through a folder and all above it."""
    path = os.path.realpath(path)
    return bool(os.stat(path).st_mode & 0o001) and (path == "/" or passable(os.path.dirname(path)))


def own_library() -> tuple[str, str]:
    """Where this Python's modules are, and the shared libraries beside them."""
    return os.path.realpath(os.path.dirname(os.__file__)), f"{os.path.realpath(sys.base_prefix)}/lib"


class Confinement:
    """Give up uid, files, network, other processes and most system calls, in that order."""

    def __init__(
        self,
        folder: str,
        readable: Sequence[str],
        writable: Sequence[str],
        uid: int | None,
        newest_abi: int,
        *,
        others_counted: int | None = None,
        contained: bool = False,
        filtered: bool = True,
    ) -> None:
        """Prepare the rules; raises OSError where the kernel or the machine lacks what they need.

        Args:
            folder: the only folder a program may write into.
            readable: files and folders open for reading, beside this Python's own library.
            writable: devices open for writing, too.
            uid: the uid and gid that programs run under; None keeps the runner's own.
            newest_abi: use no newer version of Landlock than this.
            others_counted: processes that the kernel counts together with a program's where `uid` is None; None where
                it would count any number of them.
            contained: a container is around us: what can be seen is its own, and we share its memory with programs.
            filtered: whether system calls are filtered here; else the container does it.
        """
        self._uid = uid
        self._abi = min(landlock.abi(), newest_abi)
        self._walled = os.getpid() == 1  # namespaces hold what Landlock would, so it may be missing
        if self._abi == 0 and not self._walled:
            raise OSError("Landlock is missing: it takes Linux 5.13 or newer with `landlock` among the active LSMs")
        self.scoped = self._abi >= 6
        self._contained, self._filtered = contained, filtered
        if filtered:
            self._allow_list = seccomp.AllowList(unused_uid=uid is not None, below_init=self._walled)
        libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)()
        self._restrict = self._rules(folder, (*own_library(), *readable), writable)
        if uid is not None:
            os.setgroups([])
            os.chown(folder, uid, uid)
        else:
            libc.give_up_capabilities()  # of a root that cannot change its uid
        self.library = self._keep_library_within_reach() if uid is not None else None
        self.others_counted = 0 if uid is not None else others_counted
        self._steps = self._plan()

    def enter_partly(self) -> bool:
        """Give up, in the runner, what it needs no more: most system calls and, where Landlock can, signals.

        Returns whether a signal to all processes reaches programs only.
        """
        if self.scoped:
            ruleset = landlock.create(self._abi, files=False)
            landlock.restrict(ruleset)()
            os.close(ruleset)
        if self._filtered:
            self._allow_list.install()
        try:
            os.kill(os.getppid(), 0)
        except PermissionError:
            return self.scoped
        return False

    def refusals(self) -> tuple[str, ...]:
        """Which of `serve`'s attempts a program must see refused."""
        held = {
            "list /": self._abi > 0 or not self._contained,
            "signal its parent": self._filtered or self.scoped,
            "start another program": self._filtered or self._abi > 0,
        }
        return tuple(attempt for attempt in held if held[attempt])

    def enter(self) -> None:
        """Close the rest of the cage around the calling process, for good. Raises OSError where any part fails."""
        for step in self._steps:
            step()

    def _plan(self) -> tuple[Callable[[], object], ...]:
        """What `enter` does, bound to its arguments: that leaves the least to do in a fork."""
        tie_to_runner = libc.prctl(libc.PR_SET_PDEATHSIG, libc.SIGKILL)
        if self._uid is None:
            be_measured = libc.prctl(libc.PR_SET_DUMPABLE, 1)  # by the runner, which has the same uid
            last: tuple[Callable[[], object], ...] = ()
            if self._walled:  # the runner has given up its handlers; a program starts with Python's own
                last = (lambda: _signal.signal(_signal.SIGINT, _signal.default_int_handler),)
            elif not self.scoped:
                last = (seccomp.OwnSignalsFilter().install,)
            first = (be_measured, _be_the_first_to_go) if self._contained else (be_measured,)
            return (*first, tie_to_runner, *self._restrict, *last)
        uid = self._uid
        return (
            *(lambda stream=stream: os.fchmod(stream, 0o666) for stream in range(3)),  # for /dev/stdin to open
            lambda: os.setresgid(uid, uid, uid),
            lambda: os.setresuid(uid, uid, uid),
            tie_to_runner,  # after the change of uid, which would clear it
            *self._restrict,
        )

    def _rules(self, folder: str, readable: Sequence[str], writable: Sequence[str]) -> tuple[Callable[[], object], ...]:
        """The step into Landlock's domain, if there is Landlock."""
        if self._abi == 0:
            return ()
        ruleset = landlock.create(self._abi)
        for path in readable:
            landlock.allow(ruleset, self._abi, path, landlock.READ)
        for path in writable:
            landlock.allow(ruleset, self._abi, path, landlock.READ_FILE | landlock.WRITE_FILE)
        landlock.allow(ruleset, self._abi, folder, landlock.READ_WRITE)
        return (landlock.restrict(ruleset),)

    def _keep_library_within_reach(self) -> int | None:
        """Import through an open handle where others may not pass the folders above the standard library.

        An interpreter below a home of mode 700 is the usual case. Needs /proc.
        """
        library = os.path.realpath(os.path.dirname(os.__file__))
        if passable(library):
            return None
        handle = os.open(library, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        reached = f"/proc/self/fd/{STDLIB_FD}"
        inside = [path for path in map(os.path.realpath, sys.path) if f"{path}/".startswith(f"{library}/")]
        sys.path[:] = [reached + path[len(library) :] for path in inside]
        for module in list(sys.modules.values()):
            for index, path in enumerate(getattr(module, "__path__", ())):
                if os.path.realpath(path).startswith(library):
                    module.__path__[index] = reached + os.path.realpath(path)[len(library) :]
        return handle


def _be_the_first_to_go() -> None:
    """When memory runs short in a container, let the kernel end a program and never the runner."""
    with open("/proc/self/oom_score_adj", "wb", 0) as file:
        file.write(b"1000")

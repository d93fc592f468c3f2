"""The `native` cage's walls: namespaces of its own for one slot, entered once, with the runner as their first process.

Two processes stand for a slot. The first stays outside: it waits for the second, ends it when the owner asks or dies,
and removes the cgroup, which nobody inside could reach. The second becomes the first process of new namespaces of
processes, mounts, network, System V objects, host names and cgroups; it builds its root from nothing, lets go of the
old one, and gives up its privileges for good. When it ends, the kernel ends all its programs and undoes every mount.

Signals: it leaves none to a handler, so the kernel lets nobody inside end it, under whatever uid they run.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` would bring `enum` along
import os
import stat
import sys

from . import cgroup, libc, mounts, watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType
    from typing import NoReturn

_ANY_FOLDER = "/proc"  # to build the new root on; what lies below is in reach again once the root has changed
_OLD_ROOT = "old-root"
_HOST_NAME = "sandbox"
# fuller than the runner allows, so that it sees a folder that is full
_FOLDER = f"size={watch.FOLDER_BYTES + (1 << 20)},nr_inodes={watch.FOLDER_ENTRIES + 64},mode=700"
_NOBODY = 65534


def enter(folder: str, uid: int | None, shown: Sequence[str]) -> cgroup.Group | None:
    """Go on in new namespaces, as their first process. Raises OSError where the system does not allow it.

    Args:
        folder: where to mount an empty file system for programs, of limited size.
        uid: what to run as inside, after a root that may change its uid; None for everybody else, who keep their uid in
            a user namespace of their own.
        shown: files, folders and devices to show inside, at their own paths; those that do not exist are left out.

    Returns:
        A memory cgroup for the programs; None where none can be made.
    """
    _signal.pthread_sigmask(_signal.SIG_BLOCK, (libc.SIGTERM,))  # it is to find us knowing all that we have started
    _signal.signal(libc.SIGTERM, _end)
    # this interpreter finds its library by the paths it began with, which may lead over symbolic links
    sources = {path: os.path.realpath(path) for path in _outermost([*shown, *sys.path]) if os.path.exists(path)}
    place = cgroup.find()
    group = None if place is None else cgroup.Group(place, os.path.basename(folder).rpartition("-")[2])
    try:
        if uid is None:
            _become_root_of_nothing_else()
        else:
            mounts.unshare(mounts.NEW_PID)
        # after the change of privileges, which takes a process that may be looked into, and clears the other setting
        libc.prctl(libc.PR_SET_DUMPABLE, 0)()
        libc.prctl(libc.PR_SET_PDEATHSIG, libc.SIGTERM)()
        first = os.fork()
    except BaseException:
        if group is not None:
            group.remove()
        raise
    if first != 0:
        _attend(first, group)
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (libc.SIGTERM,))
    mounts.unshare(mounts.NEW_NAMESPACE | mounts.NEW_NET | mounts.NEW_IPC | mounts.NEW_UTS | mounts.NEW_CGROUP)
    mounts.name_host(_HOST_NAME)
    inner_uid = uid if uid is not None else os.getuid()
    _build_root(folder, inner_uid, sources)
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    return group


def _end(_number: int, _frame: FrameType | None) -> None:
    _signal.signal(libc.SIGTERM, _signal.SIG_IGN)  # once is enough
    raise SystemExit


def _become_root_of_nothing_else() -> None:
    """Enter a user namespace, where we keep our uid and gid and have all capabilities; the next child is process 1."""
    uid, gid = os.getuid(), os.getgid()
    mounts.unshare(mounts.NEW_USER | mounts.NEW_PID)
    for name, text in (
        ("setgroups", "deny"),  # or a group that is denied something could be left
        ("uid_map", f"{uid or _NOBODY} {uid} 1"),
        ("gid_map", f"{gid or _NOBODY} {gid} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)


def _attend(first: int, group: cgroup.Group | None) -> NoReturn:
    """Wait for the first process inside, end it when we are asked to end, and leave nothing of it."""
    try:
        try:
            _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (libc.SIGTERM,))
            os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
        finally:
            _signal.signal(libc.SIGTERM, _signal.SIG_IGN)
    except SystemExit:
        os.kill(first, libc.SIGKILL)
    status = os.waitpid(first, 0)[1]
    if group is not None:
        group.remove()
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _build_root(folder: str, uid: int, sources: dict[str, str]) -> None:
    """A root that holds what is shown and nothing else, cannot be listed, and cannot be changed outside `folder`."""
    flags = mounts.NO_SUID | mounts.NO_DEVICES
    mask = os.umask(0o22)  # all may pass through its folders, whatever the owner's says
    mounts.keep_to_ourselves()
    mounts.mount_new("tmpfs", _ANY_FOLDER, flags, "size=1m,mode=111")
    os.mkdir(f"{_ANY_FOLDER}/{_OLD_ROOT}")
    mounts.change_root(_ANY_FOLDER, _OLD_ROOT)
    for path, source in sources.items():
        _show(path, f"/{_OLD_ROOT}{source}")
    _make_folder("/dev")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.symlink(f"/proc/self/fd/{number}", f"/dev/{name}")
    os.symlink("/proc/self/fd", "/dev/fd")
    _make_folder("/proc")
    # without hidepid: the runner, which has no privilege either, must see programs that hide their own memory
    mounts.mount_new("proc", "/proc", flags | mounts.NO_EXECUTION, "subset=pid")
    _make_folder(folder)
    mounts.mount_new("tmpfs", folder, flags, f"{_FOLDER},uid={uid},gid={uid}")
    mounts.detach(f"/{_OLD_ROOT}")
    os.rmdir(f"/{_OLD_ROOT}")
    mounts.set_read_only("/", 0)
    os.umask(mask)


def _outermost(paths: Sequence[str]) -> list[str]:
    """The paths that do not lie below another one."""
    return [path for path in dict.fromkeys(paths) if not any(path.startswith(f"{other}/") for other in paths)]


def _show(path: str, source: str) -> None:
    mode = os.stat(source).st_mode
    if stat.S_ISDIR(mode):
        _make_folder(path)
    else:
        _make_folder(os.path.dirname(path))
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o444))
    unwanted = mounts.NO_EXECUTION if stat.S_ISCHR(mode) else mounts.NO_DEVICES
    mounts.bind_read_only(source, path, mounts.NO_SUID | unwanted)


def _make_folder(path: str) -> None:
    """With those above it, none of which can be listed."""
    if not os.path.isdir(path):
        _make_folder(os.path.dirname(path))
        os.mkdir(path, 0o111)

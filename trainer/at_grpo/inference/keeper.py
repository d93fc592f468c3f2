"""Keeps a server for as long as the run lives that wants it: a program of its own, made of the standard library alone.

A run that dies by SIGKILL ends nothing itself. Its end of a pipe is closed whatever it dies of, and then this program
ends the server, the server's workers, and the folder of its sockets. Workers that have left the server's session, or
whose parent has died, are found as well: Linux makes orphans the children of this program. What this program itself
leaves when it is killed carries the folder's name in its environment (`marked`), by which the run finds it.

    python keeper.py FOLDER COMMAND...      # until standard input ends, or the command does
"""

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from types import FrameType

MARK = "AT_GRPO_SERVER_FOLDER"  # in the environment of a server and of all that it starts
GRACE_S = 10.0  # between the signal that asks for an end and the one that makes it
POLL_S = 0.05
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None  # loaded before any fork, where loading could deadlock


def main(folder: str, command: Sequence[str]) -> int:
    """Run a command in a session of its own; SIGTERM ends it.

    Args:
        folder: removed when standard input ends; it stays where the command ends by itself, and may be started again.
        command: and its arguments.

    Returns:
        its exit status; 128 and the number of the signal that it died of, as a shell gives it.
    """
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1)  # workers whose server has died become children of this process
    server = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=_end_with_parent,  # noqa: PLW1509  # one call of libc, before there are threads
    )
    unwanted = threading.Event()

    def wait_for_the_end_of_the_run() -> None:
        os.read(sys.stdin.fileno(), 1)  # nothing is ever written
        unwanted.set()
        os.kill(os.getpid(), signal.SIGTERM)

    def end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  # the signature of a handler
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, end)
    threading.Thread(target=wait_for_the_end_of_the_run, daemon=True).start()
    try:
        status = server.wait()
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        end_all(lambda: descendants(os.getpid()), GRACE_S)  # its workers may outlive it
        _reap(server)
        if unwanted.is_set():
            shutil.rmtree(folder, ignore_errors=True)
    return status if status >= 0 else 128 - status


# ---- which processes there are, by what /proc says


def descendants(root: int) -> set[int]:
    """The processes below one, whatever their session; those that have ended and wait to be asked about are none."""
    children: dict[int, list[int]] = {}
    for process, state, parent in _processes():
        if state not in "ZX":
            children.setdefault(parent, []).append(process)
    found: set[int] = set()
    left = children.get(root, [])
    while left:
        process = left.pop()
        found.add(process)
        left.extend(child for child in children.get(process, []) if child not in found)
    return found


def marked(folder: str) -> set[int]:
    """The processes of the server of this folder, wherever their parents are."""
    mark, found = f"{MARK}={folder}".encode(), set()
    for process, state, _ in _processes():
        with contextlib.suppress(OSError):  # it has ended, or is another user's
            if state not in "ZX" and mark in Path(f"/proc/{process}/environ").read_bytes().split(b"\0"):
                found.add(process)
    return found


def _processes() -> Iterator[tuple[int, str, int]]:
    """Process id, state and parent of every process."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended
            state, parent = path.read_text(errors="replace").rpartition(")")[2].split()[:2]
            yield int(path.parent.name), state, int(parent)


# ---- ending them


def end_all(find: Callable[[], Collection[int]], grace_s: float) -> None:
    """Ask the processes that are found to end, wait until none is found any more, and kill what is left after a while.

    The last one to end removes the memory that they shared, so it must not be killed as soon as the first one is gone.
    """
    patient = time.monotonic() + grace_s
    deadline = patient + GRACE_S  # of what not even SIGKILL ends, since the kernel itself waits in it
    _send(signal.SIGTERM, find())
    while (left := find()) and time.monotonic() < deadline:
        if time.monotonic() >= patient:
            _send(signal.SIGKILL, left)
        time.sleep(POLL_S)


def _send(number: int, processes: Collection[int]) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)


def _reap(server: "subprocess.Popen[bytes]") -> None:
    """Ask about those that have ended, the server first: whoever asks for any child could take its status away."""
    if server.poll() is not None:
        with contextlib.suppress(ChildProcessError):
            while os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG):
                pass


def _end_with_parent() -> None:
    """In the child: be terminated when this program dies, even by SIGKILL."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))

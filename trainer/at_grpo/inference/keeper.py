"""Keeps a server for as long as the run lives that wants it: a program of its own, made of the standard library alone.

A run that dies by SIGKILL ends nothing itself. Its end of a pipe is closed whatever it dies of, and then this program
ends the server, the server's workers, and the folder of its sockets.

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
from collections.abc import Sequence
from types import FrameType

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
        end_session(server)  # its workers may outlive it
        if unwanted.is_set():
            shutil.rmtree(folder, ignore_errors=True)
    return status if status >= 0 else 128 - status


def end_session(leader: "subprocess.Popen[bytes]") -> None:
    """Ask a process and those in its group to end, wait until all have, and kill what is left after `GRACE_S`.

    The last one to end removes the memory that they shared, so it must not be killed as soon as the leader is gone.
    """
    deadline = time.monotonic() + GRACE_S
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader.pid, signal.SIGTERM)
        while time.monotonic() < deadline:
            _reap(leader)
            os.killpg(leader.pid, 0)
            time.sleep(POLL_S)
        os.killpg(leader.pid, signal.SIGKILL)


def _reap(leader: "subprocess.Popen[bytes]") -> None:
    """Ask about those that have ended, who count as there until somebody does: the leader, and workers it has left."""
    leader.poll()
    with contextlib.suppress(ChildProcessError):
        while os.waitid(os.P_PGID, leader.pid, os.WEXITED | os.WNOHANG):
            pass


def _end_with_parent() -> None:
    """In the child: be terminated when this program dies, even by SIGKILL."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))

"""A vLLM server as a child process: started, waited for, watched, restarted when it dies or hangs, and ended with us.

It listens on a socket of the file system, so that no port can be taken by another program between its choice and its
use, and nobody on the network reaches it. What ends it when this process is killed is `keeper`; when it has to be
replaced is said by `vitals`.
"""

import asyncio
import contextlib
import logging
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from at_grpo.inference import keeper
from at_grpo.inference.base import SamplerError
from at_grpo.inference.endpoint import UNIX, Endpoint
from at_grpo.inference.plan import ServerPlan
from at_grpo.inference.vitals import HEALTH_S, Health, Vitals, health

logger = logging.getLogger(__name__)

STOP_S = keeper.GRACE_S + 10.0
POLL_S = 0.25
_SIGNALS = frozenset(signal.Signals)
_REASON = re.compile(r"\w+Error: \S")  # the last line of a traceback
_START = "--- start at"  # in a log, which goes on where the server is started again


def launch(
    plan: ServerPlan, address: Sequence[str], folder: Path, output: IO[bytes] | None = None
) -> "subprocess.Popen[bytes]":
    """Start a server under a keeper, which ends it when our end of the keeper's standard input is closed.

    Args:
        plan: what to start.
        address: options that say where to listen.
        folder: for sockets; the keeper removes it at the end.
        output: for all that the server says; None for our own standard output and error.

    Raises:
        OSError: the process can't be started.
    """
    return subprocess.Popen(
        [sys.executable, "-I", "-S", keeper.__file__, str(folder), *plan.command(address)],
        # vLLM names its processes by setproctitle, which by itself would overwrite the mark
        env={**plan.environment(), "VLLM_RPC_BASE_PATH": str(folder), keeper.MARK: str(folder), "SPT_NOENV": "1"},
        stdin=subprocess.PIPE,
        stdout=output,
        stderr=None if output is None else subprocess.STDOUT,
        start_new_session=True,  # Ctrl-C is for us, who then end the server
    )


def end(process: "subprocess.Popen[bytes]", folder: Path) -> None:
    """End what `launch` started, and everything that it started."""
    if process.stdin is not None:
        process.stdin.close()
    settle(process, folder)


def settle(process: "subprocess.Popen[bytes]", folder: Path) -> None:
    """Wait for the end of a server that has been told to end; nothing of it is there afterwards.

    Its keeper may fail at that: one that hangs is killed, after all that it kept, which is below it for as long as it
    exists; one that was killed has ended nothing, but left a mark on all that it kept.
    """
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        keeper.end_all(lambda: keeper.descendants(process.pid), grace_s=0.0)
        process.kill()
        process.wait()
    keeper.end_all(lambda: keeper.marked(str(folder)), keeper.GRACE_S)


class Server:
    """One server and the thread that watches it.

    Attributes:
        plan: what it is started with, be it again.
        endpoint: how to talk to it.
        prepare: makes a restarted server ready, by publishing what it has lost; requests wait until it returns.
    """

    def __init__(
        self,
        plan: ServerPlan,
        log: Path,
        *,
        make_endpoint: Callable[[str], Endpoint] = Endpoint,
        start_timeout_s: float = 600.0,
        restarts: int = 3,
        hang_s: float = 120.0,
    ) -> None:
        """Start the process; `wait_ready` waits until it answers.

        Args:
            plan: what to start.
            log: file for all that the server says.
            make_endpoint: url -> how to talk to it.
            start_timeout_s: seconds from the start to the first answer.
            restarts: how often it is started again when it dies or hangs, before its requests fail.
            hang_s: seconds without any answer after which it counts as hung.

        Raises:
            OSError: the process can't be started.
        """
        self.plan, self._log, self._start_timeout_s = plan, log, start_timeout_s
        self._restarts_left = restarts
        self._folder = Path(tempfile.mkdtemp(prefix="at-grpo-server-"))  # short: a socket's path has 107 bytes
        self.endpoint = make_endpoint(f"{UNIX}{self._folder / 'socket'}")
        self.prepare: Callable[[Endpoint], None] | None = None
        self._vitals, self._complaint = Vitals(self.endpoint, hang_s), ""
        self._closing = threading.Event()
        self._replacing = False  # a new plan waits for the watcher
        self._changing = threading.Lock()  # of the process: none is started once the server is being closed
        self._process = self._start()
        self._watcher = threading.Thread(target=self._watch, name="at-grpo-server-watch", daemon=True)

    def _start(self) -> "subprocess.Popen[bytes]":
        (self._folder / "socket").unlink(missing_ok=True)
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("ab") as log:
            log.write(f"\n{_START} {time.strftime('%Y-%m-%d %H:%M:%S')}\n".encode())
            log.flush()
            return launch(self.plan, ["--uds", str(self._folder / "socket")], self._folder, log)

    def wait_ready(self) -> None:
        """Return when it answers for the first time; it is watched from then on.

        Raises:
            SamplerError: it died, or did not answer in time; with what its log says.
        """
        self._wait_ready()
        self._watcher.start()

    def _wait_ready(self) -> None:
        deadline = time.monotonic() + self._start_timeout_s
        while health(self.endpoint.url, min(HEALTH_S, self._start_timeout_s)) is not Health.WELL:
            if self._process.poll() is not None:
                raise SamplerError(self._obituary())
            if time.monotonic() > deadline:
                raise SamplerError(
                    f"the vLLM server did not answer within {self._start_timeout_s:g} s "
                    f"(inference.start_timeout_s); its log is {self._log}"
                )
            time.sleep(POLL_S)

    # ---- watching, on a thread of its own

    def _watch(self) -> None:
        """Start a server again that is dead or hangs; when that was done too often, let its requests fail."""
        while self._wait_for_its_end():
            self.endpoint.pause()
            settle(self._process, self._folder)
            if not self._take_plan():
                reason = self._obituary()
                if self._restarts_left == 0:
                    self.endpoint.fail(f"{reason} It was restarted as often as inference.restarts allows.")
                    return
                self._restarts_left -= 1
                logger.warning("%s It is started again.", reason)
            try:
                self._restart()
            except OSError as error:  # nothing was started, and would not be the next time
                self.endpoint.fail(f"{self._obituary()} It can't be started again: {error}.")
                return
            except Exception as error:  # noqa: BLE001  # whatever it is must reach those who wait for this thread
                if self._process.poll() is None:
                    self.endpoint.fail(str(error))
                    return
                continue  # it died again: the same once more, while restarts are left
            with self._changing:
                if not self._replacing:
                    self.endpoint.resume()

    def _wait_for_its_end(self) -> bool:
        """Return when the process has ended or must be replaced (True), or is to be closed (False)."""
        self._complaint = ""
        while self._process.poll() is None:
            if self._closing.wait(POLL_S):
                return False
            self._complaint = self._vitals.complaint()
            if self._complaint or self._replacing:
                self._process.terminate()
                break
        return not self._closing.is_set()

    def _restart(self) -> None:
        with self._changing:
            if self._closing.is_set():
                return
            self._process = self._start()
        self._wait_ready()
        self._vitals.begin()
        if self.prepare is not None:
            self.prepare(self.endpoint)

    def replace(self, plan: ServerPlan) -> None:
        """Have the process ended and another one started by a new plan. Requests wait meanwhile; those that are being
        answered are lost. It is no restart of those that are allowed. `wait_replaced` waits for its end.
        """
        with self._changing:
            self.endpoint.pause()
            self.plan, self._replacing = plan, True

    def wait_replaced(self) -> None:
        """Return when the server of the latest plan answers.

        Raises:
            SamplerError: it does not start.
        """
        asyncio.run(self.endpoint.get("/health"))

    def _take_plan(self) -> bool:
        """Whether the process has ended, or is about to be replaced, for a new plan."""
        with self._changing:
            taken, self._replacing = self._replacing, False
            return taken

    def _obituary(self) -> str:
        """How it ended, and the last line of its log that looks like a reason."""
        how = f"{self._complaint}, and was ended" if self._complaint else _how(self._process.returncode)
        told = _last_words(self._log)
        hint = " If nobody has killed it, memory ran out." if how.endswith(signal.SIGKILL.name) and not told else ""
        return f"the vLLM server {how}{told and f' ({told})'}; its log is {self._log}.{hint}"

    def close(self) -> None:
        """End the process and its children, and remove its socket. A second call does nothing."""
        with self._changing:
            self._closing.set()
        end(self._process, self._folder)
        if self._watcher.is_alive():
            self._watcher.join(STOP_S)
        shutil.rmtree(self._folder, ignore_errors=True)


def _how(status: int) -> str:
    """How a server ended, by its keeper's status; a negative one is that of a keeper that was killed itself."""
    number = -status if status < 0 else status - 128
    how = "was ended with its keeper" if status < 0 else "was ended"
    return f"{how} by {signal.Signals(number).name}" if number in _SIGNALS else f"ended with status {status}"


def _last_words(log: Path) -> str:
    """The end of the last line since the latest start that looks like a reason, if there is one."""
    said = ""
    with contextlib.suppress(OSError), log.open(errors="replace") as lines:
        for line in lines:
            if line.startswith(_START):
                said = ""
            elif _REASON.search(line):
                said = line.strip()[-300:]
    return said

"""A vLLM server as a child process: started, waited for, watched, started again when it dies, and ended with us.

It listens on a socket of the file system, so that no port can be taken by another program between its choice and its
use, and nobody on the network reaches it.
"""

import asyncio
import contextlib
import ctypes
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from at_grpo.inference.base import SamplerError
from at_grpo.inference.endpoint import UNIX, Endpoint
from at_grpo.inference.vllm import BASE

logger = logging.getLogger(__name__)

STOP_S = 20.0
POLL_S = 0.25
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None  # loaded before any fork, where loading could deadlock
# Adapters come and go while it runs; and its own statistics would ask the network.
_ENVIRONMENT = {"VLLM_ALLOW_RUNTIME_LORA_UPDATING": "1", "VLLM_NO_USAGE_STATS": "1", "VLLM_DO_NOT_TRACK": "1"}
_CPU_ENVIRONMENT = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind"}
# A request with a seed whose prompt is read in chunks ends vLLM 0.31 on the CPU ("CPU Generator does not use offset").
CPU_OPTIONS: Mapping[str, object] = {"no-enable-chunked-prefill": True}
LORA_RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)  # the bounds that vLLM 0.31 knows


@dataclass(frozen=True, slots=True)
class ServerPlan:
    """What a server is started with.

    Attributes:
        model: folder or hub id of the base model.
        dtype: of its weights.
        max_model_len: longest prompt and reply together, in tokens.
        policies: how many adapters are published; their versions change places while both are loaded.
        max_rank: largest rank among them.
        gpus: the devices it may use; empty for the CPU, or for what is visible anyway.
        python: the interpreter that has vLLM.
        options: further command line options, name -> value; True for a flag.
    """

    model: str
    dtype: str
    max_model_len: int
    policies: int
    max_rank: int
    gpus: tuple[int, ...] = ()
    python: str = sys.executable
    options: Mapping[str, object] = field(default_factory=dict)

    def command(self, address: Sequence[str]) -> list[str]:
        """The command line, with the options that say where to listen."""
        slots = 2 * self.policies + 2
        options: dict[str, object] = {
            "model": self.model,
            "served-model-name": BASE,
            "dtype": self.dtype,
            "max-model-len": self.max_model_len,
            "enable-lora": True,
            "max-loras": slots,
            "max-cpu-loras": 2 * slots,
            "max-lora-rank": next(rank for rank in LORA_RANKS if rank >= self.max_rank),
            "logprobs-mode": "processed_logprobs",
            "return-tokens-as-token-ids": True,
            "generation-config": "vllm",
            **self.options,
        }
        words = [self.python, "-m", "vllm.entrypoints.openai.api_server", *address]
        for name, value in options.items():
            if value is not False:
                words += [f"--{name}"] if value is True else [f"--{name}", str(value)]
        return words

    def environment(self) -> dict[str, str]:
        """The environment of the process."""
        environment = {**os.environ, **_ENVIRONMENT}
        for name, value in _CPU_ENVIRONMENT.items():
            environment.setdefault(name, value)
        if self.gpus:
            environment["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, self.gpus))
        return environment


class Server:
    """One server and the thread that watches it.

    Attributes:
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
    ) -> None:
        """Start the process; `wait_ready` waits until it answers.

        Args:
            plan: what to start.
            log: file for all that the server says.
            make_endpoint: url -> how to talk to it.
            start_timeout_s: seconds from the start to the first answer.
            restarts: how often it is started again when it dies, before its requests fail.

        Raises:
            OSError: the process can't be started.
        """
        self._plan, self._log, self._start_timeout_s = plan, log, start_timeout_s
        self._restarts_left = restarts
        self._folder = Path(tempfile.mkdtemp(prefix="at-grpo-server-"))  # short: a socket's path has 107 bytes
        self.endpoint = make_endpoint(f"{UNIX}{self._folder / 'socket'}")
        self.prepare: Callable[[Endpoint], None] | None = None
        self._closing = threading.Event()
        self._process = self._start()
        self._watcher = threading.Thread(target=self._watch, name="at-grpo-server-watch", daemon=True)
        self._watcher.start()

    @property
    def pid(self) -> int:
        """Of the process as it is now."""
        return self._process.pid

    def _start(self) -> "subprocess.Popen[bytes]":
        (self._folder / "socket").unlink(missing_ok=True)
        self._log.parent.mkdir(parents=True, exist_ok=True)
        address = ["--uds", str(self._folder / "socket")]
        with self._log.open("ab") as log:
            log.write(f"\n--- start at {time.strftime('%Y-%m-%d %H:%M:%S')}\n".encode())
            log.flush()
            return subprocess.Popen(
                self._plan.command(address),
                env=self._plan.environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is for the run, which then ends the server
                preexec_fn=_end_with_parent,  # noqa: PLW1509  # one call of libc
            )

    def wait_ready(self) -> None:
        """Return when it answers.

        Raises:
            SamplerError: it died, or did not answer in time; with what its log says.
        """
        deadline = time.monotonic() + self._start_timeout_s
        while not self._answers():
            if self._process.poll() is not None:
                raise SamplerError(self._obituary())
            if time.monotonic() > deadline:
                raise SamplerError(
                    f"the vLLM server did not answer within {self._start_timeout_s:g} s "
                    f"(inference.start_timeout_s); its log is {self._log}"
                )
            time.sleep(POLL_S)

    def _answers(self) -> bool:
        if not (self._folder / "socket").exists():
            return False
        once = Endpoint(self.endpoint.url, timeout_s=5.0, patience_s=0.0)
        try:
            asyncio.run(once.get("/health"))
        except SamplerError:
            return False
        return True

    def _watch(self) -> None:
        """Start a dead server again; when that has been done too often, let its requests fail."""
        while True:
            self._process.wait()
            if self._closing.is_set():
                return
            self.endpoint.pause()
            reason = self._obituary()
            if self._restarts_left == 0:
                self.endpoint.fail(f"{reason} It was restarted as often as inference.restarts allows.")
                return
            self._restarts_left -= 1
            logger.warning("%s It is started again.", reason)
            try:
                self._process = self._start()
                self.wait_ready()
                if self.prepare is not None:
                    self.prepare(self.endpoint)
            except (SamplerError, OSError) as error:
                if self._process.poll() is None:
                    self.endpoint.fail(str(error))
                    return
                continue  # it died again: the same once more, while restarts are left
            self.endpoint.resume()

    def _obituary(self) -> str:
        """How it ended, and the last lines of its log that look like a reason."""
        with contextlib.suppress(OSError), self._log.open(errors="replace") as log:
            told = deque((line.strip() for line in log if "Error" in line), maxlen=1)
            said = f" ({told[0][-300:]})" if told else ""
            return f"the vLLM server ended with status {self._process.returncode}{said}; its log is {self._log}."
        return f"the vLLM server ended with status {self._process.returncode}."

    def close(self) -> None:
        """End the process and its children, and remove its socket. A second call does nothing."""
        self._closing.set()
        _end_group(self._process)
        self._watcher.join(STOP_S)
        shutil.rmtree(self._folder, ignore_errors=True)


def _end_with_parent() -> None:
    """In the child: be terminated when whoever started it dies, even by SIGKILL."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _end_group(process: "subprocess.Popen[bytes]") -> None:
    """Terminate a process and the workers in its session; kill what is left after `STOP_S`."""
    for number, wait_s in ((signal.SIGTERM, STOP_S), (signal.SIGKILL, STOP_S)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(wait_s)
            break
    with contextlib.suppress(ProcessLookupError):  # workers that outlive it
        os.killpg(process.pid, signal.SIGKILL)

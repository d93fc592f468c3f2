"""What people do without a pool: an interpreter, or a container, for each program. Both as a `Sandbox`."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from llm_envs.sandbox.base import Outcome, Program, Status

HARDENED = {
    "network_mode": "none",
    "mem_limit": "256m",
    "memswap_limit": "256m",
    "pids_limit": 64,
    "read_only": True,
    "cap_drop": ["ALL"],
    "security_opt": ["no-new-privileges"],
    "user": "65534",
    "tmpfs": {"/tmp": "size=64m,mode=1777"},  # noqa: S108  # in the container
    "log_config": {"type": "none"},
}


class PlainRuns:
    """Runs programs by `run_one`, several at once."""

    guarantees = frozenset[str]()

    def __init__(self, name: str) -> None:
        self.name = name
        self._threads = ThreadPoolExecutor(len(os.sched_getaffinity(0)))

    def run_one(self, program: Program) -> Outcome:
        """The outcome of one program."""
        raise NotImplementedError

    def run(self, programs: Sequence[Program]) -> list[Outcome]:
        """See `Sandbox`."""
        return list(self._threads.map(self.run_one, programs))

    async def arun(self, programs: Sequence[Program]) -> list[Outcome]:
        """See `Sandbox`."""
        return await asyncio.to_thread(self.run, programs)

    def close(self) -> None:
        """See `Sandbox`."""
        self._threads.shutdown()


class InterpreterEach(PlainRuns):
    """`python -I` for each program: no cage, and no limit but the time."""

    def run_one(self, program: Program) -> Outcome:
        """See `PlainRuns`."""
        command = [sys.executable, "-I", "-c", program.code]
        try:
            done = subprocess.run(
                command, input=program.stdin, capture_output=True, text=True, check=False, timeout=program.wall_s
            )
        except subprocess.TimeoutExpired:
            return Outcome(Status.TIMEOUT)
        status = Status.OK if done.returncode == 0 else Status.ERROR
        return Outcome(status, done.returncode, done.stdout, done.stderr)


class ContainerEach(PlainRuns):
    """A hardened container for each program by Docker's SDK: created, started, read to its end, removed."""

    def __init__(self, name: str, client: Any, image: str) -> None:
        super().__init__(name)
        self._client, self._image = client, image

    def run_one(self, program: Program) -> Outcome:
        """See `PlainRuns`. The input travels in the code, since a stream into it would cost still more."""
        code = f"import io, sys\nsys.stdin = io.StringIO({program.stdin!r})\n{program.code}"
        container = self._client.containers.create(self._image, ["python3", "-I", "-c", code], **HARDENED)
        try:
            stream = container.attach(stream=True, demux=True)
            container.start()
            parts = list(stream)
            exit_code = container.wait(timeout=program.wall_s + 10)["StatusCode"]
        finally:
            container.remove(force=True)
        texts = [b"".join(part[number] or b"" for part in parts).decode() for number in (0, 1)]
        return Outcome(Status.OK if exit_code == 0 else Status.ERROR, exit_code, *texts)

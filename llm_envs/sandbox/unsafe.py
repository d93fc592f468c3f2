"""No cage at all: a plain Python process for each program, with limits where the system has them.

For machines that have no cage, and programs that you would run by hand: a program can read and delete your files, use
your network and keys, and outlive its run. Its time and its output are bounded, and on Linux the memory of each
process. Works wherever Python does, but on Windows without limits.
"""

import asyncio
import logging
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from llm_envs.sandbox.base import Outcome, Program, SandboxError, Status
from llm_envs.sandbox.encoding import checked

logger = logging.getLogger(__name__)

GUARANTEES = frozenset({"memory"}) if sys.platform == "linux" else frozenset[str]()
# the new process limits itself: where there are threads, nothing may run between a fork and an exec
_BOOT = """
import runpy, sys
cpu, memory, output, stack, *sys.argv = sys.argv[1:]
try:
    import resource
except ImportError:
    pass
else:
    limits = {"RLIMIT_CPU": cpu, "RLIMIT_FSIZE": output, "RLIMIT_STACK": stack}
    if sys.platform == "linux":
        limits["RLIMIT_AS"] = memory
    for name, most in limits.items():
        hard = resource.getrlimit(getattr(resource, name))[1]
        most = int(most) if hard == resource.RLIM_INFINITY else min(int(most), hard)
        resource.setrlimit(getattr(resource, name), (most, hard))
sys.set_int_max_str_digits(0)
sys.dont_write_bytecode = True
sys.path.insert(0, "")
runpy.run_path(sys.argv[0], run_name="__main__")
"""
_STACK_BYTES = 512 << 20
_INTERPRETER_BYTES = 64 << 20  # address space of a Python that has not done anything


def unavailable() -> str | None:
    """It works everywhere."""
    return None


def remark() -> str:
    """How one gets it."""
    return "no cage: only by name"


class UnsafeSandbox:
    """Programs without a cage: only by name, and every start is logged as a warning."""

    name = "unsafe"
    guarantees = GUARANTEES

    def __init__(self, *, slots: int | None = None) -> None:
        """`slots`: programs at once in each call; the number of cores by default."""
        logger.warning("the sandbox 'unsafe' is no sandbox: programs run with all your rights")
        self._slots = (os.cpu_count() or 1) if slots is None else slots
        self.closed = False

    def run(self, programs: Sequence[Program]) -> list[Outcome]:
        """Run programs, blocking; equal ones run once. Raises SandboxError, ValueError."""
        if self.closed:
            raise SandboxError("the sandbox 'unsafe' is closed: get a new one from get_sandbox")
        distinct = list(dict.fromkeys(checked(program) for program in programs))
        with ThreadPoolExecutor(self._slots, "sandbox-unsafe") as threads:
            outcomes = dict(zip(distinct, threads.map(_run, distinct), strict=True))
        return [outcomes[program] for program in programs]

    async def arun(self, programs: Sequence[Program]) -> list[Outcome]:
        """The same without blocking the event loop."""
        return await asyncio.to_thread(self.run, programs)

    def close(self) -> None:
        """Refuse further programs; there is nothing to stop."""
        self.closed = True


def _run(program: Program) -> Outcome:
    try:
        with tempfile.TemporaryDirectory(prefix="llm-envs-unsafe-", ignore_cleanup_errors=True) as folder:
            return _run_in(Path(folder), program)
    except OSError as error:
        raise SandboxError(f"the sandbox 'unsafe' could not start a program: {error}") from error


def _run_in(folder: Path, program: Program) -> Outcome:
    """Streams are files: no program can block us by not reading, by not ending its output, or by a flood of it."""
    work = folder / "work"
    work.mkdir()
    for name, text in (*program.files, ("../in", program.stdin)):
        (work / name).write_bytes(text.encode(errors="replace"))
    (work / "main.py").write_bytes(program.code.encode(errors="surrogatepass"))
    memory = _INTERPRETER_BYTES + (program.memory_mb << 20)
    limits = (math.ceil(program.cpu_s), memory, program.output_bytes + 1, _STACK_BYTES)
    command = [sys.executable, "-I", "-c", _BOOT, *map(str, limits), "main.py"]
    environment = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH") if name in os.environ}
    started = time.monotonic()
    with (folder / "in").open("rb") as stdin, (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        process = subprocess.Popen(
            [*command, *program.argv],
            stdin=stdin,
            stdout=out,
            stderr=err,
            cwd=work,
            env=environment,
            start_new_session=True,
        )
        late = _wait(process, program.wall_s)
    wall_s = time.monotonic() - started
    stdout, stderr = (folder / "out").read_bytes(), (folder / "err").read_bytes()
    cap = program.output_bytes
    truncated = max(len(stdout), len(stderr)) > cap
    status = Status.TIMEOUT if late else Status.OUTPUT if truncated else _status(process.returncode, stderr)
    texts = [stream[:cap].decode(errors="replace") for stream in (stdout, stderr)]
    return Outcome(status, process.returncode, texts[0], texts[1], wall_s=wall_s, truncated=truncated)


def _wait(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Whether the process had to be stopped. Its group goes with it; who left the group stays."""
    late = False
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        late = True
    try:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except ProcessLookupError:  # the whole group has ended
        pass
    process.wait()
    return late


def _status(exit_code: int, stderr: bytes) -> Status:
    if exit_code == -getattr(signal, "SIGXCPU", 0):
        return Status.TIMEOUT
    if exit_code == 1 and stderr.rstrip().rpartition(b"\n")[2].startswith(b"MemoryError"):
        return Status.MEMORY
    return Status.OK if exit_code == 0 else Status.ERROR

"""One warm runner process and the conversation with it: what a pool holds one of per slot.

A cage that runs its runner elsewhere (in a container, say) needs a `Channel` over its stream and nothing else new.
"""

import logging
import os
import secrets
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import IO, Protocol

from llm_envs.sandbox import encoding
from llm_envs.sandbox.base import Outcome, Program, SandboxError, Status
from llm_envs.sandbox.encoding import Key
from llm_envs.sandbox.runner import wire

logger = logging.getLogger(__name__)

START_S = 60.0  # a Python and a few imports: a tenth of a second, but on a machine that swaps
GRACE_S = 30.0  # beyond a program's wall time, for a machine that is very busy
_BOOT = "import sys; sys.path.append(sys.argv[1]); from runner.serve import main; sys.path.pop(); main()"


class CageLostError(Exception):
    """The cage died, or does not answer. Whatever it had not answered yet has no outcome."""


class Cage(Protocol):
    """A place where programs run one after the other. All but `stop` belong to the thread that made it."""

    def run(self, programs: Sequence[Program], compile_once: Collection[Key] = ()) -> Iterator[Outcome]:
        """Outcomes in the order of the programs, each as soon as it is there. Raises CageLostError.

        `compile_once`: codes that are worth keeping compiled, in this batch or for the next.
        """
        ...

    @property
    def outdated(self) -> bool:
        """Whether a fresh one would serve better."""
        ...

    def stop(self) -> None:
        """Make a `run` in another thread end early, as lost."""
        ...

    def close(self) -> None:
        """End it and leave nothing behind."""
        ...

    def abandon(self) -> None:
        """In a forked process: forget the parent's cage without touching it."""
        ...


class Channel:
    """Both directions of a byte stream at once: neither side can block the other by a large message."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        """Takes over two descriptors, which stay the caller's to close."""
        self._read_fd, self._write_fd = read_fd, write_fd
        for fd in {read_fd, write_fd}:
            os.set_blocking(fd, False)
        self._received = bytearray()
        self._pending = memoryview(b"")
        self.deadline = 0.0

    def send(self, data: bytes) -> None:
        """Hand over data; what the stream does not take at once goes out while replies are read."""
        self._pending = memoryview(bytes(self._pending) + data)
        self._write()

    def read_exactly(self, size: int) -> bytes:
        """The next bytes. Raises CageLostError at the end of the stream, and after `deadline` (monotonic seconds)."""
        while len(self._received) < size:
            self._exchange()
        data = bytes(memoryview(self._received)[:size])
        del self._received[:size]
        return data

    def _exchange(self) -> None:
        interests = {self._read_fd: select.POLLIN}
        if self._pending:  # both directions may be one descriptor
            interests[self._write_fd] = interests.get(self._write_fd, 0) | select.POLLOUT
        poll = select.poll()
        for fd, interest in interests.items():
            poll.register(fd, interest)
        left_s = self.deadline - time.monotonic()
        if left_s <= 0:
            raise CageLostError("no answer in time")
        for fd, event in poll.poll(left_s * 1000):
            if fd == self._read_fd and event != select.POLLOUT:
                self._read()
            if fd == self._write_fd and event != select.POLLIN:
                self._write()

    def _read(self) -> None:
        try:
            data = self._take()
        except BlockingIOError:
            return
        except ConnectionError as error:
            raise CageLostError(str(error)) from error
        if not data:
            raise CageLostError("the runner ended")
        self._accept(data)

    def _write(self) -> None:
        try:
            if self._pending:
                self._pending = self._pending[self._give(self._pending) :]
        except BlockingIOError:
            pass
        except ConnectionError:  # what it answered before it died is still to be read
            self._pending = memoryview(b"")

    def _take(self) -> bytes:
        """What has come, empty at the end of the stream. Raises BlockingIOError, ConnectionError."""
        return os.read(self._read_fd, 1 << 16)

    def _give(self, data: memoryview) -> int:
        """Pass on what the stream takes now, and how much that was. Raises BlockingIOError, ConnectionError."""
        return os.write(self._write_fd, data)

    def _accept(self, data: bytes) -> None:
        """Take note of what has come."""
        self._received += data


class Conversation:
    """Requests and replies over a channel."""

    def __init__(self, channel: Channel) -> None:
        """Nothing is sent yet."""
        self._channel = channel
        self._kept: Key | None = None  # the compiled code that the runner holds

    def open(self, config: dict[str, wire.Value]) -> None:
        """Configure the runner. Raises SandboxError where it refuses, CageLostError where it dies."""
        self._channel.deadline = time.monotonic() + START_S
        self._channel.send(wire.framed(wire.pack(config)))
        answer = wire.read_framed(self._channel.read_exactly).decode(errors="replace")
        if not answer.startswith("+"):
            raise SandboxError(answer[1:])

    def run(self, programs: Sequence[Program], compile_once: Collection[Key] = ()) -> Iterator[Outcome]:
        """All requests go out at once. The runner takes them one by one: they wait where no program can see them."""
        steps = encoding.plan(programs, self._kept, compile_once)
        self._channel.send(b"".join(step.frame for step in steps))
        refused: Outcome | None = None
        for step in steps:
            self._channel.deadline = time.monotonic() + step.program.wall_s + GRACE_S
            outcome = encoding.read_reply(self._channel.read_exactly)
            if outcome is not None and outcome.status is Status.LOST:
                raise CageLostError(outcome.stderr.strip())
            if step.kind == wire.COMPILE:
                refused = None if outcome is None or outcome.status is Status.OK else outcome
                self._kept = encoding.compilation_key(step.program) if refused is None else None
                continue
            if step.kind == wire.RUN:
                self._kept = None
            outcome = outcome or refused  # what does not compile ends the same way for every input
            if outcome is None:
                raise CageLostError("the runner no longer has the compiled code")
            yield outcome


class RunnerProcess:
    """A cage whose runner is a child process of ours."""

    def __init__(
        self, config: dict[str, wire.Value], place: str | None = None, outdated: Callable[[], bool] = lambda: False
    ) -> None:
        """Start a runner, with a folder of its own in `place`; `outdated` tells when another would serve better.

        Raises SandboxError where it refuses the configuration, CageLostError where it dies, OSError where it cannot be
        started at all.
        """
        self._outdated = outdated
        # only named here: were it made here, one would be left whenever we are killed before the runner knows of it
        self._folder = f"{place or tempfile.gettempdir()}/llm-envs-sandbox-{secrets.token_hex(8)}"
        self._process = _start(self._folder)
        stdin, stdout, self._stderr = self._streams()
        self._conversation = Conversation(Channel(stdout.fileno(), stdin.fileno()))
        try:
            self._conversation.open({"folder": self._folder, **config})
        except CageLostError as error:
            reason = self._last_words() or str(error)
            self.close()
            raise CageLostError(reason) from error
        except BaseException:
            self.close()
            raise

    def run(self, programs: Sequence[Program], compile_once: Collection[Key] = ()) -> Iterator[Outcome]:
        """See `Cage`."""
        try:
            yield from self._conversation.run(programs, compile_once)
        except CageLostError as error:
            raise CageLostError(self._last_words() or str(error)) from error

    @property
    def outdated(self) -> bool:
        """See `Cage`."""
        return self._outdated()

    def stop(self) -> None:
        """See `Cage`. The runner ends its program and removes its folder; then our `run` finds its stream closed."""
        self._process.terminate()

    def close(self) -> None:
        """See `Cage`."""
        for stream in self._streams():
            stream.close()
        try:
            self._process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            logger.warning("the runner %d does not end: it is killed", self._process.pid)
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)  # gone already, unless the runner was killed

    def abandon(self) -> None:
        """See `Cage`."""
        self._process.returncode = 0  # it is the parent's child: nothing to wait for here
        for stream in self._streams():
            stream.close()

    def _streams(self) -> list[IO[bytes]]:
        streams = (self._process.stdin, self._process.stdout, self._process.stderr)
        return [stream for stream in streams if stream is not None]

    def _last_words(self) -> str:
        """What a dying runner said last on its standard error, which it uses for nothing else."""
        os.set_blocking(self._stderr.fileno(), False)
        text = (self._stderr.read() or b"").decode(errors="replace").strip()
        return text.rpartition("\n")[2]


def _start(folder: str) -> subprocess.Popen[bytes]:
    """A Python without site-packages in an environment without secrets; the hash seed is the same in every runner."""
    python = getattr(sys, "_base_executable", None) or sys.executable
    environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": folder, "TMPDIR": folder, "PYTHONHASHSEED": "0"}
    environment["LD_BIND_NOW"] = "1"  # symbols found now need not be found again in every fork
    if path := os.environ.get("LD_LIBRARY_PATH"):  # an interpreter of an environment module may not start without
        environment["LD_LIBRARY_PATH"] = path
    return subprocess.Popen(
        [python, "-s", "-S", "-P", "-c", _BOOT, str(Path(__file__).parent)],
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        cwd="/",
        start_new_session=True,  # Ctrl-C is for the owner, who then ends the runner
    )

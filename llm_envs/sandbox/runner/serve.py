"""The runner's main loop: it makes its process ready once, then forks one child for each request."""

from __future__ import annotations

import gc
import marshal
import os
import resource
import sys
from mmap import MADV_DONTNEED, mmap

from . import wire
from .child import Job, Request
from .confine import Confinement
from .prepare import prepare_interpreter, prepare_process
from .streams import private
from .supervise import OwnerGoneError, Supervisor
from .wipe import wipe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .cgroup import Group

_INBOX_BYTES = 1 << 16
_ATTEMPTS = {
    "list /": 'os.listdir("/")',
    "signal its parent": "os.kill(os.getppid(), 0)",
    # one that fails: a program that became another would else pass for one that was refused
    "start another program": 'os.execv(sys.executable, ["python", "-c", "raise SystemExit(\'it does not hold\')"])',
}
_PROOF = """
import os, sys
try:
    {attempt}
except PermissionError:
    pass
else:
    raise SystemExit("the cage does not hold: a program could {name}")
"""


class _ProofError(Exception):
    """The cage does not hold, or does not let a program run."""


class Server:
    """The state that outlives a program: buffers, the prepared cage, the code kept for several inputs."""

    def __init__(
        self,
        folder: str,
        confinement: dict[str, object] | None,
        preload: Iterable[str] = (),
        group: Group | None = None,
    ) -> None:
        """Make this process ready. Raises OSError.

        Args:
            folder: where programs may write; made here, and removed at the end, unless it is mounted by the cage.
            confinement: the arguments of `Confinement`; None where something else holds what programs must not reach.
            preload: modules to import now instead of in each program that wants them.
            group: the memory cgroup of programs, where there is one.
        """
        self.folder = folder
        self._mounted = os.path.ismount(folder)
        if not self._mounted:
            os.mkdir(folder, 0o700)
        os.chdir(folder)
        prepare_process()
        prepare_interpreter(preload)
        self._confinement: Confinement | None = None
        alone = os.getpid() == 1
        if confinement is not None:
            self._confinement = Confinement(folder, **confinement)  # type: ignore[arg-type]
            alone = self._confinement.enter_partly() or alone
        self._inbox = private(_INBOX_BYTES)
        self._kept: mmap | None = None
        self._entered = mmap(-1, 1)
        self._group = group
        self._supervisor = Supervisor(alone=alone, group=group)
        with open("/proc/self/statm", "rb") as file:
            self._base_bytes = int(file.read().split()[0]) * resource.getpagesize()
        gc.collect()
        gc.disable()
        gc.freeze()  # a collection in a fork would copy every page that it marks

    def prove(self) -> None:
        """Let a program try to get out. Raises _ProofError if it succeeds, or cannot be run."""
        if self._confinement is None:
            return
        attempts = ((name, _ATTEMPTS[name]) for name in self._confinement.refusals())
        proof = "".join(_PROOF.format(name=name, attempt=attempt) for name, attempt in attempts)
        body = wire.pack((proof, (), ()))
        self._inbox[: len(body)] = body
        request = Request(wire.RUN, len(body), 0, 5.0, 60.0, memory_bytes=64 << 20, processes=1, output_bytes=4096)
        verdict = self._supervisor.run(self._job(request))
        self._inbox.madvise(MADV_DONTNEED)
        if verdict.status != wire.OK:
            stderr = self._supervisor.stderr
            raise _ProofError(
                stderr.buffer[: stderr.size].decode(errors="replace").strip() or wire.STATUSES[verdict.status]
            )

    def serve(self) -> None:
        """Answer one request. Raises EOFError when there are no more."""
        request = Request(*wire.REQUEST.unpack(_read_exactly(wire.REQUEST.size)))
        self._receive(request.body_bytes + request.stdin_bytes)
        if request.kind != wire.RUN_KEPT:
            self._forget()
        elif self._kept is None:
            _write_all([wire.REPLY.pack(wire.NOT_COMPILED, False, 0, 0.0, 0.0, 0, 0)])
            return
        verdict = self._supervisor.run(self._job(request))
        stdout, stderr = self._supervisor.stdout, self._supervisor.stderr
        if request.kind == wire.COMPILE and verdict.status == wire.OK:
            self._keep(stdout.buffer, stdout.size)
        shown = 0 if request.kind == wire.COMPILE else stdout.size
        truncated = self._supervisor.flooded
        header = wire.REPLY.pack(
            verdict.status, truncated, verdict.exit_code, verdict.wall_s, verdict.cpu_s, shown, stderr.size
        )
        _write_all([header, memoryview(stdout.buffer)[:shown], memoryview(stderr.buffer)[: stderr.size]])
        self._inbox.madvise(MADV_DONTNEED)
        wipe(self.folder)

    def end(self) -> None:
        """Leave nothing behind: no process, no file, no folder."""
        self._supervisor.end_all()
        wipe(self.folder)
        os.chdir("/")
        if not self._mounted:
            os.rmdir(self.folder)

    def _job(self, request: Request) -> Job:
        return Job(
            request,
            self._inbox,
            self._kept,
            self.folder,
            self._base_bytes,
            self._confinement,
            self._entered,
            self._group,
        )

    def _receive(self, size: int) -> None:
        """Read body and input of a request; what an unusually large one needed is given back at the next."""
        if len(self._inbox) != max(size, _INBOX_BYTES):
            self._inbox.close()
            self._inbox = private(max(size, _INBOX_BYTES))
        position = 0
        while position < size:
            with memoryview(self._inbox)[position:size] as room:
                count = os.readv(0, [room])
            if count == 0:
                raise EOFError
            position += count

    def _keep(self, buffer: mmap, size: int) -> None:
        self._kept = private(size)
        with memoryview(self._kept) as room, memoryview(buffer)[:size] as code:
            room[:] = code

    def _forget(self) -> None:
        if self._kept is not None:
            self._kept.close()
            self._kept = None


def _read_exactly(size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = os.read(0, size - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def _write_all(parts: Sequence[bytes | memoryview]) -> None:
    pending = [memoryview(part) for part in parts if len(part)]
    while pending:
        written = os.writev(1, pending)
        while pending and written >= len(pending[0]):
            written -= len(pending.pop(0))
        if pending:
            pending[0] = pending[0][written:]


def main() -> None:
    """Serve until the owner closes its end, ends, or asks us to; 0, 1 and 2 are the owner's."""
    try:
        config = marshal.loads(wire.read_framed(_read_exactly))
    except EOFError:  # the owner ended before it had said what it wants
        return
    try:
        if namespaces := config.pop("namespaces", None):
            from .namespaces import enter  # before what it is read from is out of reach; no other cage needs it

            config["group"] = enter(config["folder"], **namespaces)
        server = Server(**config)
    except OSError as error:
        _write_all([wire.framed(f"-{error}".encode())])
    except SystemExit:  # the owner ended meanwhile
        pass
    else:
        _serve_until_the_end(server)
    finally:
        _remove_empty(config["folder"])  # the owner's end may come between any two of these lines


def _remove_empty(folder: str) -> None:
    try:
        os.rmdir(folder)
    except OSError:  # it was never made, or is not ours but the cage's
        pass


def _serve_until_the_end(server: Server) -> None:
    """Whatever ends it, `Server.end` is done; the signal of the owner's death may come in the midst of that, once."""
    proven = ending = ended = False
    while not ended:
        try:
            if not proven:
                server.prove()
                proven = True
                _write_all([wire.framed(b"+")])
            while not ending:
                server.serve()
            server.end()
            ended = True
        except (EOFError, OwnerGoneError, BrokenPipeError, SystemExit):
            proven = ending = True
        except _ProofError as error:
            proven = ending = True
            _write_all([wire.framed(f"-{error}".encode())])
        except Exception as error:  # the boundary of a process: the owner reads the last line of this
            if ending:
                raise
            proven = ending = True
            sys.__excepthook__(type(error), error, error.__traceback__)

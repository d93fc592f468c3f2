"""The driver's side of one process of an update worker."""

import logging
import multiprocessing
import os
import signal
import socket
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, TypeVar

from at_grpo.inference.base import Completion, SampleRequest, SamplerError
from at_grpo.stopping import WorkerError
from at_grpo.updates import entry, messages
from at_grpo.updates.messages import StepReport, WorkerPlan

logger = logging.getLogger(__name__)
M = TypeVar("M")

# A fork would take along what torch has begun in this process: threads, locks, CUDA.
CONTEXT: Any = multiprocessing.get_context("spawn")
END_S = 30.0
OBITUARY_S = 1.0  # for the exit status to come after the end of the pipe


class RemoteWorker:
    """One process and the pipe to it. As `PolicyWeights`, the weights that it trains.

    Attributes:
        plan: what it was started with.
        assigned: tokens of the micro-batches that it got in this iteration.
    """

    def __init__(self, plan: WorkerPlan) -> None:
        """Start the process; it loads its base model while others do."""
        self.plan = plan
        self.assigned = 0
        ours, theirs = CONTEXT.Pipe()
        self._connection: Connection = ours
        self.process = CONTEXT.Process(target=entry.main, args=(theirs, plan), name=plan.title, daemon=True)
        self.process.start()
        theirs.close()  # or the end of the process would not be the end of the pipe
        self._timeout_s = plan.config.update.timeout_s
        _limit_sends(ours, self._timeout_s)
        self._said: WorkerError | None = None

    # ---- training

    def wait_ready(self) -> messages.Ready:
        """Return when it has loaded its base model. Raises `WorkerError` where it does not."""
        limit = self.plan.config.update.start_timeout_s
        return self._receive(messages.Ready, limit, "update.start_timeout_s")

    def send(self, order: object) -> None:
        """Send an order. Raises `WorkerError` where the process is gone, or reads nothing for `update.timeout_s`."""
        try:
            self._connection.send(order)
        except BlockingIOError as error:
            raise self._silent("read its orders", self._timeout_s, "update.timeout_s") from error
        except OSError as error:
            raise self.lost() from error

    def report(self) -> StepReport:
        """What it has done in the iteration that was sealed. Raises `WorkerError`."""
        return self._receive(StepReport, self._timeout_s, "update.timeout_s")

    # ---- what is asked of it between iterations

    def ask(self, order: object) -> Any:
        """The answer to an order. Raises `WorkerError`, and `SamplerError` where it refuses."""
        self.send(order)
        return self.answer()

    def answer(self) -> Any:
        """The answer to an order that was sent. Raises as `ask` does."""
        answer = self._receive(messages.Answer, self._timeout_s, "update.timeout_s")
        if answer.refusal:
            raise SamplerError(answer.refusal)
        return answer.value

    @property
    def policies(self) -> tuple[str, ...]:
        """See `PolicyWeights`."""
        return tuple(self.plan.pool.policies)

    def save(self, policy: str, folder: Path) -> None:
        """See `PolicyWeights`."""
        self.ask(messages.SaveAdapter(policy, folder))

    def scores(self, policy: str | None, prompt_ids: Sequence[int], token_ids: Sequence[int]) -> list[float]:
        """See `PolicyWeights`."""
        scores: list[float] = self.ask(messages.Score(policy, tuple(prompt_ids), tuple(token_ids)))
        return scores

    def begin_generating(
        self, requests: Sequence[SampleRequest], versions: Mapping[str, int]
    ) -> Callable[[], list[list[Completion]]]:
        """Have it generate; what is returned waits for the completions. See `BatchingSampler.generate`."""
        self.send(messages.Generate(tuple(requests), {name: versions[name] for name in self.policies}))
        return self.answer

    # ---- its end

    def _receive(self, kind: type[M], limit: float, option: str) -> M:
        """The next message, which is of this kind. Raises `WorkerError`."""
        deadline = time.monotonic() + limit
        while not self._connection.poll(0):
            left = deadline - time.monotonic()
            if left <= 0:
                raise self._silent("answer", limit, option)
            wait([self._connection, self.process.sentinel], left)
            if not self._connection.poll(0) and not self.process.is_alive():
                raise self.lost()
        try:
            message = self._connection.recv()
        except (EOFError, OSError) as error:
            raise self.lost() from error
        if isinstance(message, messages.Failure):
            raise self._failed(message)
        if not isinstance(message, kind):
            raise TypeError(f"{self.plan.title} sent a {type(message).__name__}, expected was a {kind.__name__}")
        return message

    def _silent(self, what: str, limit: float, option: str) -> WorkerError:
        """It has not done in time what it should."""
        return WorkerError(
            f"{self.plan.title} (process {self.process.pid}) did not {what} within {limit:g} s ({option}). See whether "
            "it still works (top, nvidia-smi) and raise the limit, or go on with --resume."
        )

    @property
    def ended(self) -> bool:
        """Whether the process is gone."""
        self.process.join(0)
        return self.process.exitcode is not None

    @property
    def killed(self) -> bool:
        """Whether a signal has ended it."""
        return self.process.exitcode is not None and self.process.exitcode < 0

    def last_words(self) -> WorkerError:
        """Why it ended: what it said, or how it looks from outside. Nothing else is read from it any more."""
        with suppress(EOFError, OSError):
            while self._said is None and self._connection.poll(0):
                message = self._connection.recv()
                if isinstance(message, messages.Failure):
                    self._failed(message)
        return self._said or self.lost()

    def _failed(self, failure: messages.Failure) -> WorkerError:
        """It has said why it ends."""
        logger.error("%s says:\n%s", self.plan.title, failure.details)
        self._said = WorkerError(f"{self.plan.title} failed: {failure.reason}")
        return self._said

    def lost(self) -> WorkerError:
        """How it ended, in words, and what to do."""
        self.process.join(OBITUARY_S)
        status = self.process.exitcode
        if status is None:
            how = "has closed its pipe"
        elif status < 0:
            how = f"was ended by {signal.Signals(-status).name}"
        else:
            how = f"ended with status {status}"
        return WorkerError(
            f"{self.plan.title} (process {self.process.pid}) {how}. Where nobody did that, the kernel may have, for "
            "want of memory (dmesg tells). Go on from the last checkpoint with --resume."
        )

    def tell_end(self) -> None:
        """Tell it that the run is over."""
        with suppress(OSError):  # it is gone already
            self._connection.send(messages.End())

    def wait_end(self) -> None:
        """Wait until it has ended; one that does not is killed."""
        self.process.join(END_S)
        self.kill()

    def kill(self) -> None:
        """End it at once."""
        if self.process.is_alive():
            self.process.kill()
        self.process.join()
        self._connection.close()


def _limit_sends(connection: Connection, seconds: float) -> None:
    """Have a send fail once nothing was read for so long: a process that is stopped reads nothing, and would stop us
    too.
    """
    whole = int(seconds)
    limit = struct.pack("@ll", whole, int((seconds - whole) * 1e6))  # a `timeval`
    with socket.socket(fileno=os.dup(connection.fileno())) as pipe:
        pipe.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)

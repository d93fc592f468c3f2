"""What the driver says of a worker that does not answer, ends or fails."""

import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace

import pytest

from at_grpo.config import UpdateSection
from at_grpo.inference.base import SampleRequest, SamplerError, SamplingParams
from at_grpo.pools import pools_of
from at_grpo.stopping import WorkerError
from at_grpo.updates import messages, remote
from at_grpo.updates.messages import StepReport, WorkerPlan, merge
from at_grpo.updates.remote import RemoteWorker
from tests.trainer.tiny_trainer import run_config

Main = Callable[[Connection, WorkerPlan], None]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Main], RemoteWorker]:
    """A worker that does what a test says instead of training."""

    def start(main: Main) -> RemoteWorker:
        monkeypatch.setattr(remote, "CONTEXT", multiprocessing.get_context("fork"))
        monkeypatch.setattr(remote, "entry", SimpleNamespace(main=main))
        config = replace(run_config(tmp_path), update=UpdateSection(timeout_s=0.2, start_timeout_s=0.2))
        return RemoteWorker(WorkerPlan(config, pools_of(config)[0], 1, 2, None, tmp_path / "r", None))

    return start


def hang(connection: Connection, plan: WorkerPlan) -> None:
    time.sleep(60)


def die(connection: Connection, plan: WorkerPlan) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def leave(connection: Connection, plan: WorkerPlan) -> None:
    os._exit(3)


def fail(connection: Connection, plan: WorkerPlan) -> None:
    connection.send(messages.Failure("OutOfMemoryError: 80 GiB", "where"))


def refuse(connection: Connection, plan: WorkerPlan) -> None:
    connection.recv()
    connection.send(messages.Answer(refusal="the prompt is too long"))
    time.sleep(60)


@pytest.mark.parametrize(
    ("main", "words"),
    [
        (hang, r"\(process \d+\) did not answer within 0\.2 s \(update\.start_timeout_s\).*raise the limit, or go on"),
        (die, r"\(process \d+\) was ended by SIGKILL.*want of memory.*--resume"),
        (leave, r"\(process \d+\) ended with status 3"),
        (fail, r"failed: OutOfMemoryError: 80 GiB"),
    ],
)
def test_the_message_names_the_worker_and_what_became_of_it(
    main: Main, words: str, start: Callable[[Main], RemoteWorker]
) -> None:
    worker = start(main)
    try:
        with pytest.raises(WorkerError, match=rf"the update worker of planner, tool, rank 1 of 2 {words}"):
            worker.wait_ready()
        if main is not hang:
            worker.process.join(5)
            assert worker.ended
            assert worker.killed is (main is die)
            assert str(worker.last_words()).startswith("the update worker of planner, tool, rank 1 of 2")
    finally:
        worker.kill()
    assert not worker.process.is_alive()


def test_a_worker_that_reads_nothing_stops_nobody(start: Callable[[Main], RemoteWorker]) -> None:
    """A process that is stopped, say: its pipe fills up, and the driver must not wait for room in it."""
    worker = start(hang)
    large = messages.SaveCheckpoint(Path("x" * 1_000_000))  # more than a pipe holds
    try:
        with pytest.raises(WorkerError, match=r"did not read its orders within 0\.2 s \(update\.timeout_s\)"):
            worker.send(large)
        assert not worker.ended, "it has not been lost"
    finally:
        worker.kill()


def test_a_refusal_is_the_sampler_s_and_the_worker_goes_on(start: Callable[[Main], RemoteWorker]) -> None:
    worker = start(refuse)
    request = SampleRequest("tool", (1,), 1, 0, SamplingParams())
    try:
        with pytest.raises(SamplerError, match="the prompt is too long"):
            worker.begin_generating([request], {"tool": 3, "planner": 3})()
        assert not worker.ended
    finally:
        worker.kill()


def test_the_reports_of_all_processes_are_one_in_their_order() -> None:
    first = StepReport({"a": 10}, {"a": 5.0}, {"x": [(4, {"kl": 1.0})]}, {"a/loss": 0.5})
    same_worker = StepReport({"a": 10}, {"a": 5.0}, {"x": [(6, {"kl": 2.0})]}, {"a/loss": 0.5})
    other = StepReport({"b": 20, "c": 0}, {"b": 2.0, "c": 0.0}, {"y": [(20, {"kl": 3.0})]}, {"b/loss": 0.1})
    whole = merge([first, same_worker, other])
    assert whole.tokens == {"a": 10, "b": 20, "c": 0}
    assert whole.stats == {"x": [(4, {"kl": 1.0}), (6, {"kl": 2.0})], "y": [(20, {"kl": 3.0})]}
    assert whole.loss == pytest.approx(0.5 + 0.1)
    assert first.stats == {"x": [(4, {"kl": 1.0})]}, "the parts stay what they are"

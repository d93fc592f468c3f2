"""What a process of an update worker does apart from training."""

import multiprocessing
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import pytest

from at_grpo.inference.base import SampleRequest, SamplerError, SamplingParams
from at_grpo.updates import messages
from at_grpo.updates.worker import UpdateWorker

WAIT_S = 10.0
_FORK = multiprocessing.get_context("fork")


def worker(**attributes: Any) -> Any:
    """One without a model: it has what a test gives it."""
    bare = UpdateWorker.__new__(UpdateWorker)
    for name, value in attributes.items():
        setattr(bare, name, value)
    return bare


def read_orders(connection: Connection, driver: Connection, rendezvous: Path) -> None:
    driver.close()
    connection.send("a report")
    plan = SimpleNamespace(rendezvous=rendezvous)
    reading = worker(_connection=connection, _inbox=SimpleQueue(), _plan=plan)._read
    threading.Thread(target=reading, daemon=True).start()
    time.sleep(2 * WAIT_S)  # what it does otherwise


@pytest.mark.parametrize("unread", [False, True])
def test_a_worker_ends_with_its_driver_whatever_that_has_left_unread(unread: bool, tmp_path: Path) -> None:
    """A pipe whose other end dies with something unread is reset, not ended. The file by which ranks met goes, too."""
    rendezvous = tmp_path / "rendezvous"
    rendezvous.touch()
    ours, theirs = _FORK.Pipe()
    process = _FORK.Process(target=read_orders, args=(theirs, ours, rendezvous))
    process.start()
    theirs.close()
    assert ours.poll(WAIT_S)
    if not unread:
        ours.recv()
    ours.close()
    process.join(WAIT_S)
    process.kill()
    assert process.exitcode == 1
    assert not rendezvous.exists()


def test_a_request_that_cannot_be_served_is_refused_as_in_the_driver_s_own_process() -> None:
    def check(request: SampleRequest) -> None:
        if len(request.prompt_ids) > 2:
            raise SamplerError("more than the model's 2 positions")

    sampler = SimpleNamespace(check=check, generate=lambda requests: ["a reply" for _ in requests])
    one = worker(_sampler=sampler, _versions={})
    short, long = (SampleRequest("team", prompt_ids, 1, 0, SamplingParams()) for prompt_ids in ((1, 2), (1, 2, 3)))
    assert one._carry_out(messages.Generate((short,), {"team": 4})) == messages.Answer(["a reply"])
    assert one._carry_out(messages.Generate((short, long), {"team": 4})).refusal == "more than the model's 2 positions"


def test_what_is_asked_before_the_driver_begins_is_answered_by_the_weights_of_the_start() -> None:
    """A server is compared with them; those of a checkpoint are loaded when training begins."""
    seen: list[object] = []

    def train(resume_from_checkpoint: str) -> None:
        seen.append(resume_from_checkpoint)

    one = worker(
        _connection=SimpleNamespace(send=seen.append),
        _inbox=SimpleQueue(),
        _plan=SimpleNamespace(resume="checkpoint-1"),
        _weights=SimpleNamespace(scores=lambda *_: [0.5]),
        _ranks=None,
        _trainer=SimpleNamespace(train=train),
    )
    for order in (messages.Score("team", (1,), (2,)), messages.Begin(), messages.End()):
        one._inbox.put(order)
    one.run()
    assert seen == [messages.Answer([0.5]), "checkpoint-1"]

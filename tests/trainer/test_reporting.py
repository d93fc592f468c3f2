"""What a run reports when it is asked to stop."""

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from at_grpo.checkpointing import committing
from at_grpo.reporting import RunReport
from at_grpo.samples import Iteration
from at_grpo.stopping import InterruptedRun
from tests.trainer.tiny_trainer import cut, make_trainer, random_samples, run_config


def interrupted_at(folder: Path, step: int) -> None:
    """A run of two iterations that gets a SIGINT while it collects iteration `step`."""
    config = run_config(folder, steps=2)
    config = replace(config, run=replace(config.run, save_steps=1))
    trainer, _ = make_trainer(config, [])
    report = RunReport(config, folder)
    for callback in report.callbacks:
        trainer.add_callback(callback)

    def collect(now: int) -> Iteration:
        if now == step:
            os.kill(os.getpid(), signal.SIGINT)
        return Iteration(cut(random_samples("tool", 4, now), 4) + cut(random_samples("planner", 4, now), 4), {})

    trainer._collect = collect
    trainer._commit = lambda checkpoint: committing(checkpoint, config)
    with report.running(trainer):
        trainer.train()


def test_a_run_that_is_stopped_halfway_says_where_it_goes_on(tmp_path: Path) -> None:
    with pytest.raises(InterruptedRun) as stopped:
        interrupted_at(tmp_path, step=0)
    assert stopped.value.checkpoint == tmp_path / "checkpoint-1"


def test_a_run_that_is_stopped_in_its_last_iteration_is_complete(tmp_path: Path) -> None:
    interrupted_at(tmp_path, step=1)
    assert (tmp_path / "checkpoint-2" / "complete.json").exists()

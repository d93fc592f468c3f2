"""Processes that run what agents write are killed in the middle of a run: no reward, and nothing else, tells of it."""

import os
import random
import signal
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from at_grpo.inference import keeper
from tests.scale import scaled
from tests.trainer.end_to_end import look, process
from tests.trainer.end_to_end.settings import STEPS, resumable
from tests.trainer.end_to_end.vllm_runs import ended, wait_for_step

KILLS = scaled(fast=3, long=10)


@pytest.mark.system  # for the seconds that it takes
@pytest.mark.needs("landlock")
def test_a_run_whose_sandbox_processes_are_killed_is_to_the_last_digit_the_run_in_peace(
    straight: Path, base: Path, tmp_path: Path
) -> None:
    """SIGKILL at random moments: a cage that is lost is no verdict on a program."""
    config = resumable(tmp_path / "run", base)
    config = replace(config, rollout=replace(config.rollout, sandbox="locked"))
    folder, rng = tmp_path / "run", random.Random(0)
    killed = 0
    running = process.start("train_once", config, None, "")
    with ended(running):
        for step in range(1, STEPS):
            wait_for_step(running, folder, step)
            while killed < KILLS * step // (STEPS - 1) and running.exitcode is None:
                time.sleep(rng.uniform(0, 0.3))
                killed += kill_one(running.pid or 0, rng)
        assert process.wait(running) == 0, (folder / process.OUTPUT).read_text()[-3000:]
    assert killed == KILLS
    assert look.tape(folder) == look.tape(straight)
    assert look.training(folder) == look.training(straight)
    assert (
        look.distance(look.weights(folder / f"checkpoint-{STEPS}"), look.weights(straight / f"checkpoint-{STEPS}")) == 0
    )


def kill_one(run: int, rng: random.Random) -> bool:
    """SIGKILL to one of the processes that a run has started; whether one was there to be killed."""
    there = sorted(keeper.descendants(run))
    for victim in rng.sample(there, len(there)):
        with suppress(ProcessLookupError):  # it has ended by itself
            os.kill(victim, signal.SIGKILL)
            return True
    return False

"""A process killed while it saves loses at most the checkpoint it was writing (UC-170)."""

import json
import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from peft import PeftModel
from safetensors.torch import load_file

from at_grpo.checkpointing import ADAPTER, check_same_config, committing, latest_checkpoint
from at_grpo.config import TrainConfig
from at_grpo.policies import build_policies
from tests.scale import scaled
from tests.trainer.test_checkpointing import keeping
from tests.trainer.tiny_trainer import ROLES, base_model, run_config

SAVE_SECONDS = 0.15  # about as long as a save takes, so that kills fall everywhere in it


class Saver:
    """Saves a real PEFT model and its optimizer in a loop; every number in a checkpoint is the checkpoint's step."""

    def __init__(self, run_dir: Path, config: TrainConfig) -> None:
        self.run_dir = run_dir
        self.config = config
        self.model = build_policies(base_model(), config.policies, seed=0)
        self.model.set_requires_grad(list(ROLES), True)
        self.trained = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
        self.optimizer = torch.optim.AdamW(self.trained)
        for parameter in self.trained:
            parameter.grad = torch.ones_like(parameter)
        self.optimizer.step()

    def save(self, step: int) -> None:
        """The files of transformers' `_save_checkpoint`, in its order."""
        with torch.no_grad():
            for parameter in self.trained:
                parameter.fill_(float(step))
                self.optimizer.state[parameter]["exp_avg"].fill_(float(step))
        checkpoint = self.run_dir / f"checkpoint-{step}"
        with committing(checkpoint, self.config):
            self.model.save_pretrained(checkpoint)
            torch.save(self.optimizer.state_dict(), checkpoint / "optimizer.pt")
            torch.save({"last_epoch": step}, checkpoint / "scheduler.pt")
            torch.save(torch.get_rng_state(), checkpoint / "rng_state.pth")
            (checkpoint / "trainer_state.json").write_text(json.dumps({"global_step": step}))

    def run_until_killed(self, first: int) -> None:
        step = first
        while True:
            self.save(step)
            step += 1


def kill_while_saving(saver: Saver, first: int, rng: random.Random) -> None:
    """SIGKILL to a forked saver, a random moment after it has begun a checkpoint."""
    child = os.fork()  # forked, since a new process would need seconds to import torch and PEFT
    if child == 0:
        try:
            saver.run_until_killed(first)
        finally:
            os._exit(1)
    begun = saver.run_dir / f"checkpoint-{first + rng.randrange(3)}"
    while not begun.is_dir():
        assert os.waitpid(child, os.WNOHANG) == (0, 0), "the saver died by itself"
        time.sleep(0.0005)
    time.sleep(rng.random() * SAVE_SECONDS)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def step_of(checkpoint: Path) -> int:
    return int(checkpoint.name.partition("-")[2])


def numbers_in(checkpoint: Path) -> set[float]:
    """Every number that a checkpoint holds."""
    numbers: set[float] = set()
    for role in ROLES:
        for tensor in load_file(checkpoint / role / ADAPTER).values():
            numbers |= set(tensor.flatten().tolist())
    optimizer = torch.load(checkpoint / "optimizer.pt", weights_only=True)
    for state in optimizer["state"].values():
        numbers |= set(state["exp_avg"].flatten().tolist())
    numbers.add(float(torch.load(checkpoint / "scheduler.pt", weights_only=True)["last_epoch"]))
    numbers.add(float(json.loads((checkpoint / "trainer_state.json").read_text())["global_step"]))
    return numbers


@pytest.fixture
def saver(tmp_path: Path) -> Iterator[Saver]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # a forked child has none of the parent's worker threads
    yield Saver(tmp_path / "run", keeping(run_config(tmp_path / "run"), 3))
    torch.set_num_threads(threads)


def test_a_kill_at_any_moment_of_saving_loses_at_most_that_checkpoint(saver: Saver) -> None:
    """UC-170: the latest complete checkpoint is whole, every role in it, and not more than one save behind."""
    rng = random.Random(0)
    step, torn = 1, 0
    saver.save(step)
    for _ in range(scaled(fast=5, long=20)):
        kill_while_saving(saver, step + 1, rng)
        newest = latest_checkpoint(saver.run_dir)
        assert newest is not None
        step = step_of(newest)
        assert numbers_in(newest) == {float(step)}
        check_same_config(newest, saver.config)
        highest = max(map(step_of, saver.run_dir.glob("checkpoint-*")))
        assert highest - step <= 1
        torn += highest != step
    assert torn > 0, "negative control: no kill hit a save, so the highest number alone would have done"


def test_what_a_kill_leaves_is_read_by_plain_peft(saver: Saver) -> None:
    """UC-160: each role's adapter loads by PEFT's own means."""
    saver.save(1)
    kill_while_saving(saver, 2, random.Random(1))
    newest = latest_checkpoint(saver.run_dir)
    assert newest is not None
    model = PeftModel.from_pretrained(base_model(), newest / ROLES[0], adapter_name=ROLES[0])
    model.load_adapter(newest / ROLES[1], adapter_name=ROLES[1])
    lora = {parameter.flatten()[0].item() for name, parameter in model.named_parameters() if "lora" in name}
    assert lora == {float(step_of(newest))}

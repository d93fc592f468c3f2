"""A run that leaves what a test must see of the rows it was trained on: journals as they were committed, gradients."""

import json
import shutil
from dataclasses import astuple
from pathlib import Path
from typing import Any

import torch

from at_grpo import train
from at_grpo.at_grpo_trainer import ATGRPOTrainer
from at_grpo.config import TrainConfig
from at_grpo.journal import FOLDER, Journal
from at_grpo.samples import MicroBatch
from tests.trainer.end_to_end.inside import begin

KEPT, TRAINED = "kept", "trained.jsonl"


def run(config: TrainConfig, resume: Path | None) -> None:
    """`train.run`, watched; `trained.jsonl` is of the latest process only, whose gradients alone count."""
    folder = Path(config.run.output_dir)
    begin(folder)
    keep_journals(folder)  # one whose checkpoint was complete when the process before was killed is never committed
    trained = (folder / TRAINED).open("w")
    commit, step, backward = Journal.commit, ATGRPOTrainer.training_step, ATGRPOTrainer._backward

    def keep_and_commit(self: Journal, checkpoint: Path) -> None:
        keep_journals(folder)
        commit(self, checkpoint)

    def step_and_save(self: Any, *args: Any, **kwargs: Any) -> torch.Tensor:
        version = self.state.global_step
        loss = step(self, *args, **kwargs)
        gradients = {name: value.grad for name, value in self.model.named_parameters() if value.grad is not None}
        torch.save(gradients, folder / KEPT / f"gradients-{version}.pt")
        return loss

    def backward_and_note(self: Any, model: Any, micro_batch: MicroBatch) -> Any:
        for row in micro_batch.samples:
            trained.write(json.dumps([self.state.global_step, astuple(row)[:8]]) + "\n")
        trained.flush()
        return backward(self, model, micro_batch)

    Journal.commit = keep_and_commit  # type: ignore[method-assign]
    ATGRPOTrainer.training_step = step_and_save  # type: ignore[method-assign]
    ATGRPOTrainer._backward = backward_and_note  # type: ignore[method-assign]
    train.run(config, resume)


def keep_journals(folder: Path) -> None:
    """Copy a run's journals as they are now over those that were kept before."""
    (folder / KEPT).mkdir(exist_ok=True)
    if (folder / FOLDER).is_dir():
        shutil.copytree(folder / FOLDER, folder / KEPT, dirs_exist_ok=True)

"""Two real processes that train together, over gloo, and what each of them leaves.

They are forked from a process that has imported TRL: importing it takes longer than all that they do.
"""

import functools
import multiprocessing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from transformers import TrainerCallback

from at_grpo.at_grpo_trainer import ATGRPOTrainer
from at_grpo.config import TrainConfig
from at_grpo.mini_batches import mini_batches_of
from at_grpo.samples import MicroBatch
from at_grpo.updates.ranks import Parameters, Ranks
from tests.trainer.tiny_trainer import ROLES, adapter_tensors, base_tensors, make_trainer, peft_model

WAIT_S = 120.0
_FORK = multiprocessing.get_context("fork")
Tensors = dict[str, torch.Tensor]
Kind = tuple[type[Ranks], int]


@dataclass
class Trace:
    """What a rank has seen: gradients and adapters of every step, its base, its metrics."""

    gradients: list[Tensors]
    adapters: list[Tensors]
    base: Tensors
    log: list[dict[str, float]]


class Watch(TrainerCallback):
    """Keeps copies, since tensors change in place."""

    def __init__(self) -> None:
        self.gradients: list[Tensors] = []
        self.adapters: list[Tensors] = []

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        named = kwargs["model"].named_parameters()
        self.gradients.append({name: value.grad.clone() for name, value in named if value.grad is not None})

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        own = [adapter_tensors(kwargs["model"], role) for role in ROLES]
        self.adapters.append({name: value for tensors in own for name, value in tensors.items()})


def train(config: TrainConfig, batches: Sequence[Sequence[MicroBatch]], ranks: Ranks | None = None) -> Trace:
    """A real training in this process; iteration i trains on `batches[i]`."""
    model, watch = peft_model(config), Watch()
    trainer_class: Any = functools.partial(ATGRPOTrainer, ranks=ranks)
    mini_batches = mini_batches_of(config)
    trainer, _ = make_trainer(config, batches, model=model, trainer_class=trainer_class, mini_batches=mini_batches)
    trainer.add_callback(watch)
    trainer.train()
    return Trace(watch.gradients, watch.adapters, base_tensors(model), trainer.state.log_history)


class OwnTokens(Ranks):
    """The fault that data parallelism invites: gradients are added up, and divided by this rank's tokens alone."""

    def sum(self, tokens: dict[str, int], losses: dict[str, float], parameters: Parameters) -> None:
        own = dict(tokens)
        super().sum(tokens, losses, parameters)
        tokens.update({name: own[name] or tokens[name] for name in tokens})


def train_together(
    config: TrainConfig,
    shares: Sequence[Sequence[Sequence[MicroBatch]]],
    folder: Path,
    kinds: Mapping[str, Kind],
) -> dict[str, list[Trace]]:
    """Train by two ranks, which begin with different adapters and save after every step.

    Args:
        config: of the first.
        shares: rank -> iteration -> its micro-batches.
        folder: for what they leave.
        kinds: trainings to do one after another in the same processes; name -> class of ranks, and how many steps.

    Returns:
        name -> the trace of each rank.
    """
    processes = [
        _FORK.Process(target=_one, args=(config, share, folder, rank, kinds)) for rank, share in enumerate(shares)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(WAIT_S)
    hung = [process for process in processes if process.exitcode is None]
    for process in hung:
        process.kill()
    assert not hung, "a rank waits for the other"
    assert [process.exitcode for process in processes] == [0, 0]
    return {name: [torch.load(folder / f"{name}-{rank}.pt", weights_only=False) for rank in (0, 1)] for name in kinds}


def _one(
    config: TrainConfig,
    batches: Sequence[Sequence[MicroBatch]],
    folder: Path,
    rank: int,
    kinds: Mapping[str, Kind],
) -> None:
    run = replace(config.run, output_dir=str(folder / f"rank-{rank}"), seed=config.run.seed + rank, save_steps=1)
    for name, (kind, steps) in kinds.items():
        ranks = kind(folder / f"{name}-rendezvous", rank, 2, WAIT_S)
        own = replace(config, run=run, optim=replace(config.optim, steps=steps))
        torch.save(train(own, batches, ranks), folder / f"{name}-{rank}.pt")
        ranks.close()

"""Everything that a run tells, hung together here so that `train.py` reads as the algorithm."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from transformers import Trainer, TrainerCallback

from at_grpo.callbacks import MetricsLog, ProgressReport, StopOnSignal, TurnReport, quiet, write_step_episodes
from at_grpo.checkpointing import latest_checkpoint, write_atomically
from at_grpo.config import TrainConfig, describe_player
from at_grpo.curves import read_metrics
from at_grpo.health import HealthMonitor
from at_grpo.model_card import write_model_card
from at_grpo.rollouts.played import Rollout
from at_grpo.samples import Group
from at_grpo.stopping import InterruptedRun

TRAINING = "training.json"


class RunReport:
    """Progress, metrics, tables of turns, episodes, warnings; and at the end the counts and a model card.

    Attributes:
        callbacks: for the trainer.
    """

    def __init__(self, config: TrainConfig, folder: Path) -> None:
        """Report a run of `config` into `folder`."""
        self._config = config
        self._folder = folder
        self._health = HealthMonitor()
        self._turns = TurnReport(config.run.log_turns)
        self._metrics = MetricsLog(folder)
        self._stop = StopOnSignal()
        self.callbacks: list[TrainerCallback] = [ProgressReport(), self._metrics, self._turns, self._stop]

    def on_step(self, step: int, groups: Sequence[Group], rollout: Rollout, metrics: Mapping[str, float]) -> None:
        """An iteration has been collected."""
        self._turns.remember(step, groups)
        self._health.check(step, metrics)
        if step % self._config.run.log_steps == 0:
            write_step_episodes(self._folder, step, rollout.episodes)

    @contextmanager
    def running(self, trainer: Trainer) -> Iterator[None]:
        """Around the training. Raises `InterruptedRun` where it was asked to stop and has saved what it had."""
        quiet(trainer)
        try:
            yield
        finally:
            self._stop.restore()
        checkpoint = latest_checkpoint(self._folder)
        unfinished = trainer.state.global_step < trainer.args.max_steps
        if self._stop.requested and unfinished and checkpoint is not None:
            raise InterruptedRun(checkpoint)

    def finish(self, totals: Mapping[str, int], seconds: Mapping[str, float]) -> None:
        """The run is complete: `training.json` with its counts, and a model card beside the newest adapters."""
        report = {
            "samples": {role: totals.get(f"samples/{role}", 0) for role in self._config.trained},
            "not_trained": {role: describe_player(player) for role, player in self._config.frozen.items()},
            "programs_asked": totals.get("programs/asked", 0),
            "programs_run": totals.get("programs/ran", 0),
            "instances": totals.get("instances", 0),
            "seconds": {phase: round(value, 1) for phase, value in seconds.items()},
        }
        write_atomically(self._folder / TRAINING, json.dumps(report, indent=1) + "\n")
        checkpoint = latest_checkpoint(self._folder)
        if checkpoint is not None:
            latest = {key: value for entry in read_metrics(self._metrics.path) for key, value in entry.items()}
            write_model_card(checkpoint, self._config, latest)

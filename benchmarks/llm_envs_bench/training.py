"""Runs the trainer as its own command would, and reads what it leaves behind.

The trainer is a separate process: its libraries, threads and signals stay its own, and nothing of it is written twice.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from llm_envs.core.errors import UsageError

REPORT, CURVE, CONFIG = "training.json", "learning_curve.png", "config.yaml"
MARKER = "complete.json"  # in every checkpoint that is whole


class TrainingError(RuntimeError):
    """The trainer has not finished, and has said why itself; `status` is its exit status."""

    def __init__(self, status: int) -> None:
        super().__init__(f"at-grpo train ended with status {status}")
        self.status = status


@dataclass(frozen=True, slots=True)
class TrainedRun:
    """A finished training.

    Attributes:
        folder: of the run.
        first, last: the checkpoint before the first step and the one after the last.
        env, options: what was trained on.
        roles: the roles that were trained, in the order of the configuration.
        report: what the trainer counted (`training.json`).
    """

    folder: Path
    first: Path
    last: Path
    env: str
    options: dict[str, Any]
    roles: tuple[str, ...]
    report: dict[str, Any]

    @property
    def curve(self) -> Path:
        """The learning curve, a PNG."""
        return self.folder / CURVE


def train(config: str, folder: Path, overrides: Sequence[str]) -> TrainedRun:
    """Train into `folder`, going on where an earlier attempt with the same configuration stopped.

    Args:
        config: name or file of a configuration of the trainer.
        folder: run folder.
        overrides: `section.key=value`, as on the trainer's own command line.

    Raises:
        TrainingError: the trainer has not finished.
    """
    resume = ["--resume"] if _checkpoints(folder) else []
    place = f"run.output_dir={json.dumps(str(folder))}"
    command = [sys.executable, "-m", "at_grpo", "train", "--config", config, *resume, place, *overrides]
    status = wait_through_interrupts(subprocess.Popen(command))
    if status:
        raise TrainingError(status)
    return read_training(folder)


def wait_through_interrupts(process: "subprocess.Popen[bytes]") -> int:
    """The exit status. Ctrl-C reaches the trainer as well, which saves before it ends: that is waited for."""
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue


def read_training(folder: Path) -> TrainedRun:
    """What a training left behind. Raises `UsageError` where it is not finished."""
    checkpoints = _checkpoints(folder)
    report = folder / REPORT
    if not checkpoints or not report.exists():
        raise UsageError(f"training={str(folder)!r}: must be a finished run of at-grpo train.")
    config = yaml.safe_load((checkpoints[-1] / CONFIG).read_text(encoding="utf-8"))
    return TrainedRun(
        folder=folder,
        first=checkpoints[0],
        last=checkpoints[-1],
        env=config["env"]["id"],
        options=config["env"]["options"],
        roles=tuple(config["roles"]),
        report=json.loads(report.read_text(encoding="utf-8")),
    )


def _checkpoints(folder: Path) -> list[Path]:
    """Complete checkpoints by step."""
    found = [marker.parent for marker in folder.glob(f"checkpoint-*/{MARKER}")]
    return sorted(found, key=lambda path: int(path.name.rpartition("-")[2]))

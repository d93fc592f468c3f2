"""Runs in processes of their own, since one that has trained before is no new process."""

from importlib import import_module
from multiprocessing.process import BaseProcess
from pathlib import Path

from at_grpo.config import TrainConfig
from tests import forked
from tests.forked import wait

_INSIDE = "tests.trainer.end_to_end.inside"
OUTPUT = "output.txt"  # what a run says, in its folder


def start(function: str, *args: object) -> BaseProcess:
    """Begin a function of `inside` in a new process."""
    return forked.start(_call, function, args)


def _call(function: str, args: tuple[object, ...]) -> None:
    getattr(import_module(_INSIDE), function)(*args)


def train(config: TrainConfig, resume: Path | None = None, fault: str = "") -> Path:
    """`train.run` in a new process, which must succeed; returns the run's folder.

    Args:
        config: of the run.
        resume: a checkpoint to go on from.
        fault: one of `inside.FAULTS`, for negative controls.
    """
    folder = Path(config.run.output_dir)
    status = wait(start("train_once", config, resume, fault))
    assert status == 0, f"status {status}: {(folder / OUTPUT).read_text()[-3000:]}"
    return folder


def command_line(folder: Path, *argv: str, fault: str = "") -> int:
    """The `at-grpo` script in a new process; returns its exit status. `folder` gets what it says."""
    return wait(start("command_line", argv, folder, fault))

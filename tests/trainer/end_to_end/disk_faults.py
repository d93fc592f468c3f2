"""Faults that leave a run's disk without a byte, right before a certain write."""

import resource
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from at_grpo.at_grpo_trainer import ATGRPOTrainer
from at_grpo.inference import publishing
from at_grpo.inference.server import Server
from at_grpo.journal import Journal

BALLAST = "ballast"


def fill(disk: Path) -> None:
    """Take all that is left of a disk, which must be a small one."""
    with (disk / BALLAST).open("ab", buffering=0) as ballast, suppress(OSError):
        while True:
            ballast.write(bytes(1 << 16))


def _disk_of(path: Path) -> Path:
    """The root of the disk that a path is on."""
    path = path.resolve()
    return next(folder for folder in (path, *path.parents) if folder.is_mount())


def _before(owner: Any, name: str, path_of: Callable[..., Path | None]) -> None:
    """Fill the disk of the path that a call is about, before the call; None for calls that are let through."""
    call = getattr(owner, name)

    def fill_and_call(*args: Any, **kwargs: Any) -> Any:
        path = path_of(*args, **kwargs)
        if path is not None:
            fill(_disk_of(path))
        return call(*args, **kwargs)

    setattr(owner, name, fill_and_call)


def _before_a_journal_line() -> None:
    _before(Journal, "append", lambda journal, version, played: journal._folder if version == 1 else None)


def _before_a_checkpoint() -> None:
    def of_the_first_step(trainer: Any, model: Any, trial: Any) -> Path | None:
        return Path(trainer.args.output_dir) if trainer.state.global_step == 1 else None

    _before(ATGRPOTrainer, "_save_checkpoint", of_the_first_step)


def _before_a_publication() -> None:
    _before(publishing, "save_file", lambda tensors, path: path if "-v1-" in path.parent.name else None)


def _before_a_second_server() -> None:
    def of_the_log(server: Any) -> Path | None:
        log: Path = server._log
        if not log.exists():
            return None
        with log.open("ab") as file:  # up to the end of the page that it has, where a full disk leaves it room
            file.write(b"\n" * (-log.stat().st_size % resource.getpagesize()))
        return log

    _before(Server, "_start", of_the_log)


FAULTS: dict[str, Callable[[], None]] = {
    "disk filled before a line of the journal": _before_a_journal_line,
    "disk filled before a checkpoint": _before_a_checkpoint,
    "disk filled before a publication": _before_a_publication,
    "disk filled before a server is started again": _before_a_second_server,
}

"""The journal: what was sampled for a version, on the disk before it is trained on, so that a killed run goes on.

A version's gradient lives in memory until the next checkpoint. If the process dies before, the gradient is gone and the
version's rows are fed again: those that were sampled already come from its journal, the rest is sampled. So the
checkpoint of version v + 1 is what commits the consumption of version v, and no row counts twice.

`journal/v<version>.jsonl` begins with a line that names the checkpoint whose weights sampled it; each further line is
an instance, whole. Weights of the same number on another branch of the run have another checkpoint, so their rows are
never mixed. Lines are not forced onto the disk one by one: an instance that a power cut takes is played again.
"""

import json
import logging
import secrets
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from at_grpo.checkpointing import PREFIX, write_atomically
from at_grpo.journal_lines import from_json, to_json
from at_grpo.rollouts.played import Played
from at_grpo.storage import StorageError

logger = logging.getLogger(__name__)

FOLDER, CHECKPOINT_ID = "journal", "checkpoint_id.json"


class JournalError(StorageError):
    """The journal can't be written, and what is not in it may not be trained on."""


class Journal:
    """The journals of a run. One version is open at a time."""

    def __init__(self, run_dir: Path) -> None:
        """Nothing is open yet.

        Args:
            run_dir: the run's folder.
        """
        self._folder = run_dir / FOLDER
        self._ids: dict[int, str] = {}  # of the checkpoints that this process has written or resumed from
        self._file: BinaryIO | None = None
        self._begun: set[int] = set()  # versions of this process

    # ---- checkpoints

    def save(self, checkpoint: Path) -> None:
        """Give a checkpoint that is being written its id. Written again, it keeps it."""
        name = self._ids.setdefault(_step(checkpoint), secrets.token_hex(8))
        write_atomically(checkpoint / CHECKPOINT_ID, json.dumps(name))

    def restore(self, checkpoint: Path) -> None:
        """The run goes on from this checkpoint; one without an id has no journal."""
        path = checkpoint / CHECKPOINT_ID
        if path.is_file():
            self._ids[_step(checkpoint)] = json.loads(path.read_text("utf-8"))

    def commit(self, checkpoint: Path) -> None:
        """The checkpoint is complete: what was consumed before it is consumed for good."""
        self._discard({path for path in self._paths() if _version(path) < _step(checkpoint)})

    # ---- versions

    def open(self, version: int) -> list[Played]:
        """Begin a version, or go on with the one that the run has resumed at; returns the instances that it holds.

        Journals that nobody can go on from any more are discarded: those of other versions than this one and the
        latest checkpoint's.

        Raises:
            JournalError: the folder can't be written.
        """
        self.close()
        path = self._folder / f"v{version}.jsonl"
        needed = {path, self._folder / f"v{max(self._ids, default=version)}.jsonl"}
        self._discard(self._paths() - needed)
        self._begun.add(version)
        header = json.dumps({"version": version, "checkpoint": self._ids.get(version)})
        played, size = _read(path, header) if version in self._ids else ([], 0)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._file = path.open("r+b" if size else "wb")
            self._file.truncate(size)  # a torn line must not swallow the next one
            self._file.seek(size)
        except OSError as error:
            raise self._failed(path, error) from error
        if not size:
            self._write(self._file, header)
        if played:
            logger.info("%s: %d instances of version %d need not be played again", path, len(played), version)
        return played

    def append(self, played: Played) -> None:
        """Write an instance, before it may be trained on. Raises `JournalError`."""
        if self._file is None:
            raise RuntimeError("no version is open: call Journal.open first")
        self._write(self._file, to_json(played))

    def close(self) -> None:
        """Close the open version's file; it stays until its consumption is committed."""
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def _write(self, file: BinaryIO, line: str) -> None:
        try:
            file.write(line.encode() + b"\n")
            file.flush()
        except OSError as error:
            with suppress(OSError):  # it tries once more to write what is left
                self.close()
            raise self._failed(Path(file.name), error) from error

    @staticmethod
    def _failed(path: Path, error: OSError) -> JournalError:
        return JournalError(
            f"{path}: can't be written ({error.strerror or error}). Make room on that disk, then go on with --resume."
        )

    def _paths(self) -> set[Path]:
        return {path for path in self._folder.glob("v*.jsonl") if path.stem[1:].isdigit()}

    def _discard(self, paths: set[Path]) -> None:
        """Remove journals. What an earlier process left is named, since its instances are played anew."""
        for path in sorted(paths):
            if _version(path) not in self._begun:
                logger.info("%s: is discarded, the run does not go on from its version", path)
            path.unlink()


def _read(path: Path, header: str) -> tuple[list[Played], int]:
    """The instances of a journal with this header, and how many bytes of it are whole. A line that is torn, and what
    comes after it, is left out.
    """
    if not path.is_file():
        return [], 0
    with path.open("rb") as file:
        if file.readline() != header.encode() + b"\n":
            logger.info("%s: is discarded, it was sampled by other weights", path)
            return [], 0
        played: list[Played] = []
        size = file.tell()
        for line in file:
            instance = _instance(line)
            if instance is None:
                logger.info("%s: is torn after %d instances", path, len(played))
                break
            played.append(instance)
            size += len(line)
    return played, size


def _instance(line: bytes) -> Played | None:
    """The instance of a line, None where the line is torn."""
    try:
        return from_json(line) if line.endswith(b"\n") else None
    except ValueError:
        return None


def _version(path: Path) -> int:
    return int(path.stem[1:])


def _step(checkpoint: Path) -> int:
    return int(checkpoint.name.removeprefix(PREFIX))

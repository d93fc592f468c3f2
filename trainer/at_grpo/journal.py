"""The journal: what was sampled for a version, on the disk before it is trained on, so that a killed run goes on.

A version's gradient lives in memory until the next checkpoint. If the process dies before, the gradient is gone and the
version's rows are fed again: those that were sampled already come from its journal, the rest is sampled. So the
checkpoint of version v + 1 is what commits the consumption of version v, and no row counts twice.

`journal/v<version>.jsonl` begins with a line that names the version that the rows are trained at; each further line is
an instance, whole, with the ids of the weights that sampled it: of that version, and with `rollout.staleness` of some
before. A checkpoint knows the ids of the weights up to its own. A resumed run takes the instances that those sampled,
and no others: weights of the same number on another branch of the run have another id, and those that were on the way
to a checkpoint that was never written do not come back. Lines are not forced onto the disk one by one: an instance that
a power cut takes is played again.
"""

import json
import logging
import secrets
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from at_grpo.checkpointing import PREFIX, write_atomically
from at_grpo.journal_lines import from_json, to_json, weights_of
from at_grpo.rollouts.played import Played
from at_grpo.storage import StorageError

logger = logging.getLogger(__name__)

FOLDER, WEIGHTS_IDS = "journal", "weights_ids.json"


class JournalError(StorageError):
    """The journal can't be written, and what is not in it may not be trained on."""


class Journal:
    """The journals of a run. A version is open while it is played, and with it those that are played ahead of it."""

    def __init__(self, run_dir: Path, staleness: int = 0) -> None:
        """Nothing is open yet.

        Args:
            run_dir: the run's folder.
            staleness: how many versions older than the one that trains on a row the weights may be that sampled it.
        """
        self._folder = run_dir / FOLDER
        self._staleness = staleness
        self._ids: dict[int, str] = {}  # of the weights that this process has had or resumed from
        self._checkpoint: int | None = None  # the latest
        self._files: dict[int, BinaryIO] = {}
        self._begun: set[int] = set()  # versions of this process

    # ---- checkpoints

    def save(self, checkpoint: Path) -> None:
        """Keep the ids of its weights, and of those before that may still sample, with a checkpoint that is being
        written. Written again, it keeps them.
        """
        self._checkpoint = step = _step(checkpoint)
        ids = {version: self._id(version) for version in range(max(0, step - self._staleness), step + 1)}
        write_atomically(checkpoint / WEIGHTS_IDS, json.dumps(ids))

    def restore(self, checkpoint: Path) -> None:
        """The run goes on from this checkpoint; one without ids has no journal."""
        self._checkpoint = _step(checkpoint)
        path = checkpoint / WEIGHTS_IDS
        if path.is_file():
            self._ids = {int(version): name for version, name in json.loads(path.read_text("utf-8")).items()}

    def commit(self, checkpoint: Path) -> None:
        """The checkpoint is complete: what was consumed before it is consumed for good."""
        self._discard({path for path in self._paths() if _version(path) < _step(checkpoint)})

    def _id(self, version: int) -> str:
        return self._ids.setdefault(version, secrets.token_hex(8))

    # ---- versions

    def open(self, version: int) -> list[Played]:
        """Begin a version, or go on with one that an earlier process began; returns the instances that it holds.

        Versions that can't be played any more are closed. Journals that nobody can go on from are discarded: those of
        other versions than the open ones and the ones that a run may resume at.

        Raises:
            JournalError: the folder can't be written.
        """
        self._close(range(version - self._staleness))
        first = version if self._checkpoint is None else self._checkpoint
        needed = {*self._files, version, *range(first, first + self._staleness + 1)}
        self._discard(self._paths() - set(map(self._path, needed)))
        self._begun.add(version)
        path = self._path(version)
        kept = self._read(path)
        partial = path.with_suffix(".partial")
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            partial.write_bytes(json.dumps({"version": version}).encode() + b"\n" + b"".join(line for line, _ in kept))
            partial.replace(path)
            self._files[version] = path.open("ab")
        except OSError as error:
            raise self._failed(path, error) from error
        if kept:
            logger.info("%s: %d instances of version %d need not be played again", path, len(kept), version)
        return [played for _, played in kept]

    def append(self, version: int, played: Played) -> None:
        """Write an instance, before it may be trained on. Raises `JournalError`."""
        if version not in self._files:
            raise RuntimeError(f"version {version} is not open: call Journal.open first")
        sampled_by = sorted({sample.version for group in played.groups for sample in group.samples})
        line = to_json(played, {sampler: self._id(sampler) for sampler in sampled_by})
        file = self._files[version]
        try:
            file.write(line.encode() + b"\n")
            file.flush()
        except OSError as error:
            with suppress(OSError):  # it tries once more to write what is left
                self.close()
            raise self._failed(self._path(version), error) from error

    def close(self) -> None:
        """Close the open versions' files; they stay until their consumption is committed."""
        self._close(range(max(self._files, default=-1) + 1))

    def _close(self, versions: range) -> None:
        for version in [version for version in self._files if version in versions]:
            self._files.pop(version).close()

    def _read(self, path: Path) -> list[tuple[bytes, Played]]:
        """The lines of a journal that a run may go on from, and their instances. A line that is torn, and what comes
        after it, is left out; so is one that other weights sampled.
        """
        kept: list[tuple[bytes, Played]] = []
        others = 0
        if not path.is_file():
            return kept
        with path.open("rb") as file:
            file.readline()
            for line in file:
                try:
                    weights, played = weights_of(line), from_json(line)
                except ValueError:
                    break
                if not line.endswith(b"\n"):
                    break
                if weights and weights.items() <= self._ids.items():
                    kept.append((line, played))
                elif weights:  # without samples it is played again, whatever the weights were
                    others += 1
        if others:
            logger.info("%s: %d instances are discarded, they were sampled by other weights", path, others)
        return kept

    @staticmethod
    def _failed(path: Path, error: OSError) -> JournalError:
        return JournalError(
            f"{path}: can't be written ({error.strerror or error}). Make room on that disk, then go on with --resume."
        )

    def _path(self, version: int) -> Path:
        return self._folder / f"v{version}.jsonl"

    def _paths(self) -> set[Path]:
        return {path for path in self._folder.glob("v*.jsonl") if path.stem[1:].isdigit()}

    def _discard(self, paths: set[Path]) -> None:
        """Remove journals. What an earlier process left is named, since its instances are played anew."""
        for path in sorted(paths):
            if _version(path) not in self._begun:
                logger.info("%s: is discarded, the run does not go on from its version", path)
            path.unlink()


def _version(path: Path) -> int:
    return int(path.stem[1:])


def _step(checkpoint: Path) -> int:
    return int(checkpoint.name.removeprefix(PREFIX))

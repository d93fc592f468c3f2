"""The folder of a run: `run.json`, `episodes.jsonl`, and `failures.jsonl` with what infrastructure failures left owed.

Crash safety: an episode is appended the moment it ends; a last line without its newline is a torn write and is played
again. When nothing more is to be played the file is rewritten in the order of the instances, so that equal episodes
give equal bytes whatever the order they ended in and however often the run was interrupted.
"""

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from llm_envs.core.errors import UsageError
from llm_envs.episode import Ending, Episode, read_episodes, write_episodes
from llm_envs_bench.spec import RunSpec

RUN, EPISODES, FAILURES = "run.json", "episodes.jsonl", "failures.jsonl"


@dataclass(frozen=True, slots=True)
class Run:
    """What a run folder holds.

    Attributes:
        episodes: scored episodes, by instance.
        failures: one record (`ending="error"`) for each instance that infrastructure kept from being played; it is owed
            and has no score.
    """

    folder: Path
    spec: RunSpec
    episodes: tuple[Episode, ...]
    failures: tuple[Episode, ...]

    @property
    def owed(self) -> int:
        """Instances without a scored episode."""
        return self.spec.instances - len(self.episodes)


def load_run(folder: Path) -> Run:
    """Read a run folder; `UsageError` where it holds none."""
    spec = _read_spec(folder)
    return Run(folder, spec, tuple(_scored(folder / EPISODES)), tuple(_read(folder / FAILURES)))


def is_complete(folder: Path, spec: RunSpec) -> bool:
    """Whether a folder holds this very run and owes nothing of it."""
    if not (folder / RUN).exists():
        return False
    return not spec.differences(_read_spec(folder)) and load_run(folder).owed == 0


class RunWriter:
    """Fills a run folder; one process at a time."""

    def __init__(self, folder: Path, spec: RunSpec, *, resume: bool) -> None:
        """Open a new folder, or an old one to play what it still owes.

        Raises:
            UsageError: the folder holds a run and `resume` is off; or holds another run than `spec`; or is in use.
        """
        self.folder = folder
        _claim(folder, spec, resume=resume)
        self._lock = (folder / RUN).open(encoding="utf-8")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._lock.close()
            raise UsageError(f"out={str(folder)!r}: another process is writing this run; wait for it.") from error
        _cut_torn_line(folder / EPISODES)
        (folder / FAILURES).unlink(missing_ok=True)  # what failed is owed again
        done = {episode.index for episode in _scored(folder / EPISODES)}
        self.owed = [index for index in spec.indices if index not in done]

    def record(self, episode: Episode) -> None:
        """Append one episode, a failure to its own file."""
        name = FAILURES if episode.ending is Ending.ERROR else EPISODES
        write_episodes(self.folder / name, [episode])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Put the files in order unless the run was cut short, and let go of the folder."""
        try:
            if kind is None:
                for name in (EPISODES, FAILURES):
                    _sort(self.folder / name)
        finally:
            self._lock.close()


def _claim(folder: Path, spec: RunSpec, *, resume: bool) -> None:
    """Write `run.json`, or check that the one that is there describes this very run."""
    if not (folder / RUN).exists():
        folder.mkdir(parents=True, exist_ok=True)
        _write_whole(folder / RUN, spec.to_json())
        return
    differences = spec.differences(_read_spec(folder))
    if differences:
        raise UsageError(f"out={str(folder)!r}: holds another run ({'; '.join(differences)}); name another folder.")
    if not resume:
        raise UsageError(f"out={str(folder)!r}: holds this run already; add --resume to play what it owes.")


def _read_spec(folder: Path) -> RunSpec:
    try:
        return RunSpec.from_json((folder / RUN).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UsageError(f"run={str(folder)!r}: must be a folder that llm-envs eval has written.") from error


def _read(path: Path) -> list[Episode]:
    return list(read_episodes(path)) if path.exists() else []


def _scored(path: Path) -> list[Episode]:
    """Episodes by instance, one each: the first where a crash of the file system left two."""
    by_index: dict[int, Episode] = {}
    for episode in _read(path):
        by_index.setdefault(_index(episode), episode)
    return [by_index[index] for index in sorted(by_index)]


def _index(episode: Episode) -> int:
    if episode.index is None:
        raise UsageError(f"index=None in an episode of {episode.env}: a run holds instances of a split only.")
    return episode.index


def _cut_torn_line(path: Path) -> None:
    """Drop a last line without its newline; what is appended next would otherwise be glued to it."""
    if not path.exists():
        return
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        os.truncate(path, whole)


def _sort(path: Path) -> None:
    if path.exists():
        episodes = sorted(_read(path), key=_index) if path.name == FAILURES else _scored(path)
        _write_whole(path, "".join(episode.to_json() + "\n" for episode in episodes))


def _write_whole(path: Path, text: str) -> None:
    """Replace a file by one that is already on the disk, so that a crash leaves the old or the new one whole."""
    new = path.with_name(path.name + ".new")
    with new.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)

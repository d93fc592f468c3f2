"""The folder of a run.

| file | content |
|---|---|
| `run.json` | what was asked for: the plan, and the versions of what took part |
| `episodes.jsonl` | scored episodes, one a line |
| `failures.jsonl` | a record for each episode that infrastructure kept from a score; it is owed |
| `timing.jsonl` | a line for each attempt at an episode: seconds, tokens, faults |

Crash safety: a line is appended the moment an episode ends; a last line without its newline is a torn write, and that
episode is played again. When nothing more is to be played `episodes.jsonl` is put in order, by entry, instance and
sample, so that equal episodes give equal bytes whatever the order they ended in and however often the run was
interrupted. Whatever differs between two such runs stands in `timing.jsonl`.
"""

import fcntl
import json
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from llm_envs.core.errors import UsageError
from llm_envs.episode import Episode, read_episodes
from llm_envs_bench.attempts import Attempt
from llm_envs_bench.lines import append_line, cut_torn_line, read_lines, sort_lines, write_whole
from llm_envs_bench.plan import RunPlan
from llm_envs_bench.spec import EpisodeKey, RunSpec

RUN, EPISODES, FAILURES, TIMING = "run.json", "episodes.jsonl", "failures.jsonl", "timing.jsonl"
Order = dict[str, int]  # id -> place


@dataclass(frozen=True, slots=True)
class Run:
    """What a run folder holds of one entry.

    Attributes:
        episodes: scored episodes, by instance, then by sample.
        failures: one record (`ending="error"`) for each episode that infrastructure kept from being played; it is owed
            and has no score.
        attempts: what each attempt took, in the order in which they ended.
    """

    folder: Path
    spec: RunSpec
    episodes: tuple[Episode, ...]
    failures: tuple[Episode, ...]
    attempts: tuple[Attempt, ...] = ()

    @property
    def owed(self) -> int:
        """Episodes without a score."""
        return self.spec.episodes - len(self.episodes)


def load_runs(folder: Path) -> tuple[Run, ...]:
    """Read a run folder, one `Run` an entry; `UsageError` where it holds none."""
    plan = load_plan(folder)
    scored = _by_entry(_scored(folder / EPISODES, _order(plan)))
    failed = _by_entry(_read(folder / FAILURES))
    attempts: dict[str, list[Attempt]] = {}
    for line in read_lines(folder / TIMING):
        attempt = Attempt.from_json(line)
        attempts.setdefault(_entry(attempt.id), []).append(attempt)
    return tuple(
        Run(
            folder,
            spec,
            tuple(scored.get(spec.entry, ())),
            tuple(failed.get(spec.entry, ())),
            tuple(attempts.get(spec.entry, ())),
        )
        for spec in plan.specs
    )


def load_run(folder: Path) -> Run:
    """Read a run folder that plays one environment; `UsageError` where it holds none, or several."""
    runs = load_runs(folder)
    if len(runs) > 1:
        names = ", ".join(run.spec.entry for run in runs)
        raise UsageError(f"run={str(folder)!r}: must play one environment; this one plays {names}.")
    return runs[0]


def load_plan(folder: Path) -> RunPlan:
    """What a run folder was asked to hold; `UsageError` where it is none."""
    try:
        return RunPlan.from_json((folder / RUN).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UsageError(f"run={str(folder)!r}: must be a folder that llm-envs eval has written.") from error


def is_run(folder: Path) -> bool:
    """Whether a folder was begun to be filled with a run."""
    return (folder / RUN).exists()


def is_complete(folder: Path, plan: RunPlan) -> bool:
    """Whether a folder holds this very run and owes nothing of it."""
    if not is_run(folder) or plan.differences(load_plan(folder)):
        return False
    return not _owed(folder, plan)


class RunWriter:
    """Fills a run folder; one process at a time.

    Attributes:
        owed: the episodes without a score, in order.
        spent: the attempts of earlier processes.
    """

    def __init__(self, folder: Path, plan: RunPlan, *, resume: bool) -> None:
        """Open a new folder, or an old one to play what it still owes.

        Raises:
            UsageError: the folder holds a run and `resume` is off; or holds another run than `plan`; or is in use.
        """
        self.folder = folder
        self._plan = plan
        _claim(folder, plan, resume=resume)
        self._lock = (folder / RUN).open(encoding="utf-8")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._lock.close()
            raise UsageError(f"out={str(folder)!r}: another process is writing this run; wait for it.") from error
        cut_torn_line(folder / EPISODES)
        cut_torn_line(folder / TIMING)
        (folder / FAILURES).unlink(missing_ok=True)  # what failed is owed again
        self.owed = _owed(folder, plan)

    def earlier_attempts(self) -> list[Attempt]:
        """What earlier processes tried; they spent of the same budget."""
        return [Attempt.from_json(line) for line in read_lines(self.folder / TIMING)]

    def record(self, key: EpisodeKey, episode: Episode, attempt: Attempt) -> None:
        """Append one attempt and its episode, a failed one to its own file.

        What it took is written first: a crash in between leaves an episode that is owed and was paid for.
        """
        append_line(self.folder / TIMING, attempt.to_json())
        stored = replace(episode, id=key.id, sample=key.sample)
        append_line(self.folder / (FAILURES if attempt.failure else EPISODES), stored.to_json())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Put the files in order unless the run was cut short, and let go of the folder."""
        try:
            if kind is None:
                for name in (EPISODES, FAILURES):
                    sort_lines(self.folder / name, _order(self._plan))
        finally:
            self._lock.close()


def _claim(folder: Path, plan: RunPlan, *, resume: bool) -> None:
    """Write `run.json`, or check that the one that is there describes this very run."""
    if not is_run(folder):
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / RUN, [plan.to_json()])
        return
    differences = plan.differences(load_plan(folder))
    if differences:
        raise UsageError(f"out={str(folder)!r}: holds another run ({'; '.join(differences)}); name another folder.")
    if not resume:
        raise UsageError(f"out={str(folder)!r}: holds this run already; add --resume to play what it owes.")


def _owed(folder: Path, plan: RunPlan) -> list[tuple[RunSpec, EpisodeKey]]:
    done = {json.loads(line)["id"] for line in read_lines(folder / EPISODES)}
    return [(spec, key) for spec, key in plan if key.id not in done]


def _order(plan: RunPlan) -> Order:
    return {key.id: place for place, (_, key) in enumerate(plan)}


def _read(path: Path) -> list[Episode]:
    return list(read_episodes(path)) if path.exists() else []


def _scored(path: Path, order: Order) -> list[Episode]:
    """Episodes in order, one each: the first where a crash of the file system left two."""
    by_id: dict[str, Episode] = {}
    for episode in _read(path):
        by_id.setdefault(episode.id, episode)
    return sorted(by_id.values(), key=lambda episode: order[episode.id])


def _by_entry(episodes: list[Episode]) -> dict[str, list[Episode]]:
    found: dict[str, list[Episode]] = {}
    for episode in episodes:
        found.setdefault(_entry(episode.id), []).append(episode)
    return found


def _entry(episode_id: str) -> str:
    return episode_id.rsplit("/", 2)[0]

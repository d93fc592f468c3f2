"""Builds the page: the runs as data, the template, style and script around it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

from llm_envs.core.errors import UsageError
from llm_envs.episode import Ending, Episode
from llm_envs_bench.metrics import common_instances, success_difference, summarise
from llm_envs_bench.stats import Estimate, average
from llm_envs_bench.store import Run
from llm_envs_bench.viewer.pack import compact, pack

MAX_RUNS = 2  # what fits side by side
EPISODES = 1_000
PAGE_BYTES = 30_000_000
ROOM = 100_000  # for labels, options and the page around them
SCRIPTS = ("text", "unpack", "grid", "board", "python", "code", "math", "lanes", "index", "app")  # in this order
Runs = Sequence[Run]  # of one folder, one an entry


def write_page(path: Path, runs: Mapping[str, Runs], *, title: str, episodes: int = EPISODES) -> None:
    """`build_page` into a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(build_page(runs, title=title, episodes=episodes), encoding="utf-8")


def build_page(runs: Mapping[str, Runs], *, title: str, episodes: int = EPISODES) -> str:
    """The page for one run, or for two runs side by side; never larger than `PAGE_BYTES`.

    Args:
        runs: label -> the runs of a folder, in the order in which they are shown.
        title: heading of the page.
        episodes: shown at most, the first of each entry in turn; fewer where they would not fit.

    Raises:
        UsageError: no run or more than two, two runs that share no instance, or one without a scored episode.
    """
    if not 1 <= len(runs) <= MAX_RUNS:
        raise UsageError(f"runs={len(runs)}: a page shows one run, or two side by side.")
    entries = _entries(runs)
    rows = _dealt(entries, episodes)
    assets = {"style": _asset("page.css"), "script": "\n".join(_asset(f"{name}.js") for name in SCRIPTS)}
    index = [_index_row(row) for row in rows]
    packed = pack((row.plays for row in rows), PAGE_BYTES - len(compact(index)) - sum(map(len, assets.values())) - ROOM)
    data = {
        "runs": list(runs),
        "score": _score(entries),
        "entries": [_entry_data(entry) for entry in entries],
        "episodes": index[: packed.episodes],
        "total": sum(len(entry.rows) for entry in entries),
        "groups": packed.sizes,
    }
    return (
        _template_environment()
        .from_string(_asset("page.html.jinja"))
        .render(
            title=title,
            groups=packed.groups,
            # "<" must not close the element that holds the data; inside JSON it can stand only in strings.
            data=compact(data).replace("<", "\\u003c"),
            **assets,
        )
    )


@dataclass(frozen=True, slots=True)
class _Row:
    """An episode: an instance's sample, played by each run."""

    entry: int
    index: int
    sample: int
    plays: list[Episode]


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry that all runs play.

    Attributes:
        runs: the entry of each run.
        rows: the episodes that every run has; those without a score only where there is one run.
    """

    runs: list[Run]
    rows: list[_Row]


def _entries(runs: Mapping[str, Runs]) -> list[_Entry]:
    """The entries that all runs have, in the order of the first."""
    by_name = [{one.spec.entry: one for one in found} for found in runs.values()]
    shared = [name for name in by_name[0] if all(name in other for other in by_name)]
    if not shared:
        raise UsageError("runs: must hold the same instances of the same environment; they have no entry in common.")
    return [_entry(place, [found[name] for found in by_name]) for place, name in enumerate(shared)]


def _entry(place: int, runs: list[Run]) -> _Entry:
    if len(runs) > 1:
        common_instances(runs)
    keyed = [{(episode.index or 0, episode.sample): episode for episode in run.episodes} for run in runs]
    if len(runs) == 1:  # beside another run, an episode without a score shows nothing of either
        keyed[0] |= {(episode.index or 0, episode.sample): episode for episode in runs[0].failures}
    keys = sorted(key for key in keyed[0] if all(key in other for other in keyed))
    return _Entry(runs, [_Row(place, *key, [found[key] for found in keyed]) for key in keys])


def _dealt(entries: Sequence[_Entry], most: int) -> list[_Row]:
    """At most so many episodes, as evenly from all entries as they have them; those of an entry stay together."""
    taken, left = [0] * len(entries), most
    while left > 0:
        open_entries = [place for place, entry in enumerate(entries) if taken[place] < len(entry.rows)]
        if not open_entries:
            break
        share = max(1, left // len(open_entries))
        for place in open_entries:
            more = min(share, len(entries[place].rows) - taken[place], left)
            taken[place] += more
            left -= more
    return [row for place, entry in enumerate(entries) for row in entry.rows[: taken[place]]]


def _index_row(row: _Row) -> Sequence[Any]:
    """What the list of episodes shows, without what happened in them."""
    plays = [
        {
            "success": None if play.ending is Ending.ERROR else play.success,
            "ending": str(play.ending),
            "turns": len(play.turns),
            "invalid": sum(turn.invalid is not None for turn in play.turns),
        }
        for play in row.plays
    ]
    return [row.entry, row.index, row.sample, plays]


def _score(entries: Sequence[_Entry]) -> Mapping[str, Any]:
    """Success of each run, averaged over the entries, and the difference of two."""
    columns = zip(*([summarise(run).success for run in entry.runs] for entry in entries), strict=True)
    differences = [success_difference(*entry.runs) for entry in entries if len(entry.runs) == MAX_RUNS]
    return {
        "success": [_estimate(average(column)) for column in columns],
        "difference": _estimate(average(differences)) if differences else None,
    }


def _entry_data(entry: _Entry) -> Mapping[str, Any]:
    spec = entry.runs[0].spec
    roles = dict.fromkeys(role for run in entry.runs for role in run.spec.agents)
    return {
        "name": spec.entry,
        "env": spec.env,
        "split": spec.split,
        "samples": max(run.spec.samples for run in entry.runs),
        "options": [f"{key}={value}" for key, value in sorted(spec.options.items())],
        "roles": list(roles),
    }


def _estimate(estimate: Estimate) -> Sequence[float | None]:
    """Value and bounds; None for a bound that is not known, since JSON has no word for it."""
    return [number if math.isfinite(number) else None for number in (estimate.value, estimate.low, estimate.high)]


def _asset(name: str) -> str:
    return files("llm_envs_bench.viewer").joinpath(name).read_text(encoding="utf-8")


def _template_environment() -> Environment:
    return Environment(autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True)

"""Builds the page: the runs as data, the template, style and script around it."""

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

from llm_envs.core.errors import UsageError
from llm_envs.episode import Episode, Turn
from llm_envs_bench.metrics import Summary, success_difference, summarise
from llm_envs_bench.stats import Estimate
from llm_envs_bench.store import Run

MAX_RUNS = 2  # what fits side by side
SCRIPTS = ("text.js", "board.js", "lanes.js", "app.js")


def write_page(path: Path, runs: Mapping[str, Run], *, title: str, episodes: int = 50) -> None:
    """`build_page` into a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(build_page(runs, title=title, episodes=episodes), encoding="utf-8")


def build_page(runs: Mapping[str, Run], *, title: str, episodes: int = 50) -> str:
    """The page for one run, or for two runs side by side.

    Args:
        runs: label -> run, in the order in which they are shown.
        title: heading of the page.
        episodes: instances shown at most; the first that every run has scored.

    Raises:
        UsageError: no run or more than two, or two runs that share no instance.
    """
    if not 1 <= len(runs) <= MAX_RUNS:
        raise UsageError(f"runs={len(runs)}: a page shows one run, or two side by side.")
    data = _page_data(runs, episodes)
    template = _template_environment().from_string(_asset("page.html.jinja"))
    return template.render(
        title=title,
        style=_asset("page.css"),
        script="\n".join(_asset(name) for name in SCRIPTS),
        # "<" must not close the element that holds the data; inside JSON it can stand only in strings.
        data=json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"),
    )


def _asset(name: str) -> str:
    return files("llm_envs_bench.viewer").joinpath(name).read_text(encoding="utf-8")


def _template_environment() -> Environment:
    return Environment(autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True)


def _page_data(runs: Mapping[str, Run], episodes: int) -> dict[str, Any]:
    scored = [{episode.index: episode for episode in run.episodes} for run in runs.values()]
    common = [index for index in scored[0] if all(index in other for other in scored)]
    first = next(iter(runs.values()))
    difference = success_difference(*runs.values()) if len(runs) == MAX_RUNS else None
    return {
        "env": first.spec.env,
        "split": first.spec.split,
        "options": [f"{key}={value}" for key, value in sorted(first.spec.options.items())],
        "instances": len(common),
        "difference": None if difference is None else _estimate(difference),
        "runs": [_run_data(summarise(run, label)) for label, run in runs.items()],
        "episodes": [
            {"index": index, "plays": [_play_data(play[index]) for play in scored]} for index in common[:episodes]
        ],
    }


def _run_data(summary: Summary) -> dict[str, Any]:
    return {
        "label": summary.label,
        "success": _estimate(summary.success),
        "roles": list(summary.returns),
        "returns": {role: value.value for role, value in summary.returns.items()},
        "invalid": dict(summary.invalid),
        "turns": summary.turns.value,
        "owed": summary.owed,
    }


def _estimate(estimate: Estimate) -> Sequence[float]:
    return [estimate.value, estimate.low, estimate.high]


def _play_data(episode: Episode) -> dict[str, Any]:
    return {
        "success": episode.success,
        "ending": str(episode.ending),
        "start": episode.start,
        "returns": dict(episode.returns),
        "players": dict(episode.players),
        "turns": [_turn_data(turn) for turn in episode.turns],
    }


def _turn_data(turn: Turn) -> dict[str, Any]:
    return {
        "cycle": turn.cycle,
        "agent": turn.agent,
        "role": turn.role,
        "saw": turn.observation,
        "said": turn.reply,
        "reward": turn.reward,
        "team": turn.team_reward,
        "local": turn.local_reward,
        "invalid": turn.invalid,
        "info": dict(turn.info),
        "state": turn.state,
    }

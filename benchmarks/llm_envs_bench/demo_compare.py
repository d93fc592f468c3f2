"""The demo's team beside two alternatives of the same size: one adapter for both roles, and one agent alone."""

import datetime as dt
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from llm_envs_bench.demo import AFTER, BEFORE, comparison_rows, evaluate_rows
from llm_envs_bench.metrics import summarise
from llm_envs_bench.plan import versions
from llm_envs_bench.report import Grid, leaderboard
from llm_envs_bench.store import Run
from llm_envs_bench.training import TrainedRun, train

CONFIG = "tiny_cpu"
REFERENCES = ("random", "oracle")
REPORTED = ("llm-envs", "python", "torch", "transformers", "peft")


@dataclass(frozen=True, slots=True)
class Variant:
    """A way to play the same game.

    Attributes:
        name: for the table.
        folder: below the output folder.
        overrides: what it changes in the configuration.
    """

    name: str
    folder: str
    overrides: tuple[str, ...] = ()


VARIANTS = (
    Variant("adapter per role (L2)", "per_role"),
    Variant(
        "one adapter (L1)",
        "shared",
        ("policies={team: {rank: 16, lora_alpha: 32}}", "roles.tool.policy=team", "roles.planner.policy=team"),
    ),
    # Twice the cycles, since a program takes a turn of its own: an episode has as many replies as the team's.
    Variant(
        "single agent (L0)",
        "single",
        (
            "env.options.roles=single",
            "env.options.max_cycles=16",
            "policies={solver: {rank: 16, lora_alpha: 32}}",
            "roles={solver: {policy: solver, temperature: 1.0, max_tokens: 12}}",
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Result:
    """A variant's training and what was played with it, by name of the row."""

    variant: Variant
    trained: TrainedRun
    runs: Mapping[str, Run]


def run_variants(out: Path, overrides: Sequence[str], *, instances: int, seed: int, console: Console) -> list[Result]:
    """Train and evaluate every variant; reference players play the first one's environment only."""
    results: list[Result] = []
    for variant in VARIANTS:
        console.rule(variant.name)
        folder = out / variant.folder
        trained = train(CONFIG, folder / "train", [f"run.seed={seed}", *variant.overrides, *overrides])
        wanted = {BEFORE, AFTER} | (set() if results else set(REFERENCES))
        rows = [row for row in comparison_rows(trained) if row.name in wanted]
        runs = evaluate_rows(trained, rows, folder / "eval", instances=instances, seed=seed, console=console)
        results.append(Result(variant, trained, runs))
    return results


def comparison_table(results: Sequence[Result]) -> Grid:
    """Reference players first, then each variant before and after, with what its training took."""
    summaries, costs = [], []
    for result in results:
        for name, run in result.runs.items():
            reference = name in REFERENCES
            summaries.append(summarise(run, name if reference else f"{result.variant.name}, {name}"))
            costs.append(_cost(result.trained) if name == AFTER else ("", ""))
    grid = leaderboard(summaries)
    rows = tuple((*row, *cost) for row, cost in zip(grid.rows, costs, strict=True))
    return Grid((*grid.header, "replies trained on", "training"), rows)


def _cost(trained: TrainedRun) -> tuple[str, str]:
    samples = sum(trained.report["samples"].values())
    return f"{samples:,}", f"{sum(trained.report['seconds'].values()) / 60:.1f} min"


def reference_page(results: Sequence[Result], *, command: str) -> str:
    """The table as a dated markdown page that says how it came about."""
    found = versions()
    spec = next(iter(results[0].runs.values())).spec
    packages = ", ".join(f"{name} {found[name]}" for name in REPORTED)
    return f"""# The demo compared, {dt.datetime.now(tz=dt.UTC):%Y-%m-%d}

`{command}` on {os.cpu_count()} cores ({platform.machine()}); {packages}.
{spec.instances} instances of the {spec.split} split of `{spec.env}`, one episode each, sampled at temperature 1.
Intervals are 95% (Wilson).

{comparison_table(results).to_markdown()}"""

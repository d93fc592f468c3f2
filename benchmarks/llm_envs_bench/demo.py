"""The demo: train, then play the same held-out instances with who knew nothing, who has learned, and mixtures of both.

A composition of the trainer's command and the suite's runner, tables and page; all rows go through the same code.
"""

import json
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from llm_envs_bench.agents import plan_run
from llm_envs_bench.metrics import Summary, success_difference, summarise
from llm_envs_bench.progress import follow
from llm_envs_bench.report import Grid, leaderboard
from llm_envs_bench.runner import evaluate
from llm_envs_bench.spec import RunSpec, Sampling
from llm_envs_bench.stats import Estimate
from llm_envs_bench.store import Run
from llm_envs_bench.training import TrainedRun
from llm_envs_bench.viewer import write_page

BEFORE, AFTER = "warm start", "trained"
SPLIT, TEMPERATURE = "test", 1.0
SHOWN = 24  # instances on the page


@dataclass
class Clock:
    """Seconds of each phase."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def time(self, phase: str) -> Iterator[None]:
        """Measures a phase."""
        begin = time.monotonic()
        try:
            yield
        finally:
            self.seconds[phase] = round(time.monotonic() - begin, 1)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the demo's table: a name and who plays which role."""

    name: str
    agents: Mapping[str, str]


def comparison_rows(trained: TrainedRun) -> list[Row]:
    """Random, the warm start, the trained team, the team with each role in turn as it was before, the oracle."""
    old, new = f"checkpoint:{trained.first}", f"checkpoint:{trained.last}"
    everyone = dict.fromkeys(trained.roles, new)
    rows = [Row("random", dict.fromkeys(trained.roles, "random")), Row(BEFORE, dict.fromkeys(trained.roles, old))]
    rows.append(Row(AFTER, everyone))
    if len(trained.roles) > 1:
        rows += [Row(replaced_name(role), everyone | {role: old}) for role in trained.roles]
    return [*rows, Row("oracle", dict.fromkeys(trained.roles, "oracle"))]


def replaced_name(role: str) -> str:
    """Name of the row in which a role plays as it did before training."""
    return f"{AFTER}, {role} replaced"


def evaluate_rows(
    trained: TrainedRun, rows: Sequence[Row], out: Path, *, instances: int, seed: int, console: Console
) -> dict[str, Run]:
    """Play every row on the same instances; a row that an earlier attempt has finished is read, not played again."""
    runs = {}
    for row in rows:
        sampling = Sampling(TEMPERATURE if any("checkpoint:" in agent for agent in row.agents.values()) else None)
        spec = plan_run(
            trained.env,
            None,
            row.agents,
            options=trained.options,
            split=SPLIT,
            instances=instances,
            seed=seed,
            sampling=sampling,
        )
        runs[row.name] = _evaluate_row(row.name, spec, out / row.name.replace(", ", "_").replace(" ", "_"), console)
    return runs


def _evaluate_row(name: str, spec: RunSpec, folder: Path, console: Console) -> Run:
    # All episodes at once, so that the policies share one batch.
    return evaluate(
        spec,
        folder,
        concurrency=spec.instances,
        resume=True,
        watch=lambda owed: follow(name, owed, console),
    )


def table(runs: Mapping[str, Run]) -> Grid:
    """The demo's result."""
    return leaderboard([summarise(run, name) for name, run in runs.items()])


def summary(trained: TrainedRun, runs: Mapping[str, Run], seconds: Mapping[str, float]) -> dict[str, Any]:
    """The content of `summary.json`: what was reached, what each role's training is worth, what it took.

    `<role>_replaced_drop` is how much less often the team succeeds when that role plays as before training; paired over
    the instances. Intervals are 95%.
    """
    before, after = summarise(runs[BEFORE]), summarise(runs[AFTER])
    result: dict[str, Any] = {
        "env": trained.env,
        "options": trained.options,
        "split": SPLIT,
        "instances": after.success.n,
        "temperature": TEMPERATURE,
        "checkpoints": {"before": str(trained.first), "after": str(trained.last)},
        **_with_interval("success_before", before.success),
        **_with_interval("success_after", after.success),
        "tool_quality_before": before.tool_quality and before.tool_quality.value,
        "tool_quality_after": after.tool_quality and after.tool_quality.value,
        "valid_turns_before": _valid_turns(before),
        "valid_turns_after": _valid_turns(after),
    }
    for role in trained.roles:
        if replaced_name(role) in runs:
            drop = success_difference(runs[replaced_name(role)], runs[AFTER])
            result |= _with_interval(f"{role}_replaced_drop", drop)
    rows = {name: summarise(run) for name, run in runs.items()}
    result["rows"] = {
        name: {**_with_interval("success", row.success), "returns": {r: e.value for r, e in row.returns.items()}}
        for name, row in rows.items()
    }
    result["owed"] = sum(row.owed for row in rows.values())
    result |= {name: trained.report[name] for name in ("samples", "programs_asked", "programs_run")}
    result["training_instances"] = trained.report["instances"]
    result["seconds"] = {**seconds, "training_phases": trained.report["seconds"]}
    return result


def write_results(
    out: Path, trained: TrainedRun, runs: Mapping[str, Run], seconds: Mapping[str, float]
) -> dict[str, Path]:
    """Write page, curve, table and summary; name -> file of what was written."""
    files = {"replay": out / "page.html", "table": out / "table.md", "summary": out / "summary.json"}
    game = trained.env.rpartition("/")[2].partition("-")[0].replace("_", " ").capitalize()
    pair = {name: (runs[name],) for name in (BEFORE, AFTER)}
    write_page(files["replay"], pair, title=f"{game}, before and after training", episodes=SHOWN)
    files["table"].write_text(table(runs).to_markdown(), encoding="utf-8")
    text = json.dumps(summary(trained, runs, seconds), indent=2, ensure_ascii=False) + "\n"
    files["summary"].write_text(text, encoding="utf-8")
    if trained.curve.exists():
        files["learning curve"] = out / "curve.png"
        shutil.copyfile(trained.curve, files["learning curve"])
    return files


def _with_interval(name: str, estimate: Estimate) -> dict[str, Any]:
    return {name: estimate.value, f"{name}_interval": [estimate.low, estimate.high]}


def _valid_turns(row: Summary) -> dict[str, float | None]:
    return {role: None if share is None else 1 - share.value for role, share in row.invalid.items()}

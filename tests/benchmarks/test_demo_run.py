"""The demo from end to end at its smallest: a real model is made, trained for three steps and evaluated."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from llm_envs_bench.store import load_run
from tests.architecture.paths import ROOT

SMALL = (
    *("optim.steps=3", "run.save_steps=2", "run.log_steps=1", "rollout.instances=2", "rollout.k=2"),
    *("model.warm_start.steps=60", "model.warm_start.hidden_size=64", "model.warm_start.layers=2"),
)
ROWS = ("random", "warm start", "trained", "trained, tool replaced", "trained, planner replaced", "oracle")


@dataclass(frozen=True)
class Demo:
    folder: Path
    output: str


def run_demo(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """`llm-envs demo` as a user starts it."""
    settings = [word for value in (*SMALL, *more) for word in ("--set", value)]
    command = [sys.executable, "-m", "llm_envs.cli", "demo", "--out", str(folder), "--instances", "5", *settings]
    paths = os.pathsep.join(str(ROOT / part) for part in (".", "trainer", "benchmarks"))
    return subprocess.run(command, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    folder = tmp_path_factory.mktemp("demo") / "run"
    done = run_demo(folder)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return Demo(folder, done.stdout)


def summary_of(demo: Demo) -> dict[str, Any]:
    return dict(json.loads((demo.folder / "summary.json").read_text()))


def test_the_demo_ends_with_a_table_and_says_where_everything_is(demo: Demo) -> None:
    for row in ROWS:
        assert row.replace(", ", " ").split()[0] in demo.output
    for name in ("page.html", "summary.json", "curve.png", "table.md"):
        assert (demo.folder / name).stat().st_size > 0
        assert str(demo.folder / name) in demo.output
    assert (demo.folder / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert [line.split(" | ")[0] for line in (demo.folder / "table.md").read_text().splitlines()[2:]] == [
        f"| {row}" for row in ROWS
    ]


def test_the_summary_has_every_figure(demo: Demo) -> None:
    found = summary_of(demo)
    for name in ("success_before", "success_after", "planner_replaced_drop", "tool_replaced_drop"):
        low, high = found[f"{name}_interval"]
        assert low <= found[name] <= high
    assert found["tool_quality_before"] is None or 0 <= found["tool_quality_before"] <= 1
    assert found["samples"].keys() == {"tool", "planner"}
    assert 0 < found["programs_run"] <= found["programs_asked"]
    assert found["seconds"].keys() >= {"training", "evaluation"}
    assert found["valid_turns_before"].keys() == {"tool", "planner"}
    assert found["rows"].keys() == set(ROWS)
    assert found["rows"]["oracle"]["success"] == 1.0


def test_all_rows_are_sampled_alike_on_the_same_held_out_instances(demo: Demo) -> None:
    specs = [load_run(folder).spec for folder in sorted((demo.folder / "eval").iterdir())]
    assert len(specs) == len(ROWS)
    assert {(spec.env, spec.split, spec.first, spec.instances, spec.seed) for spec in specs} == {
        ("llm_envs/plan_path-v0", "test", 0, 5, 0)
    }
    models = [spec for spec in specs if spec.weights]
    assert len(models) == 4
    assert {spec.sampling.temperature for spec in models} == {1.0}


def test_the_same_command_again_trains_and_plays_nothing_new(demo: Demo) -> None:
    kept = (
        *demo.folder.glob("train/checkpoint-*/*/adapter_model.safetensors"),
        *demo.folder.glob("eval/*/episodes.jsonl"),
    )
    before = {path: path.read_bytes() for path in kept}
    first = summary_of(demo)
    done = run_demo(demo.folder)
    assert done.returncode == 0, done.stderr[-3000:]
    assert len(before) >= 2 * 2 + len(ROWS)
    assert before == {path: path.read_bytes() for path in before}
    assert "episodes, " not in done.stderr, "no row was played again"
    again = summary_of(demo)
    assert again["rows"] == first["rows"]
    assert again["samples"] == first["samples"]


def test_another_configuration_in_the_same_folder_is_refused_with_the_difference(demo: Demo) -> None:
    done = run_demo(demo.folder, "rollout.k=3")
    assert done.returncode == 2
    assert "rollout.k" in done.stderr

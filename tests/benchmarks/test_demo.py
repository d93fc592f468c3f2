"""The demo's arithmetic on a game without a model; the whole of it, with a model, is in `test_demo_run.py`."""

import io
import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from rich.console import Console

from llm_envs.core.errors import UsageError
from llm_envs_bench.demo import (
    AFTER,
    BEFORE,
    Row,
    comparison_rows,
    evaluate_rows,
    replaced_name,
    summary,
    table,
    write_results,
)
from llm_envs_bench.store import Run
from llm_envs_bench.training import TrainedRun, TrainingError, read_training, train, wait_through_interrupts
from tests.benchmarks import corridor

ROLES = ("scout", "walker")
REPORT = {
    "samples": {"scout": 12, "walker": 10},
    "programs_asked": 12,
    "programs_run": 4,
    "instances": 3,
    "seconds": {"train": 1.5},
}


@pytest.fixture
def trained(tmp_path: Path) -> TrainedRun:
    """A training of the test game that never was: only its description is used."""
    folder = tmp_path / "train"
    folder.mkdir()
    (folder / "learning_curve.png").write_bytes(b"\x89PNG")
    first, last = folder / "checkpoint-0", folder / "checkpoint-9"
    return TrainedRun(folder, first, last, corridor.ENV_ID, {"max_cycles": 4}, ROLES, REPORT)


def play(trained: TrainedRun, out: Path, instances: int = 10) -> dict[str, Run]:
    """Reference players in the places of checkpoints: the walker is all that matters, the scout changes nothing."""
    rows = [
        Row(BEFORE, dict.fromkeys(ROLES, "idle")),
        Row(AFTER, dict.fromkeys(ROLES, "oracle")),
        Row(replaced_name("scout"), {"scout": "silent", "walker": "oracle"}),
        Row(replaced_name("walker"), {"scout": "oracle", "walker": "idle"}),
    ]
    return evaluate_rows(trained, rows, out, instances=instances, seed=0, console=Console(file=io.StringIO()))


def test_the_rows_are_the_start_the_end_and_each_role_put_back(trained: TrainedRun) -> None:
    rows = {row.name: row.agents for row in comparison_rows(trained)}
    old, new = f"checkpoint:{trained.first}", f"checkpoint:{trained.last}"
    assert list(rows) == [
        "random",
        "warm start",
        "trained",
        "trained, scout replaced",
        "trained, walker replaced",
        "oracle",
    ]
    assert rows["warm start"] == {"scout": old, "walker": old}
    assert rows["trained, walker replaced"] == {"scout": new, "walker": old}


def test_a_single_agent_has_nobody_to_be_replaced(trained: TrainedRun) -> None:
    alone = TrainedRun(trained.folder, trained.first, trained.last, trained.env, {}, ("solver",), REPORT)
    assert [row.name for row in comparison_rows(alone)] == ["random", "warm start", "trained", "oracle"]


def test_the_summary_says_what_was_gained_and_whose_it_is(trained: TrainedRun, tmp_path: Path) -> None:
    found = summary(trained, play(trained, tmp_path), {"training": 3.0, "evaluation": 1.0})
    assert (found["success_before"], found["success_after"], found["instances"]) == (0.0, 1.0, 10)
    assert found["success_after_interval"] == [pytest.approx(0.72, abs=0.01), 1.0]
    assert (found["walker_replaced_drop"], found["scout_replaced_drop"]) == (1.0, 0.0)
    low, high = found["scout_replaced_drop_interval"]
    assert low < 0 < high, "ten instances do not show that the scout is worth nothing"
    assert (found["tool_quality_before"], found["tool_quality_after"]) == (0.5, 0.5)
    assert found["valid_turns_before"] == {"scout": 1.0, "walker": 1.0}
    assert found["samples"] == {"scout": 12, "walker": 10}
    assert (found["programs_asked"], found["programs_run"], found["training_instances"]) == (12, 4, 3)
    assert found["seconds"] == {"training": 3.0, "evaluation": 1.0, "training_phases": {"train": 1.5}}
    assert set(found["rows"]) == {"warm start", "trained", "trained, scout replaced", "trained, walker replaced"}


def test_the_results_are_a_table_a_page_a_summary_and_the_curve(trained: TrainedRun, tmp_path: Path) -> None:
    runs = play(trained, tmp_path)
    files = write_results(tmp_path, trained, runs, {"training": 3.0})
    assert {path.name for path in files.values()} == {"page.html", "table.md", "summary.json", "curve.png"}
    assert all(path.exists() for path in files.values())
    assert json.loads((tmp_path / "summary.json").read_text())["success_after"] == 1.0
    assert (tmp_path / "table.md").read_text() == table(runs).to_markdown()
    assert "<title>Corridor, before and after training</title>" in (tmp_path / "page.html").read_text()


def test_rows_that_are_there_are_not_played_again(trained: TrainedRun, tmp_path: Path) -> None:
    first = play(trained, tmp_path)
    corridor.SANDBOX.is_down = lambda code: True
    assert play(trained, tmp_path) == first


def test_what_is_owed_is_counted(trained: TrainedRun, tmp_path: Path) -> None:
    corridor.SANDBOX.is_down = lambda code: code == "3"
    assert summary(trained, play(trained, tmp_path), {})["owed"] == 3, "the rows in which the scout runs its program"


# ---- the trainer as a process


def test_what_the_trainer_refuses_ends_the_demo_with_its_status(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(TrainingError) as caught:
        train("tiny_cpux", tmp_path / "train", [])
    assert caught.value.status == 2
    assert "tiny_cpu" in capfd.readouterr().err, "the trainer has said itself what is wrong"


def test_an_interrupt_waits_for_the_trainer_to_save() -> None:
    """A second reader of Ctrl-C must not kill the first one while it writes its checkpoint."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1); raise SystemExit(7)"])
    for delay in (0.3, 0.4):
        threading.Timer(delay, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT)).start()
    assert wait_through_interrupts(process) == 7


def test_a_folder_without_a_finished_training_is_refused(tmp_path: Path) -> None:
    (tmp_path / "checkpoint-4").mkdir()
    with pytest.raises(UsageError, match="must be a finished run"):
        read_training(tmp_path)


def test_a_training_is_read_from_its_whole_checkpoints(tmp_path: Path) -> None:
    for step in (0, 20, 100, 120):
        folder = tmp_path / f"checkpoint-{step}"
        folder.mkdir()
        (folder / "config.yaml").write_text("env: {id: e, options: {size: 6}}\nroles: {tool: {}, planner: {}}\n")
        if step < 120:
            (folder / "complete.json").write_text("{}")
    (tmp_path / "training.json").write_text(json.dumps(REPORT))
    found = read_training(tmp_path)
    assert (found.first.name, found.last.name) == ("checkpoint-0", "checkpoint-100")
    assert (found.env, found.options, found.roles) == ("e", {"size": 6}, ("tool", "planner"))
    assert found.report == REPORT

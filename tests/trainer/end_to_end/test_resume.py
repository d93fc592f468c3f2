"""A run that was stopped and resumed in a new process is the run that was not."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.trainer.end_to_end import look, process
from tests.trainer.end_to_end.settings import ROLES, STEPS, STOP, resumable


@pytest.fixture(scope="module")
def half(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that ends where the others are resumed."""
    return process.train(resumable(tmp_path_factory.mktemp("half") / "run", base, steps=STOP))


def go_on(run: Path, base: Path, folder: Path, step: int = STOP, fault: str = "") -> Path:
    """A copy of the run, resumed to the end in a new process."""
    shutil.copytree(run, folder)
    (folder / "tape.jsonl").unlink()
    return process.train(resumable(folder, base), folder / f"checkpoint-{step}", fault)


@pytest.fixture(scope="module")
def resumed(half: Path, base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return go_on(half, base, tmp_path_factory.mktemp("resumed") / "run")


def sampled(run: Path, steps: range) -> list[dict[str, Any]]:
    """The groups of these steps; an evaluation asks for one reply a turn."""
    return [entry for entry in look.tape(run) if entry["step"] in steps and len(entry["replies"]) > 1]


def test_a_resumed_run_meets_the_same_tasks_and_samples_the_same_tokens(straight: Path, resumed: Path) -> None:
    """UC-167; UC-166: from the first rollout on, so the sampler serves the resumed adapters."""
    expected = sampled(straight, range(STOP, STEPS))
    assert {entry["policy"] for entry in expected} == set(ROLES)
    assert sampled(resumed, range(STEPS)) == expected
    for step in range(STEPS):
        name = f"episodes/step-{step:06d}.jsonl"
        assert (resumed / name).read_bytes() == (straight / name).read_bytes()


def test_a_resumed_run_ends_with_the_same_weights_and_moments(straight: Path, resumed: Path) -> None:
    """UC-169. Not only within 1e-6 but to the bit: every batch holds the same rows in the same order."""
    ours, theirs = resumed / f"checkpoint-{STEPS}", straight / f"checkpoint-{STEPS}"
    assert look.distance(look.weights(ours), look.weights(theirs)) == 0.0
    assert look.distance(look.moments(ours), look.moments(theirs)) == 0.0
    assert look.distance(look.weights(ours), look.weights(straight / f"checkpoint-{STOP}")) > 1e-3, "it did train"


def test_a_resumed_run_has_the_same_schedule_log_counts_and_random_states(straight: Path, resumed: Path) -> None:
    """UC-167, UC-169."""
    ours, theirs = (look.plain_state(run / f"checkpoint-{STEPS}") for run in (resumed, straight))
    assert ours.keys() == theirs.keys()
    for part, value in theirs.items():
        assert ours[part] == value, part
    assert ours["scheduler"] != look.plain_state(straight / f"checkpoint-{STOP}")["scheduler"]


def test_a_resumed_run_has_the_same_metrics_from_its_first_step_to_its_last(straight: Path, resumed: Path) -> None:
    """Evaluations included, which are not repeated where the run goes on."""
    assert look.metrics(resumed) == look.metrics(straight)
    rates = [line["learning_rate"] for line in look.training(straight)]
    assert rates == sorted(rates)
    assert rates[STOP] > rates[STOP - 1]
    reports = [json.loads((run / "training.json").read_text()) for run in (resumed, straight)]
    assert reports[0] | {"seconds": {}} == reports[1] | {"seconds": {}}


def test_a_run_can_be_taken_up_again_at_its_very_start(straight: Path, base: Path, tmp_path: Path) -> None:
    """From checkpoint-0, with the later checkpoints and metrics of its former self in the folder."""
    again = go_on(straight, base, tmp_path / "run", step=0)
    assert sampled(again, range(STEPS)) == sampled(straight, range(STEPS))
    assert look.metrics(again) == look.metrics(straight)
    last = f"checkpoint-{STEPS}"
    assert look.distance(look.weights(again / last), look.weights(straight / last)) == 0.0
    assert look.plain_state(again / last) == look.plain_state(straight / last)


def test_a_finished_run_is_resumed_without_training_on(straight: Path, base: Path, tmp_path: Path) -> None:
    shutil.copytree(straight, tmp_path / "run")
    before = (tmp_path / "run" / "training.json").read_text()
    again = process.train(resumable(tmp_path / "run", base), tmp_path / "run" / f"checkpoint-{STEPS}")
    assert look.training(again) == look.training(straight)
    assert json.loads((again / "training.json").read_text())["samples"] == json.loads(before)["samples"]


def test_a_run_that_was_moved_goes_on_with_the_base_that_it_made(warm: Path, tmp_path: Path) -> None:
    """`--resume` needs nothing but the folder, wherever it lies now; the base is not made again."""
    folder = tmp_path / "moved"
    shutil.copytree(warm, folder)
    made = (folder / "base" / "model.safetensors").stat().st_mtime_ns
    assert process.command_line(folder, "train", "--resume", str(folder / "checkpoint-1")) == 0
    assert (folder / "base" / "model.safetensors").stat().st_mtime_ns == made
    assert look.distance(look.weights(folder / "checkpoint-2"), look.weights(warm / "checkpoint-2")) == 0.0
    assert look.metrics(folder) == look.metrics(warm)


@pytest.mark.parametrize("fault", ["moments not restored", "adapters not restored"])
def test_a_resume_that_forgets_something_is_seen(
    fault: str, straight: Path, half: Path, base: Path, tmp_path: Path
) -> None:
    """The negative control of all of the above. UC-169."""
    broken = go_on(half, base, tmp_path / "run", fault=fault)
    ours, theirs = broken / f"checkpoint-{STEPS}", straight / f"checkpoint-{STEPS}"
    assert look.distance(look.weights(ours), look.weights(theirs)) > 1e-6
    assert look.distance(look.moments(ours), look.moments(theirs)) > 1e-6
    assert look.training(broken) != look.training(straight)
    at_once = range(STOP, STOP + 1)
    assert (sampled(broken, at_once) != sampled(straight, at_once)) is fault.startswith("adapters")

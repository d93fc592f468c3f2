"""Runs that are killed or interrupted go on from where they were saved."""

import os
import random
import shlex
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from at_grpo.checkpointing import check_complete, latest_checkpoint
from at_grpo.cli import INTERRUPTED
from at_grpo.config import TrainConfig
from at_grpo.loading import dump_config
from tests.architecture.paths import ROOT
from tests.scale import scaled
from tests.trainer.end_to_end import look, process
from tests.trainer.end_to_end.settings import ROLES, STEPS, STOP, resumable

ENDLESS = 1000
LIMIT_S = 200


def step_of(checkpoint: Path | None) -> int:
    assert checkpoint is not None
    return int(checkpoint.name.partition("-")[2])


def files_written(run: Path, step: int, since: float = 0.0) -> int:
    """How many files there are in the next two checkpoints after `step` that were written since that time."""
    count = 0
    for number in (step + 1, step + 2):
        for folder, _, names in os.walk(run / f"checkpoint-{number}"):
            for name in names:
                with suppress(FileNotFoundError):  # renamed meanwhile
                    count += (Path(folder) / name).stat().st_mtime >= since
    return count


def kill_while_saving(config: TrainConfig, step: int, files: int) -> None:
    """SIGKILL to a run that goes on from `step`, when it has written so many files of its next checkpoints."""
    folder, started = Path(config.run.output_dir), time.time()
    running = process.start("train_once", config, latest_checkpoint(folder), "")
    while files_written(folder, step, started) < files:
        assert running.exitcode is None, (folder / process.OUTPUT).read_text()[-3000:]
        time.sleep(0.001)
    running.kill()
    running.join()


def test_a_run_killed_while_it_saves_loses_at_most_that_checkpoint_and_goes_on(
    straight: Path, base: Path, tmp_path: Path
) -> None:
    """UC-170. However often it was killed, it ends up as the run that never was."""
    rng = random.Random(0)
    folder = tmp_path / "run"
    endless = resumable(folder, base, steps=ENDLESS, save_steps=1, eval_steps=0, keep_checkpoints=3)
    whole = files_written(straight, STOP - 1)
    step = kills = torn = 0
    while kills < scaled(fast=4, long=20) or torn == 0:
        kill_while_saving(endless, step, files=rng.randint(1, 2 * whole))
        newest = latest_checkpoint(folder)
        begun = max(map(step_of, folder.glob("checkpoint-*")))
        assert step <= step_of(newest) >= begun - 1
        step = step_of(newest)
        kills, torn = kills + 1, torn + (begun > step)
        check_complete(folder / f"checkpoint-{step}")
        assert look.adapters(folder / f"checkpoint-{step}").keys() == set(ROLES)
    end = max(step + 1, STEPS)
    process.train(resumable(folder, base, steps=end, save_steps=1, eval_steps=0), latest_checkpoint(folder))
    assert [line["step"] for line in look.training(folder)] == list(range(1, end + 1))
    assert look.training(folder)[:STEPS] == look.training(straight)


# ---- Ctrl-C


@pytest.fixture(scope="module")
def interrupted(base: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, "subprocess.Popen[str]", str]:
    """A real `at-grpo train`, sent SIGINT after its first iteration: its folder, its process, its last words."""
    folder = tmp_path_factory.mktemp("interrupted")
    config = folder / "config.yaml"
    config.write_text(dump_config(resumable(folder / "run", base, steps=ENDLESS, eval_steps=0)))
    paths = os.pathsep.join(str(ROOT / part) for part in (".", "trainer", "benchmarks"))
    running = subprocess.Popen(
        [sys.executable, "-m", "at_grpo", "train", "--config", str(config)],
        env=os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    while "step 1/" not in (line := running.stdout.readline()):
        assert line, running.communicate()[1][-3000:]
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=LIMIT_S)
    return folder / "run", running, said


def test_ctrl_c_finishes_and_saves_the_iteration_and_says_how_to_go_on(
    interrupted: tuple[Path, "subprocess.Popen[str]", str],
) -> None:
    run, ended, said = interrupted
    assert ended.returncode == INTERRUPTED == 130, said
    newest = latest_checkpoint(run)
    assert newest is not None
    check_complete(newest)
    assert step_of(newest) == look.training(run)[-1]["step"] >= 1
    assert said.splitlines()[-1].split() == ["at-grpo", "train", "--resume", str(newest)]
    assert "Traceback" not in said


def test_the_command_that_it_says_goes_on_as_if_nothing_had_been(
    interrupted: tuple[Path, "subprocess.Popen[str]", str], straight: Path
) -> None:
    run, _, said = interrupted
    end = max(step_of(latest_checkpoint(run)) + 2, STEPS)
    command = shlex.split(said.splitlines()[-1])
    assert process.command_line(run, *command[1:], f"optim.steps={end}") == 0
    assert [line["step"] for line in look.training(run)] == list(range(1, end + 1))
    assert look.training(run)[:STEPS] == look.training(straight)

"""Whole runs whose own server is killed or hangs: they go on and train what stands in their journal, or end in words.

Token ids, adapters and log-probabilities are real; a proxy is where vLLM would be. A killed vLLM is in
`test_vllm_runs`.
"""

import os
import random
import signal
import time
from collections.abc import Iterator
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from at_grpo.cli import FAILURE
from at_grpo.config import InferenceSection, TrainConfig
from tests.scale import scaled
from tests.trainer.end_to_end import process
from tests.trainer.end_to_end.journalled import STEPS, check_version, config_of, read
from tests.trainer.end_to_end.proxy import interpreter
from tests.trainer.end_to_end.stand_in import stand_in
from tests.trainer.end_to_end.vllm_runs import command, ended, said, wait_for
from tests.trainer.inference import processes

pytestmark = pytest.mark.system

WATCHDOG_S = 60.0  # from a fault to the end; the run's own limits add up to less than 20, on a machine of its own
FAULTS = (signal.SIGKILL, signal.SIGUSR1)  # the latter lets the server accept and never answer


@pytest.fixture
def python(base: Path, tmp_path: Path) -> Iterator[Path]:
    """The interpreter that has "vLLM"."""
    with stand_in(base) as server:
        yield interpreter(tmp_path, server.url)


def own_server(python: Path, restarts: int) -> InferenceSection:
    return InferenceSection(
        backend="vllm", python=str(python), timeout_s=10.0, patience_s=5.0, hang_s=1.5, restarts=restarts
    )


def strike(running: BaseProcess, config: TrainConfig, version: int, number: int, rng: random.Random) -> list[int]:
    """A fault of the server, at a random moment after the version's first instance; returns the server's processes."""
    journal, said_so_far = Path(config.run.output_dir) / "journal", partial(said, Path(config.run.output_dir))

    def begun() -> bool:
        assert running.exitcode is None, said_so_far()[-3000:]
        return any(int(path.stem[1:]) >= version and read(path) for path in journal.glob("v*.jsonl"))

    wait_for(begun, f"an instance of version {version}", said_so_far)
    time.sleep(rng.uniform(0, 0.5))
    assert running.pid is not None
    folder = processes.folder_kept_by(running.pid)
    assert folder is not None
    (leader,) = processes.leaders(folder)
    of_it = processes.of(folder)
    os.kill(leader, number)
    return of_it


@pytest.mark.parametrize("number", FAULTS)
@pytest.mark.parametrize("seed", range(scaled(fast=1, long=4)))
def test_a_run_whose_server_is_killed_or_hangs_goes_on_and_trains_what_stands_in_its_journal(
    seed: int, number: int, base: Path, python: Path, tmp_path: Path
) -> None:
    """UC-143: in every version, at a random moment."""
    config = config_of(tmp_path / "run", base, own_server(python, restarts=STEPS))
    running, rng = process.start("watched", config, None), random.Random(seed)
    with ended(running):
        for version in range(STEPS):
            strike(running, config, version, number, rng)
        assert process.wait(running) == 0, said(tmp_path / "run")[-3000:]
    assert said(tmp_path / "run").count("It is started again.") == STEPS
    for version in range(STEPS):
        check_version(config, version, tmp_path)


@pytest.mark.parametrize("number", FAULTS)
def test_a_run_whose_server_may_not_be_started_again_ends_with_its_name_and_the_remedy(
    number: int, base: Path, python: Path, tmp_path: Path
) -> None:
    """UC-143, UC-172: within the time allowed, and no process of the server is left."""
    config = config_of(tmp_path / "run", base, own_server(python, restarts=0))
    running = command(config)
    with ended(running):
        of_it = strike(running, config, 0, number, random.Random(0))
        running.join(WATCHDOG_S)
        assert running.exitcode == FAILURE, said(tmp_path / "run")[-3000:]
    last = said(tmp_path / "run").splitlines()[-1]
    assert last.startswith("at-grpo: ")
    assert "unix:" in last
    how = "was ended by SIGKILL" if number == signal.SIGKILL else r"answered nothing for 1.5 s (inference.hang_s)"
    assert how in last
    assert "its log is" in last
    assert "inference.restarts" in last
    assert "Traceback" not in said(tmp_path / "run")
    assert not {one.pid for one in processes.all_processes()} & set(of_it)

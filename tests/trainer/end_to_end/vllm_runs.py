"""Runs of two roles on Plan-Path whose replies come from a real vLLM server."""

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from at_grpo.config import InferenceSection, ModelSection, TrainConfig
from at_grpo.loading import dump_config
from tests.scale import scaled
from tests.trainer.end_to_end import process
from tests.trainer.end_to_end.settings import WARM_START, small

ENDLESS = 1000
LIMIT_S = scaled(fast=240.0, long=3600.0)  # a watchdog
# vLLM's attention on the CPU wants heads of a multiple of 32 dimensions.
SERVABLE = replace(WARM_START, hidden_size=64)
OPTIONS = {"enforce-eager": True, "max-num-seqs": 64}
FAULT_RUN = {"timeout_s": 20.0, "patience_s": 4.0}


def warm(folder: Path) -> TrainConfig:
    """A run whose base is made by a warm start; the base of the others."""
    return replace(small(folder, None), model=ModelSection(warm_start=SERVABLE))


def served(folder: Path, base: Path, *urls: str, steps: int = 2, **inference: Any) -> TrainConfig:
    """A run by a server of its own, or by those at `urls`."""
    config = small(folder, base, optim={"steps": steps}, run={"save_steps": 1, "keep_checkpoints": 2})
    options = {} if urls else {"options": OPTIONS}
    return replace(config, inference=InferenceSection(backend="vllm", urls=urls, **options, **inference))


def command(config: TrainConfig, *words: str, fault: str = "") -> BaseProcess:
    """`at-grpo train` in a process of its own; what it says is in `output.txt` of the run's folder."""
    folder = Path(config.run.output_dir)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "asked.yaml"
    path.write_text(dump_config(config))
    return process.start("command_line", ("train", "--config", str(path), *words), folder, fault)


def said(folder: Path) -> str:
    path = folder / process.OUTPUT
    return path.read_text() if path.exists() else ""


def steps_done(folder: Path) -> int:
    """The last step in the log of a run."""
    path = folder / "metrics.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return max((json.loads(line)["step"] for line in lines if line.endswith("}")), default=0)


def wait_for(condition: Callable[[], object], what: str, said: Callable[[], str] = str) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline, f"watchdog: {what}: {said()}"
        time.sleep(0.02)


def wait_for_step(running: BaseProcess, folder: Path, step: int) -> None:
    def there() -> bool:
        assert running.exitcode is None, said(folder)[-3000:]
        return steps_done(folder) >= step

    wait_for(there, f"step {step}", lambda: said(folder)[-2000:])


@contextmanager
def ended(running: BaseProcess) -> Iterator[None]:
    """No run outlives its test."""
    try:
        yield
    finally:
        if running.exitcode is None and running.pid is not None:
            os.kill(running.pid, 9)
        running.join()

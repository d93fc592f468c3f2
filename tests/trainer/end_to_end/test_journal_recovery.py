"""Whole runs that are killed in the middle of a version, with a stand-in for the server: token ids, adapters and
log-probabilities are real.
"""

import json
import random
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from at_grpo.at_grpo_config import grpo_config
from at_grpo.at_grpo_trainer import ATGRPOTrainer
from at_grpo.checkpointing import latest_checkpoint
from at_grpo.config import InferenceSection, TrainConfig
from at_grpo.inference.base_model import load_base
from at_grpo.journal_lines import from_json
from at_grpo.policies import build_policies
from at_grpo.rollouts.played import Played
from at_grpo.samples import Iteration, MicroBatch
from tests.scale import scaled
from tests.trainer.end_to_end import process
from tests.trainer.end_to_end.settings import ROLES, small
from tests.trainer.end_to_end.stand_in import stand_in
from tests.trainer.tiny_trainer import KeepGradients, relative_error

TOLERANCE = 1e-5
INSTANCES, STEPS, KILLED = 4, 3, 1  # the version that is killed in


def config_of(folder: Path, base: Path, url: str) -> TrainConfig:
    config = small(
        folder,
        base,
        rollout={"instances": INSTANCES, "max_in_flight": 1},
        optim={"steps": STEPS, "micro_batch_size": 4, "max_grad_norm": 1e9},
        run={"save_steps": 1, "log_steps": 1},
    )
    return replace(config, inference=InferenceSection(backend="vllm", urls=(url,), patience_s=5.0))


def read(path: Path) -> list[Played]:
    """The whole lines of a journal."""
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return [from_json(line) for line in lines[1:] if line.endswith("\n")]


def kill_in_version(config: TrainConfig, instances: int) -> list[Played]:
    """SIGKILL when the journal of the version holds so many instances; returns those that it holds."""
    folder = Path(config.run.output_dir)
    path = folder / "journal" / f"v{KILLED}.jsonl"
    running = process.start("watched", config, latest_checkpoint(folder) if folder.exists() else None)
    deadline = time.monotonic() + process.TIMEOUT_S
    while len(read(path)) < instances:
        assert running.exitcode is None, (folder / process.OUTPUT).read_text()[-3000:]
        assert time.monotonic() < deadline, "watchdog"
        time.sleep(0.001)
    running.kill()
    running.join()
    return read(path)


def synchronous(config: TrainConfig, folder: Path, checkpoint: Path, played: list[Played]) -> dict[str, torch.Tensor]:
    """The gradient of one pass over the rows from the checkpoint's weights."""
    config = replace(
        config, optim=replace(config.optim, steps=KILLED + 1), run=replace(config.run, output_dir=str(folder))
    )
    groups = [group for one in played for group in one.groups]
    rows = {role: tuple(row for group in groups if group.role == role for row in group.samples) for role in ROLES}
    batches = [MicroBatch(role, role, samples) for role, samples in rows.items()]
    base, tokenizer = load_base(config.model.base, config.model.dtype)
    keep = KeepGradients()
    trainer = ATGRPOTrainer(
        build_policies(base, config.policies, seed=config.run.seed),
        args=grpo_config(config),
        policies=config.policies,
        temperatures=dict.fromkeys(ROLES, 1.0),
        collect=lambda step: Iteration(batches, {}),
        processing_class=tokenizer,
        callbacks=[keep],
    )
    trainer.train(resume_from_checkpoint=str(checkpoint))
    return keep.gradients


@pytest.mark.parametrize("seed", range(scaled(fast=1, long=20)))
def test_a_run_killed_while_it_samples_and_trains_goes_on_with_its_journal(
    seed: int, base: Path, tmp_path: Path
) -> None:
    """From the journal: no instance twice, none of another version; what was there stays to the last digit; the rows
    that the resumed process trained on are the journal's, and their gradient is that of one synchronous pass.
    """
    rng = random.Random(seed)
    folder = tmp_path / "run"
    with stand_in(base) as server:
        config = config_of(folder, base, server.url)
        kept = kill_in_version(config, rng.randint(1, INSTANCES - 1))
        before = len(server.asked)
        running = process.start("watched", config, latest_checkpoint(folder))
        assert process.wait(running) == 0, (folder / process.OUTPUT).read_text()[-3000:]
        # a probe's seed is the version itself
        asked = [seed for name, _, seed in server.asked[before:] if f"-v{KILLED}-" in name and seed != KILLED]
    final = read(folder / "kept" / f"v{KILLED}.jsonl")
    assert final[: len(kept)] == kept
    assert len({one.index for one in final}) == len(final) == INSTANCES
    rows = [row for one in final for group in one.groups for row in group.samples]
    assert {row.version for row in rows} == {KILLED}
    assert len(asked) == sum(len(one.groups) for one in final[len(kept) :]), "only the rest was played"
    trained = [json.loads(line) for line in (folder / "trained.jsonl").read_text().splitlines()]
    mine: list[Any] = [row for step, row in trained if step == KILLED]
    assert sorted(map(repr, mine)) == sorted(repr(json.loads(json.dumps(fields(row)))) for row in rows)
    gradients = torch.load(folder / "kept" / f"gradients-{KILLED}.pt")
    expected = synchronous(config, tmp_path / "whole", folder / f"checkpoint-{KILLED}", final)
    assert relative_error(gradients, expected) < TOLERANCE
    less = synchronous(config, tmp_path / "less", folder / f"checkpoint-{KILLED}", final[1:])
    assert relative_error(gradients, less) > 1e-3
    assert not list((folder / "journal").iterdir()), "every version is committed"


def fields(row: Any) -> list[Any]:
    return [getattr(row, name) for name in list(row.__dataclass_fields__)[:8]]

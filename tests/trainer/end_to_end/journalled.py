"""Runs whose rows stand in a journal, and what the gradient of those rows must be.

"No sample is trained twice or under a wrong version; the gradient of an interrupted version equals that of one
synchronous pass over its final journal" is `check_version`.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from at_grpo.at_grpo_config import grpo_config
from at_grpo.at_grpo_trainer import ATGRPOTrainer
from at_grpo.config import InferenceSection, TrainConfig
from at_grpo.inference.base_model import load_base
from at_grpo.journal_lines import from_json
from at_grpo.policies import build_policies
from at_grpo.rollouts.played import Played
from at_grpo.samples import Iteration, MicroBatch
from tests.trainer.end_to_end.settings import ROLES, small
from tests.trainer.tiny_trainer import KeepGradients, relative_error

TOLERANCE = 1e-5
INSTANCES, STEPS = 4, 3


def config_of(folder: Path, base: Path, inference: InferenceSection) -> TrainConfig:
    """A run of a few versions by servers; its gradients are not clipped."""
    config = small(
        folder,
        base,
        rollout={"instances": INSTANCES, "max_in_flight": 1},
        optim={"steps": STEPS, "micro_batch_size": 4, "max_grad_norm": 1e9},
        run={"save_steps": 1, "log_steps": 1},
    )
    return replace(config, inference=inference)


def read(path: Path) -> list[Played]:
    """The whole lines of a journal."""
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return [from_json(line) for line in lines[1:] if line.endswith("\n")]


def check_version(config: TrainConfig, version: int, scratch: Path) -> list[Played]:
    """That a finished run (`watched.run`) trained each row of this version's journal once and nothing else, and that
    its gradient is that of one pass over them; without one instance it is another, the negative control. Returns the
    journal.
    """
    folder = Path(config.run.output_dir)
    final = read(folder / "kept" / f"v{version}.jsonl")
    assert len({one.index for one in final}) == len(final) == INSTANCES
    rows = [row for one in final for group in one.groups for row in group.samples]
    assert {row.version for row in rows} == {version}
    trained = [json.loads(line) for line in (folder / "trained.jsonl").read_text().splitlines()]
    mine: list[Any] = [row for step, row in trained if step == version]
    assert sorted(map(repr, mine)) == sorted(repr(json.loads(json.dumps(_fields(row)))) for row in rows)
    gradients = torch.load(folder / "kept" / f"gradients-{version}.pt")
    checkpoint = folder / f"checkpoint-{version}"
    expected = synchronous(config, scratch / f"whole-{version}", checkpoint, final, version)
    assert relative_error(gradients, expected) < TOLERANCE
    less = synchronous(config, scratch / f"less-{version}", checkpoint, final[1:], version)
    assert relative_error(gradients, less) > 1e-3
    return final


def synchronous(
    config: TrainConfig, folder: Path, checkpoint: Path, played: list[Played], version: int
) -> dict[str, torch.Tensor]:
    """The gradient of one pass over the rows from the checkpoint's weights."""
    config = replace(
        config, optim=replace(config.optim, steps=version + 1), run=replace(config.run, output_dir=str(folder))
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


def _fields(row: Any) -> list[Any]:
    return [getattr(row, name) for name in list(row.__dataclass_fields__)[:8]]

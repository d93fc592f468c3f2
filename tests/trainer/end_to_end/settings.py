"""The configuration of the runs: Plan-Path on a 4x4 grid, a Qwen3 of two layers, a few instances."""

from pathlib import Path
from typing import Any

from at_grpo.config import (
    EnvSection,
    ModelSection,
    OptimSection,
    PolicySection,
    RoleSection,
    RolloutSection,
    RunSection,
    TrainConfig,
    WarmStartSection,
)
from tests.scale import scaled

ROLES = ("tool", "planner")
STEPS, STOP = scaled(fast=6, long=30), 3  # of a run that is compared with its resumed self
WARM_START = WarmStartSection(steps=120, hidden_size=48, layers=2, heads=2, learning_rate=5e-3)
OPTIONS: dict[str, Any] = {
    "size": 4,
    "walls": 0.1,
    "min_path": 3,
    "observation": "local",
    "max_moves": 2,
    "max_cycles": 3,
}


def small(
    folder: Path,
    base: Path | None,
    *,
    policies: dict[str, str] | None = None,
    env: dict[str, Any] | None = None,
    options: dict[str, Any] | None = None,
    role: dict[str, Any] | None = None,
    rollout: dict[str, Any] | None = None,
    optim: dict[str, Any] | None = None,
    run: dict[str, Any] | None = None,
) -> TrainConfig:
    """A run of seconds. Everything but the folder and the base overrides what is set here.

    Args:
        folder: of the run.
        base: folder of the base model; without one the run makes its own.
        policies: role -> policy; by default each role has one of its own.
        env, options, role, rollout, optim, run: values of the sections of these names; `role` goes to every role.
    """
    seats = policies or {role: role for role in ROLES}
    return TrainConfig(
        env=EnvSection(options={**OPTIONS, **(options or {})}, **(env or {})),
        model=ModelSection(warm_start=WARM_START) if base is None else ModelSection(base=str(base)),
        policies={policy: PolicySection(rank=8, lora_alpha=16) for policy in seats.values()},
        roles={
            name: RoleSection(policy=policy, **({"max_tokens": 10} | (role or {}))) for name, policy in seats.items()
        },
        rollout=RolloutSection(**({"instances": 2, "k": 3, "max_prompt_tokens": 128} | (rollout or {}))),
        optim=OptimSection(
            **({"steps": 2, "learning_rate": 4e-3, "scale_rewards": "none", "advantage_factor": 3.0} | (optim or {}))
        ),
        run=RunSection(
            output_dir=str(folder), **({"save_steps": 100, "log_steps": 1, "keep_checkpoints": 99} | (run or {}))
        ),
    )


def resumable(folder: Path, base: Path, steps: int = STEPS, **run: Any) -> TrainConfig:
    """A run whose learning rate still rises where it is stopped, so that a wrong place in the schedule shows; and
    rises in the same way however many steps are to come.
    """
    optim = {"steps": steps, "weight_decay": 0.01, "scheduler": "constant_with_warmup", "warmup_steps": 5}
    return small(folder, base, optim=optim, run={"save_steps": STOP, "eval_steps": STOP, "eval_instances": 10} | run)

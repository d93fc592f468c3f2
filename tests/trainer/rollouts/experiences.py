"""Real runs of the counting task: engine, store, journal and trainer around a script that plays the server."""

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from peft import PeftModel
from transformers import TrainerCallback

from at_grpo import train
from at_grpo.at_grpo_config import grpo_config
from at_grpo.at_grpo_trainer import ATGRPOTrainer
from at_grpo.config import (
    InferenceSection,
    ModelSection,
    OptimSection,
    PolicySection,
    RoleSection,
    RolloutSection,
    RunSection,
    TrainConfig,
)
from at_grpo.inference.base import SamplingParams
from at_grpo.inference.publishing import InProcess
from at_grpo.inference.scripted import Script
from at_grpo.policies import build_policies
from at_grpo.pools import pools_of
from at_grpo.rollouts.engine import RolloutEngine
from at_grpo.rollouts.experience import Experience, OnStep
from at_grpo.rollouts.limits import Select
from at_grpo.rollouts.tree import Recipe
from at_grpo.samples import Iteration
from at_grpo.tiny import build_model
from at_grpo.updates.messages import WorkerPlan
from at_grpo.updates.workers import UpdateWorkers
from llm_envs.players import Player
from tests.trainer.rollouts.test_tree import encoder
from tests.trainer.served_script import Pace, ServedScript
from tests.trainer.tiny_trainer import KeepGradients, plant
from tests.trainer.toy_env import EchoSandbox, count_env

ROLES = ("tool", "planner")


def toy_config(folder: Path, *, backend: str = "vllm", steps: int = 1, **rollout: Any) -> TrainConfig:
    """Few instances, micro-batches of 5 rows, a checkpoint every step; log-probabilities count in the gradient."""
    return TrainConfig(
        model=ModelSection(base="tiny"),
        policies={role: PolicySection(rank=4, lora_alpha=8) for role in ROLES},
        roles={role: RoleSection(policy=role) for role in ROLES},
        rollout=RolloutSection(**({"instances": 6, "k": 4, "stall_s": 30.0} | rollout)),
        inference=InferenceSection(backend=backend),
        optim=OptimSection(steps=steps, learning_rate=1e-2, max_grad_norm=1e9, micro_batch_size=5),
        run=RunSection(output_dir=str(folder), save_steps=1, log_steps=1, keep_checkpoints=9),
    )


def make_experience(
    config: TrainConfig,
    script: Script,
    *,
    pace: Pace | None = None,
    on_step: OnStep | None = None,
    players: Mapping[str, Player] | None = None,
) -> tuple[Experience, ServedScript]:
    """The experience of a run, and the sampler, which keeps what it was asked."""
    versions = dict.fromkeys(ROLES, 0)
    sampler = ServedScript(script, encoder(), versions, pace)
    recipe = Recipe(
        sampler=sampler,
        encoders=dict.fromkeys(ROLES, encoder()),
        policies={role: role for role in ROLES},
        params=dict.fromkeys(ROLES, SamplingParams()),
        k=config.rollout.k,
        select=Select.GREEDY,
        max_prompt_tokens=1000,
        seed=config.run.seed,
    )
    engine = RolloutEngine(
        count_env,
        recipe,
        env_id="count",
        split="train",
        grouping=config.rollout.grouping,
        sandbox=EchoSandbox(),
        max_lost_share=0.5,
        max_in_flight=config.rollout.max_in_flight,
    )
    return Experience(config, engine, players or {}, InProcess(versions), on_step), sampler


def toy_model(config: TrainConfig) -> PeftModel:
    """Adapters with a B that is not zero, so that every tensor has a gradient."""
    base = build_model(encoder().tokenizer, hidden_size=32, layers=2, heads=2, seed=7)
    return plant(build_policies(base, config.policies, seed=0))


def make_run(
    config: TrainConfig,
    experience: Experience | None,
    *,
    collect: Callable[[int], Iteration] | None = None,
    trainer_class: type[ATGRPOTrainer] = ATGRPOTrainer,
    callbacks: Sequence[TrainerCallback] = (),
) -> tuple[ATGRPOTrainer, KeepGradients]:
    """A trainer that saves as `train.run` does; without an experience it saves nothing."""
    keep = KeepGradients()
    extra: Mapping[str, Any] = {"collect": collect}
    if experience is not None:
        plan = WorkerPlan(config, pools_of(config)[0], 0, 1, None, Path("no other rank"), None)
        workers = UpdateWorkers(config, [plan])
        extra = {
            "collect": experience.collect,
            "commit": functools.partial(train._commit, config, experience, workers),
        }
    trainer = trainer_class(
        toy_model(config),
        args=grpo_config(config),
        policies=config.policies,
        temperatures=dict.fromkeys(ROLES, 1.0),
        processing_class=encoder().tokenizer,
        callbacks=[keep, *callbacks],
        **extra,
    )
    return trainer, keep

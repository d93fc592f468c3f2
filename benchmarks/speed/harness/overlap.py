"""How much of the shorter of rollouts and training streaming hides: the real engine, store, journal and trainer, their
work made longer by waiting, so that the machine's pace does not matter.
"""

import asyncio
import tempfile
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from peft import PeftModel

from at_grpo.at_grpo_config import grpo_config
from at_grpo.at_grpo_trainer import ATGRPOTrainer
from at_grpo.callbacks import quiet
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
from at_grpo.inference.base import Completion, SampleRequest
from at_grpo.inference.publishing import InProcess
from at_grpo.inference.scripted import ScriptedSampler
from at_grpo.policies import build_policies
from at_grpo.rollouts.experience import Experience
from at_grpo.samples import MicroBatch
from at_grpo.tiny import build_model
from harness.in_flight import CYCLES, ROLES, K, encoder, make_engine, script

INSTANCES, IN_FLIGHT, ROWS = 32, 4, 16
REPLY_S = 0.15  # a request
TRAIN_S = REPLY_S * INSTANCES * CYCLES * len(ROLES) / IN_FLIGHT  # all micro-batches: as long as all requests


class SlowServer(ScriptedSampler):
    """Answers each request by itself, after a while."""

    def episode(self) -> Any:
        return nullcontext()

    async def sample(self, request: SampleRequest) -> Sequence[Completion]:
        await asyncio.sleep(REPLY_S)
        return self.generate([request])[0]


class SlowTrainer(ATGRPOTrainer):
    """Every forward and backward pass takes its share of `TRAIN_S`."""

    def _backward(self, model: Any, micro_batch: MicroBatch) -> tuple[float, dict[str, float]]:
        ends = time.perf_counter() + TRAIN_S * len(micro_batch.samples) / (INSTANCES * CYCLES * len(ROLES) * K)
        result = super()._backward(model, micro_batch)
        time.sleep(max(0.0, ends - time.perf_counter()))
        return result


def hidden_share(backend: str) -> dict[str, float]:
    """The times of an iteration, after one that warms up."""
    with tempfile.TemporaryDirectory() as folder:
        config = _config(Path(folder), backend)
        versions = dict.fromkeys(ROLES, 0)
        engine = make_engine(SlowServer(script, encoder(), versions), IN_FLIGHT)
        with Experience(config, engine, {}, InProcess(versions)) as experience:
            trainer = SlowTrainer(
                _policies(config),
                args=grpo_config(config),
                policies=config.policies,
                temperatures=dict.fromkeys(ROLES, 1.0),
                collect=experience.collect,
                processing_class=encoder().tokenizer,
            )
            quiet(trainer)
            trainer.train()
    return {key.removeprefix("time/"): value for key, value in trainer.state.log_history[1].items() if "time/" in key}


def _policies(config: TrainConfig) -> PeftModel:
    base = build_model(encoder().tokenizer, hidden_size=32, layers=2, heads=2, seed=7)
    return build_policies(base, config.policies, seed=0)


def _config(folder: Path, backend: str) -> TrainConfig:
    return TrainConfig(
        model=ModelSection(base="tiny"),
        policies={role: PolicySection(rank=4, lora_alpha=8) for role in ROLES},
        roles={role: RoleSection(role, max_tokens=16) for role in ROLES},
        rollout=RolloutSection(instances=INSTANCES, k=K),
        inference=InferenceSection(backend=backend),
        optim=OptimSection(steps=2, micro_batch_size=ROWS),
        run=RunSection(output_dir=str(folder), save_steps=1000, log_steps=1),
    )

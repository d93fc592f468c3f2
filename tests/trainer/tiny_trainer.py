"""A trainer small enough for tests: a two-layer Qwen3, random samples, and the gradients that `train()` left."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM, TrainerCallback

from at_grpo.at_grpo_config import grpo_config
from at_grpo.at_grpo_trainer import ATGRPOTrainer
from at_grpo.config import ModelSection, OptimSection, PolicySection, RoleSection, RunSection, TrainConfig
from at_grpo.mini_batches import MiniBatches
from at_grpo.policies import build_policies
from at_grpo.samples import Iteration, MicroBatch, Sample

VOCABULARY = 64
ROLES = ("planner", "tool")


def tokenizer() -> PreTrainedTokenizerFast:
    words = {f"w{index}": index for index in range(VOCABULARY)}
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel(words, unk_token="w0")), pad_token="w1", eos_token="w2"
    )


TINY = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 16,
}


def base_model(seed: int = 0, **sizes: int) -> Qwen3ForCausalLM:
    """Untrained; `sizes` replace those of `TINY`."""
    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=VOCABULARY,
        max_position_embeddings=128,
        tie_word_embeddings=True,
        pad_token_id=1,
        eos_token_id=2,
        **TINY | sizes,
    )
    return Qwen3ForCausalLM(config).float()


def run_config(folder: Path, **optim: Any) -> TrainConfig:
    settings: dict[str, Any] = {"steps": 1, "learning_rate": 1e-2, "max_grad_norm": 1e9, "importance_cap": 0.0} | optim
    return TrainConfig(
        model=ModelSection(base="tiny"),
        policies={role: PolicySection(rank=8, lora_alpha=16) for role in ROLES},
        roles={role: RoleSection(policy=role) for role in ROLES},
        optim=OptimSection(**settings),
        run=RunSection(output_dir=str(folder), save_steps=1000, log_steps=1),
    )


def peft_model(config: TrainConfig, *, planted: bool = True) -> PeftModel:
    """Adapters on a tiny base; planted ones have a B that is not zero, so that every tensor has a gradient."""
    model = build_policies(base_model(), config.policies, seed=config.run.seed)
    return plant(model) if planted else model


def plant(model: PeftModel) -> PeftModel:
    """The model, after its adapters' B have become random numbers."""
    torch.manual_seed(1)
    for name, parameter in model.named_parameters():
        if "lora_B" in name:
            parameter.data.normal_(std=0.05)
    return model


def random_samples(role: str, count: int, seed: int) -> list[Sample]:
    """Rows of 3-9 prompt tokens and 2-12 completion tokens with random advantages."""
    rng = random.Random(f"{role}:{seed}")

    def ids(low: int, high: int) -> tuple[int, ...]:
        return tuple(rng.randrange(3, VOCABULARY) for _ in range(rng.randint(low, high)))

    rows = []
    for sibling in range(count):
        completion = ids(2, 12)
        rows.append(
            Sample(
                policy=role,
                role=role,
                prompt_ids=ids(3, 9),
                completion_ids=completion,
                logprobs=tuple(-rng.uniform(3.0, 5.0) for _ in completion),
                reward=0.0,
                sibling=sibling,
                truncated=False,
                version=0,
                advantage=rng.gauss(0.0, 1.0),
            )
        )
    return rows


def cut(samples: Sequence[Sample], size: int) -> list[MicroBatch]:
    starts = range(0, len(samples), size)
    return [MicroBatch(samples[at].policy, samples[at].role, tuple(samples[at : at + size])) for at in starts]


class KeepGradients(TrainerCallback):
    """Copies every gradient just before the optimizer steps."""

    def __init__(self) -> None:
        self.gradients: dict[str, torch.Tensor] = {}

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        model = kwargs["model"]
        self.gradients = {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}


def make_trainer(
    config: TrainConfig,
    batches: Sequence[Sequence[MicroBatch]],
    *,
    model: PeftModel | None = None,
    trainer_class: type[ATGRPOTrainer] = ATGRPOTrainer,
    temperatures: dict[str, float] | None = None,
    mini_batches: MiniBatches | None = None,
) -> tuple[ATGRPOTrainer, KeepGradients]:
    """A trainer whose iteration i trains on `batches[i]`."""
    keep = KeepGradients()
    trainer = trainer_class(
        peft_model(config) if model is None else model,
        args=grpo_config(config),
        policies=config.policies,
        temperatures=temperatures or dict.fromkeys(ROLES, 1.0),
        collect=lambda step: Iteration(batches[step], {}),
        mini_batches=mini_batches,
        processing_class=tokenizer(),
        callbacks=[keep],
    )
    return trainer, keep


def relative_error(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> float:
    """Relative L2 distance over all tensors. The two must have the same names."""
    assert one, "no gradients at all"
    assert one.keys() == other.keys(), "gradients of different parameters"
    difference = sum(float((one[name] - other[name]).square().sum()) for name in one)
    return (difference / sum(float(value.square().sum()) for value in other.values())) ** 0.5


def adapter_tensors(model: PeftModel, policy: str) -> dict[str, torch.Tensor]:
    return {n: p.detach().clone() for n, p in model.named_parameters() if f".{policy}." in n}


def base_tensors(model: PeftModel) -> dict[str, torch.Tensor]:
    return {n: p.detach().clone() for n, p in model.named_parameters() if "lora_" not in n}

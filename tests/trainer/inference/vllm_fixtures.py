"""A base model that vLLM's CPU build can serve, policies on it, and texts that are long enough for its prefix cache."""

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel

from at_grpo.config import PolicySection
from at_grpo.inference.base_model import load_base
from at_grpo.inference.plan import ServerPlan
from at_grpo.policies import build_policies, generating
from at_grpo.tiny import build_model, save_base

# vLLM's attention on the CPU wants heads of a multiple of 32 dimensions.
SIZE = {"hidden_size": 64, "layers": 2, "heads": 2}
MAX_LEN, RANK = 1024, 8
OPTIONS: Mapping[str, object] = {"enforce-eager": True, "max-num-seqs": 64}
STOP = 2  # the tiny tokenizer's end token


def save(folder: Path, tokenizer: Any) -> Path:
    save_base(build_model(tokenizer, **SIZE, seed=11), tokenizer, folder)
    return folder


def plan(base: Path, policies: int = 3) -> ServerPlan:
    return ServerPlan(str(base), "float32", MAX_LEN, policies, RANK, options=OPTIONS)


def policies_on(base: Path, *names: str) -> PeftModel:
    model, _ = load_base(str(base), "float32")
    return build_policies(model, dict.fromkeys(names, PolicySection(rank=RANK, lora_alpha=16)), seed=0)


def move(model: PeftModel, policy: str, seed: int, size: float = 0.2) -> None:
    """Give an adapter a B of random numbers, as if a large optimizer step had been made."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if f"lora_B.{policy}." in name:
                parameter.copy_(size * torch.randn(parameter.shape, generator=generator))


def prompt(model: PeftModel, length: int, seed: int = 0) -> tuple[int, ...]:
    """Random text tokens; the special ones have the lowest ids."""
    rng = random.Random(seed)
    return tuple(8 + int(rng.random() * (model.config.vocab_size - 8)) for _ in range(length))


def scores(
    model: PeftModel, policy: str | None, prompt_ids: tuple[int, ...], token_ids: tuple[int, ...]
) -> list[float]:
    """Log-probabilities of a completion by a plain forward pass; None for the base model."""
    ids = torch.tensor([[*prompt_ids, *token_ids]])
    with generating(model, policy or next(iter(model.peft_config))):
        if policy is None:
            with model.disable_adapter():
                logits = model(input_ids=ids).logits
        else:
            logits = model(input_ids=ids).logits
    logps = torch.log_softmax(logits[0, len(prompt_ids) - 1 : -1], dim=-1)
    found: list[float] = logps.gather(1, torch.tensor(token_ids)[:, None])[:, 0].tolist()
    return found


def gap(served: tuple[float, ...], own: list[float]) -> float:
    return max(abs(one - other) for one, other in zip(served, own, strict=True))

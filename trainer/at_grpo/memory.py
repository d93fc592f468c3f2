"""How much memory a run will need, from the shape of the model alone: nothing is loaded, nothing is allocated."""

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from at_grpo.choices import Backend, Dtype
from at_grpo.config import PolicySection, TrainConfig, WarmStartSection
from at_grpo.inference.plan import lora_bound
from at_grpo.pools import Pool, base_of
from llm_envs.core.errors import UsageError

logger = logging.getLogger(__name__)
ADAPTER_BYTES = 16  # float32: the weight, its gradient, and AdamW's two moments
# Saved activations of a transformer layer are 17 numbers per token and hidden unit where attention is not materialised
# (Korthikanti et al. 2022, arXiv 2205.05198, section 4.1 without the 5as/h term of the attention matrix).
ACTIVATIONS_PER_UNIT = 17
LOGIT_COPIES = 3  # logits, log-softmax, gradient
ALL_LINEAR = "all-linear"


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """Bytes by purpose, of a process that trains a pool. Activations, logits and cache are upper bounds: prompts and
    replies at their limits.

    Attributes:
        base_parameters: of the base model.
        adapter_parameters: policy -> trained parameters.
        base: weights of the base model.
        adapters: trained weights, their gradients and AdamW moments.
        activations, logits: of one micro-batch.
        cache: keys and values of the replies that are sampled together.
        reply: of one of them.
        slot: an adapter on a server, at the largest rank that it serves and in the base's number format.
        served: whether servers sample, so that the cache is not the trainer's.
        full: whether the base itself is what is trained.
    """

    base_parameters: int
    adapter_parameters: Mapping[str, int]
    base: int
    adapters: int
    activations: int
    logits: int
    cache: int
    reply: int
    slot: int
    served: bool
    full: bool

    @property
    def peak(self) -> int:
        """The trainer's. In process, sampling and training take turns, so the larger of their needs counts."""
        weights = self.adapters if self.full else self.base + self.adapters
        return weights + max(self.activations + self.logits, 0 if self.served else self.cache)


def plan_memory(config: TrainConfig, pool: Pool) -> MemoryPlan:
    """The estimate for a pool of a checked configuration.

    Raises:
        UsageError: a base model whose configuration can't be found.
    """
    skeleton = _skeleton(config, pool)
    shape = skeleton.config
    size = Dtype(config.model.dtype).bytes
    replies = max(role.max_tokens for role in pool.roles.values())
    tokens = config.rollout.max_prompt_tokens + replies
    rows = config.optim.micro_batch_size
    together = config.rollout.instances * config.rollout.k
    head_size = getattr(shape, "head_dim", None) or shape.hidden_size // shape.num_attention_heads
    reply = tokens * shape.num_hidden_layers * 2 * shape.num_key_value_heads * head_size * size
    base = sum(parameter.numel() for parameter in skeleton.parameters())
    adapters = {
        name: base if pool.full else adapter_parameters(skeleton, section) for name, section in pool.policies.items()
    }
    return MemoryPlan(
        base_parameters=base,
        adapter_parameters=adapters,
        base=base * size,
        adapters=sum(adapters.values()) * ADAPTER_BYTES,
        activations=rows * tokens * shape.num_hidden_layers * shape.hidden_size * ACTIVATIONS_PER_UNIT * size,
        logits=rows * replies * shape.vocab_size * LOGIT_COPIES * 4,
        cache=together * reply,
        reply=reply,
        slot=adapter_parameters(skeleton, PolicySection(rank=lora_bound(pool.policies.values()))) * size,
        served=config.inference.backend != Backend.TRANSFORMERS,
        full=pool.full,
    )


def adapter_parameters(model: Any, section: PolicySection) -> int:
    """Parameters of a LoRA adapter: r x (in + out) for every target, which PEFT finds by the same three rules:
    `all-linear` is every linear layer but the output, a text is a pattern of the whole path, a list names path ends.
    """
    from torch import nn

    targets, output = section.target_modules, model.get_output_embeddings()

    def targeted(path: str, module: nn.Module) -> bool:
        if targets == ALL_LINEAR:
            return module is not output
        if isinstance(targets, str):
            return re.fullmatch(targets, path) is not None
        return any(path == target or path.endswith(f".{target}") for target in targets)

    return sum(
        section.rank * (module.in_features + module.out_features)
        for path, module in model.named_modules()
        if isinstance(module, nn.Linear) and targeted(path, module)
    )


def _skeleton(config: TrainConfig, pool: Pool) -> Any:
    """The base model without weights: on the meta device, tensors have a shape and no memory."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    if config.model.warm_start is not None and pool.base == base_of(config, PolicySection()):
        return _tiny_skeleton(config.model.warm_start)
    if not Path(pool.base).is_dir():
        logger.info("%s is no folder here: asking the hub, for a minute at most where there is no network", pool.base)
    try:
        shape = AutoConfig.from_pretrained(pool.base)
    except (OSError, ValueError) as error:  # ValueError: a config.json of no known model
        reason = str(error).strip().splitlines()[0]
        raise UsageError(
            f"{pool.base_option}={pool.base!r}: no model can be loaded from there ({reason}); name a local folder, or "
            "check the spelling."
        ) from error
    with torch.device("meta"):
        return AutoModelForCausalLM.from_config(shape)


def _tiny_skeleton(section: WarmStartSection) -> Any:
    import torch

    from at_grpo.tiny import VOCABULARY, build_model, build_tokenizer

    # A tokenizer at its largest: as many different words as its vocabulary has entries.
    words = " ".join(f"{chr(97 + n // 26)}{chr(97 + n % 26)}" * 2 for n in range(VOCABULARY))
    tokenizer = build_tokenizer([words] * 2)
    with torch.device("meta"):
        return build_model(tokenizer, hidden_size=section.hidden_size, layers=section.layers, heads=section.heads)


def show_bytes(count: int) -> str:
    """Bytes in the unit in which people compare memory (powers of 1024)."""
    value, units = float(count), ("B", "KiB", "MiB", "GiB", "TiB")
    for unit in units[:-1]:
        if value < 1024:
            return f"{value:.3g} {unit}"
        value /= 1024
    return f"{value:,.4g} {units[-1]}"

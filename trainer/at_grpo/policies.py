"""Policies: the sets of trained weights that play the roles, here LoRA adapters on one frozen base."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import PreTrainedModel
from trl.trainer.utils import add_fused_lm_head

from at_grpo.config import PolicySection
from at_grpo.seeds import derive_seed


def build_policies(base: PreTrainedModel, policies: Mapping[str, PolicySection], *, seed: int) -> PeftModel:
    """One adapter a policy on a frozen base; each starts as the base (B = 0), with an A of its own drawn from (seed,
    policy).

    Dropout is 0: the sampler's log-probabilities must be those the loss computes.
    """
    model: PeftModel | None = None
    for name, section in policies.items():
        targets = section.target_modules
        lora = LoraConfig(
            r=section.rank,
            lora_alpha=section.lora_alpha,
            target_modules=targets if isinstance(targets, str) else list(targets),
            lora_dropout=0.0,
            task_type="CAUSAL_LM",
        )
        torch.manual_seed(derive_seed(seed, "adapter", name) % 2**32)
        if model is None:
            model = get_peft_model(base, lora, adapter_name=name)
        else:
            model.add_adapter(name, lora)
    if model is None:
        raise ValueError("policies={}: name at least one policy to train")
    return model


def policy_parameters(model: PeftModel, policies: Mapping[str, PolicySection]) -> dict[str, list[torch.nn.Parameter]]:
    """Each policy's parameters, as PEFT itself activates them: matching names would take the base for a policy called
    "model".
    """
    parameters = {}
    for name in policies:
        model.set_adapter(name)
        parameters[name] = [parameter for parameter in model.parameters() if parameter.requires_grad]
    return parameters


@contextmanager
def generating(model: PeftModel, policy: str) -> Iterator[None]:
    """The model as `policy` for generation: its adapter, evaluation mode, no gradients; all restored afterwards."""
    adapter, training = model.active_adapter, model.training
    if adapter != policy:
        model.set_adapter(policy)
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(training)
        if adapter != policy:
            model.set_adapter(adapter)


def forward_per_temperature(base: Any, plain_forward: Any, temperatures: set[float]) -> dict[float, Any]:
    """TRL bakes one temperature into the model's fused forward; roles may differ, so there is one forward a
    temperature.
    """
    forwards = {}
    for temperature in temperatures:
        base.forward = plain_forward
        add_fused_lm_head(base, temperature=temperature, outputs=("log_probs", "entropy"))
        forwards[temperature] = base.forward
    return forwards

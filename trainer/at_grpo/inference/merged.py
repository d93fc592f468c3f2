"""Adapters folded into copies of a small base, so that generation runs plain layers."""

import copy
from dataclasses import dataclass
from typing import Any

import torch
from peft import PeftModel
from peft.tuners import lora
from transformers import PreTrainedModel


def can_merge(model: object) -> bool:
    """Whether a model has adapters, all of them nothing but products added to linear layers, which can be folded in."""
    if not isinstance(model, PeftModel):
        return False
    configs: Any = model.peft_config.values()
    plain = all(config.bias == "none" and not config.modules_to_save and not config.use_dora for config in configs)
    base: Any = model.get_base_model()
    layers = [layer for layer in base.modules() if isinstance(layer, lora.LoraLayer)]
    return plain and all(isinstance(layer, lora.Linear) for layer in layers)


@dataclass(slots=True)
class _Copy:
    """A plain model with one adapter folded in, and the adapter's parameters as they were then."""

    model: PreTrainedModel
    folded: list[torch.Tensor]


class MergedPolicies:
    """Plain models W + scale * B A, one a policy, brought up to date when its adapter has changed.

    A LoRA layer is more small products and their overhead, and makes the forward pass of a model of a million
    parameters half as long again. The copies cost the base's memory once a policy. The model that is trained is never
    touched: folding into it and out again would leave rounding errors in the frozen base.
    """

    def __init__(self, model: PeftModel) -> None:
        """Raises `ValueError` for adapters that `can_merge` refuses."""
        if not can_merge(model):
            raise ValueError(
                "merge=True: an adapter is more than LoRA on linear layers; leave merge out, or pass False"
            )
        self._model = model
        self._copies: dict[str, _Copy] = {}

    @torch.no_grad()
    def model(self, policy: str) -> PreTrainedModel:
        """The policy as a plain model in evaluation mode. Compares values, so no way of changing a weight is missed."""
        layers = self._layers(policy)
        parameters = [part[policy].weight for layer in layers.values() for part in (layer.lora_A, layer.lora_B)]
        held = self._copies.get(policy)
        if held is None:
            held = self._copies[policy] = _Copy(self._plain(policy), [])
        if not held.folded or not all(map(torch.equal, held.folded, parameters)):
            for name, layer in layers.items():
                plain: Any = held.model.get_submodule(name)
                plain.weight.copy_(layer.get_base_layer().weight + layer.get_delta_weight(policy))
            held.folded = [parameter.clone() for parameter in parameters]
        return held.model

    def _layers(self, policy: str) -> dict[str, Any]:
        base: Any = self._model.get_base_model()
        modules = base.named_modules()
        return {name: part for name, part in modules if isinstance(part, lora.Linear) and policy in part.lora_A}

    def _plain(self, policy: str) -> PreTrainedModel:
        plain: Any = copy.deepcopy(self._model).merge_and_unload(adapter_names=[policy])
        # A trainer may have put a forward of its own on the base; its copy would go on calling the original's layers.
        vars(plain).pop("forward", None)
        return plain.eval().requires_grad_(False)  # type: ignore[no-any-return]

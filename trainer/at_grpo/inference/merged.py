"""Adapters folded into copies of a small base, so that generation runs plain layers."""

import copy
from dataclasses import dataclass
from typing import Any

import torch
from peft import PeftModel
from peft.tuners.lora import LoraLayer
from transformers import PreTrainedModel


@dataclass(slots=True)
class _Copy:
    """A plain model with one adapter folded in, and the adapter's parameters as they were then."""

    model: PreTrainedModel
    folded: list[torch.Tensor]


class MergedPolicies:
    """Plain models W + scale * B A, one a policy, brought up to date when its adapter has changed.

    A LoRA layer is three more small products and their overhead; for a model of a million parameters it makes a forward pass
    half as long again. The copies cost the base's memory once a policy. They take part in no training, and the model that does
    is never touched: folding into it and out again would leave rounding errors in the frozen base.
    """

    def __init__(self, model: PeftModel) -> None:
        self._model = model
        self._layers = {name: layer for name, layer in model.base_model.model.named_modules() if isinstance(layer, LoraLayer)}
        self._copies: dict[str, _Copy] = {}

    @torch.no_grad()
    def model(self, policy: str) -> PreTrainedModel:
        """The policy as a plain model in evaluation mode. Compares values, so no way of changing a weight is missed."""
        parameters = self._parameters(policy)
        held = self._copies.get(policy)
        if held is None:
            held = self._copies[policy] = _Copy(self._plain(policy), [])
        if not held.folded or not all(map(torch.equal, held.folded, parameters)):
            for name, layer in self._layers.items():
                weight = held.model.get_submodule(name).weight
                weight.copy_(layer.get_base_layer().weight + layer.get_delta_weight(policy))
            held.folded = [parameter.detach().clone() for parameter in parameters]
        return held.model

    def _parameters(self, policy: str) -> list[torch.Tensor]:
        return [
            part[policy].weight for layer in self._layers.values() for part in (layer.lora_A, layer.lora_B) if policy in part
        ]

    def _plain(self, policy: str) -> PreTrainedModel:
        plain: Any = copy.deepcopy(self._model).merge_and_unload(adapter_names=[policy])
        # A trainer may have put a forward of its own on the base; its copy would go on calling the original's layers.
        vars(plain).pop("forward", None)
        return plain.eval().requires_grad_(False)  # type: ignore[no-any-return]

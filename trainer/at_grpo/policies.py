"""Policies: the trained weights that play the roles. LoRA adapters on one frozen base, or all weights of a model."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM, PreTrainedModel
from trl.trainer.utils import add_fused_lm_head

from at_grpo.choices import Weights
from at_grpo.config import PolicySection
from at_grpo.seeds import derive_seed

Parameters = dict[str, list[torch.nn.Parameter]]


class Policies(Protocol):
    """What a trainer and a sampler do to the weights of policies, however they are kept.

    Attributes:
        model: what is called.
        core: the causal language model in it, whose forward pass gives logits.
        names: of the policies.
    """

    model: Any
    core: Any
    names: tuple[str, ...]

    def parameters(self) -> Parameters:
        """Each policy's trained parameters."""
        ...

    def activate(self, name: str) -> None:
        """Have the model answer, and be trained, as this policy."""
        ...

    def thaw(self) -> None:
        """Let all policies' parameters require gradients; to be active may have frozen the others."""
        ...

    def start(self) -> AbstractContextManager[None]:
        """The model as it was before any policy was trained."""
        ...

    def generating(self, name: str) -> AbstractContextManager[None]:
        """The model as this policy for generation: evaluation mode, no gradients; all restored afterwards."""
        ...

    def home(self, checkpoint: Path) -> Path:
        """What transformers saves the model to, so that each policy has the folder of its name in a checkpoint."""
        ...

    def load(self, checkpoint: Path) -> None:
        """Take the weights of a checkpoint."""
        ...


class AdapterPolicies:
    """`Policies` that are LoRA adapters of a PEFT model."""

    def __init__(self, model: PeftModel) -> None:
        """Args:
        model: one adapter a policy.
        """
        self.model: Any = model
        self.core: Any = model.get_base_model()

    @property
    def names(self) -> tuple[str, ...]:
        """See `Policies`."""
        return tuple(self.model.peft_config)

    def parameters(self) -> Parameters:
        """As PEFT itself activates them: matching names would take the base for a policy called "model"."""
        parameters = {}
        for name in self.names:
            self.model.set_adapter(name)
            parameters[name] = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
        return parameters

    def activate(self, name: str) -> None:
        """See `Policies`."""
        if self.model.active_adapter != name:
            self.model.set_adapter(name)

    def thaw(self) -> None:
        """See `Policies`."""
        self.model.set_requires_grad(list(self.names), True)

    def start(self) -> AbstractContextManager[None]:
        """The base: fresh adapters have B = 0."""
        return self.model.disable_adapter()  # type: ignore[no-any-return]

    def generating(self, name: str) -> AbstractContextManager[None]:
        """See `Policies`."""
        return generating(self.model, name)

    def home(self, checkpoint: Path) -> Path:
        """PEFT adds the names."""
        return checkpoint

    def load(self, checkpoint: Path) -> None:
        """See `Policies`."""
        for name in self.names:
            self.model.load_adapter(str(checkpoint / name), name, is_trainable=True)
        self.model.set_adapter(self.names[0])


class WholePolicy:
    """`Policies` of one policy: all weights of a model that it has to itself."""

    def __init__(self, model: PreTrainedModel, name: str) -> None:
        """Args:
        model: its weights.
        name: of the policy.
        """
        self.model: Any = model
        self.core: Any = model
        self.names = (name,)

    def parameters(self) -> Parameters:
        """See `Policies`."""
        return {self.names[0]: list(self.model.parameters())}

    def activate(self, name: str) -> None:
        """It always is."""

    def thaw(self) -> None:
        """They always are."""

    def start(self) -> AbstractContextManager[None]:
        """Not kept. Raises ValueError."""
        raise ValueError(f"policies.{self.names[0]}.beta: weights=full keeps no copy of its start; must be 0")

    @contextmanager
    def generating(self, name: str) -> Iterator[None]:
        """See `Policies`."""
        training = self.model.training
        self.model.eval()
        try:
            with torch.no_grad():
                yield
        finally:
            self.model.train(training)

    def home(self, checkpoint: Path) -> Path:
        """See `Policies`."""
        return checkpoint / self.names[0]

    def load(self, checkpoint: Path) -> None:
        """See `Policies`."""
        saved = AutoModelForCausalLM.from_pretrained(self.home(checkpoint), dtype=self.model.dtype)
        self.model.load_state_dict(saved.state_dict())


def policies_of(model: Any, names: Iterable[str] = ()) -> AdapterPolicies | WholePolicy:
    """The policies that a model holds.

    Args:
        model: a PEFT model, which knows their names, or any other.
        names: the one policy that all weights of another model are.
    """
    if isinstance(model, PeftModel):
        return AdapterPolicies(model)
    (name,) = names
    return WholePolicy(model, name)


def build_policies(base: PreTrainedModel, policies: Mapping[str, PolicySection], *, seed: int) -> Any:
    """The model that holds the policies: the base itself for one whose weights are full, else one adapter each on it.

    Args:
        base: from `base_model.load_base`.
        policies: name -> settings.
        seed: of the adapters.
    """
    if any(section.weights == Weights.FULL for section in policies.values()):
        return base
    return build_adapters(base, policies, seed=seed)


def build_adapters(base: PreTrainedModel, policies: Mapping[str, PolicySection], *, seed: int) -> PeftModel:
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

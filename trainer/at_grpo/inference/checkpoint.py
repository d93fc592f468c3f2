"""The policies of finished or running trainings as players, in process."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from peft import PeftModel

from at_grpo.choices import Weights
from at_grpo.config import RoleSection, TrainConfig
from at_grpo.inference.base import SamplingParams
from at_grpo.inference.base_model import load_base
from at_grpo.inference.batching import BatchingSampler
from at_grpo.inference.player import PolicyPlayer
from at_grpo.inference.pooled import PooledSampler, part_of
from at_grpo.inference.transformers import TransformersSampler
from at_grpo.loading import parse_config
from at_grpo.pools import MADE
from at_grpo.tokenization import PromptEncoder, stop_token_ids
from at_grpo.yaml_io import parse_yaml
from llm_envs.core.errors import UsageError, unknown_choice

ADAPTER = "adapter_config.json"  # in every folder of an adapter, written by PEFT


@dataclass(frozen=True, slots=True)
class _Seat:
    """The weights that play one role, and how they are sampled from.

    Attributes:
        name: for people.
        weights: folder of an adapter, or of a whole model.
        base: what the adapter lies on; the same folder for a whole model.
        dtype: of the base.
        params: as it was trained.
        template: what its chat template was told.
    """

    name: str
    weights: Path
    base: str
    dtype: str
    params: SamplingParams
    template: Mapping[str, Any] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether the weights are all of a model's."""
        return str(self.weights) == self.base


def load_players(
    checkpoints: Path | Mapping[str, Path],
    *,
    seed: int = 0,
    temperature: float | None = None,
    max_tokens: int | None = None,
    params: Mapping[str, SamplingParams] | None = None,
) -> dict[str, PolicyPlayer]:
    """Players for roles, from checkpoint folders.

    All of them share one base model and one sampler, so that episodes in flight share batches whichever checkpoint
    plays which role: `load_players({"tool": run / "checkpoint-300", "planner": run / "checkpoint-0"})` seats a trained
    tool beside the planner's start. The folder of a single adapter stands for that adapter in whatever role it is
    given; one that lies in no checkpoint is put on the base that it names itself, and sampled from with the defaults.
    A policy whose weights were all trained (`weights: full`) is a model of its own.

    Args:
        checkpoints: the checkpoint of each role, or one for all roles that its run has trained.
        seed: of the draws.
        temperature, max_tokens: replace those that each role was trained with.
        params: role -> how it is sampled from, instead of as it was trained.

    Raises:
        UsageError: no checkpoint, or a role that its run does not have.
    """
    seats = _seats(checkpoints)
    names = _adapter_names(seats)
    samplers, tokenizers = _samplers(seats, names)
    several = len(set(samplers.values())) > 1
    together = PooledSampler({name: part_of(one) for name, one in samplers.items()}) if several else None
    players = {}
    for role, seat in seats.items():
        drawn = (params or {}).get(role) or _params(seat.params, temperature, max_tokens)
        name = names[seat.weights]
        encoder = PromptEncoder(tokenizers[name], seat.template)
        players[role] = PolicyPlayer(together or samplers[name], encoder, name, drawn, seed, name=seat.name)
    return players


def _samplers(
    seats: Mapping[str, _Seat], names: Mapping[Path, str]
) -> tuple[dict[str, BatchingSampler], dict[str, Any]]:
    """Name of adapter or model -> its sampler, and its tokenizer. Each base model is loaded once."""
    samplers: dict[str, BatchingSampler] = {}
    tokenizers: dict[str, Any] = {}
    for base, dtype in dict.fromkeys((seat.base, seat.dtype) for seat in seats.values()):
        there = [seat for seat in seats.values() if (seat.base, seat.dtype) == (base, dtype)]
        own = {seat.weights: names[seat.weights] for seat in there}
        sampler, tokenizer = _load(base, dtype, own, adapters=not there[0].whole)
        samplers |= dict.fromkeys(own.values(), sampler)
        tokenizers |= dict.fromkeys(own.values(), tokenizer)
    return samplers, tokenizers


def _load(base: str, dtype: str, names: Mapping[Path, str], *, adapters: bool) -> tuple[TransformersSampler, Any]:
    """A base model with adapters on it, or one that is a policy itself, as a sampler; and its tokenizer."""
    model, tokenizer = load_base(base, dtype)
    sampler = TransformersSampler(
        _with_adapters(model, names) if adapters else model,
        stop_token_ids=stop_token_ids(model.generation_config, tokenizer),
        pad_id=tokenizer.pad_token_id,
        policies=names.values(),
        decode=tokenizer.decode,
    )
    return sampler, tokenizer


def _seats(checkpoints: Path | Mapping[str, Path]) -> dict[str, _Seat]:
    if isinstance(checkpoints, Path):
        roles = _read_config(checkpoints).trained
        checkpoints = dict.fromkeys(roles, checkpoints)
    if not checkpoints:
        raise UsageError("checkpoints={}: name a checkpoint for at least one role.")
    return {role: _seat(role, folder) for role, folder in checkpoints.items()}


def _seat(role: str, folder: Path) -> _Seat:
    """The seat of a role that a checkpoint, or a single adapter, plays."""
    if (folder / ADAPTER).is_file():
        return _adapter_seat(folder)
    config = _read_config(folder)
    if role not in config.roles:
        raise unknown_choice(f"role of {folder}", role, config.roles)
    if role in config.frozen:
        raise UsageError(
            f"checkpoint={str(folder)!r}: its run did not train the role {role!r}, a player had it; name that player, "
            "or another checkpoint."
        )
    section = config.roles[role]
    full = config.policies[section.policy].weights == Weights.FULL
    if not (folder / section.policy / ("config.json" if full else ADAPTER)).is_file():
        kind = "model" if full else "adapter"
        raise UsageError(f"checkpoint={str(folder)!r}: holds no {kind} {section.policy!r} for the role {role!r}.")
    return _trained_seat(folder, config, section)


def _adapter_seat(adapter: Path) -> _Seat:
    """The seat of a single adapter: sampled from as it was trained, where it lies in its checkpoint."""
    checkpoint = adapter.resolve().parent
    if (checkpoint / "config.yaml").is_file():
        config = _read_config(checkpoint)
        trained = [section for section in config.trained.values() if section.policy == adapter.name]
        if trained:
            return _trained_seat(checkpoint, config, trained[0])
    try:
        base = json.loads((adapter / ADAPTER).read_text("utf-8"))["base_model_name_or_path"]
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"adapter={str(adapter)!r}: its {ADAPTER} names no base model ({error!r}).") from error
    return _Seat(adapter.name, adapter, str(base), "float32", SamplingParams())


def _trained_seat(checkpoint: Path, config: TrainConfig, role: RoleSection) -> _Seat:
    """The base model was made by the run itself and kept in its folder, or is named by the configuration."""
    policy, weights = config.policies[role.policy], checkpoint / role.policy
    base = policy.base or config.model.base or str(checkpoint.resolve().parent / MADE)
    if policy.weights == Weights.FULL:
        base = str(weights)
    params = SamplingParams(temperature=role.temperature, max_tokens=role.max_tokens, stop=role.stop)
    name = f"{checkpoint.name}/{role.policy}"
    return _Seat(name, weights, base, config.model.dtype, params, config.model.template)


def _read_config(checkpoint: Path) -> TrainConfig:
    path = checkpoint / "config.yaml"
    if not path.is_file():
        raise UsageError(
            f"checkpoint={str(checkpoint)!r}: has no config.yaml; name a checkpoint-<step> folder of a run."
        )
    return parse_config(parse_yaml(path.read_text("utf-8"), str(path)))


def _adapter_names(seats: Mapping[str, _Seat]) -> dict[Path, str]:
    """A name within the process for each distinct adapter or model.

    Two roles may be played by one policy, and policies of one name in different checkpoints are different ones.
    """
    folders = dict.fromkeys(seat.weights for seat in seats.values())
    return {folder: f"{folder.name}_{number}" for number, folder in enumerate(folders)}


def _with_adapters(base: Any, names: Mapping[Path, str]) -> PeftModel:
    (first, name), *others = names.items()
    model: PeftModel = PeftModel.from_pretrained(base, first, adapter_name=name)
    for adapter, other in others:
        model.load_adapter(adapter, adapter_name=other)
    return model


def _params(trained: SamplingParams, temperature: float | None, max_tokens: int | None) -> SamplingParams:
    return SamplingParams(
        temperature=trained.temperature if temperature is None else temperature,
        max_tokens=trained.max_tokens if max_tokens is None else max_tokens,
        stop=trained.stop,
    )

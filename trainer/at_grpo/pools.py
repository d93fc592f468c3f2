"""Which policies share what: a base model, the servers that sample for them, and the worker that trains them."""

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from at_grpo.choices import Dtype, Weights
from at_grpo.config import PolicySection, PoolSection, RoleSection, TrainConfig

MADE = "base"  # folder within a run's of the base that it makes


@dataclass(frozen=True, slots=True)
class Pool:
    """Policies on one base model, with servers and an update worker in common. A worker holds its base once, however
    many policies it trains.

    Attributes:
        base: hub id or folder of the base model.
        policies: name -> settings, in the order of the configuration.
        roles: the roles that they play.
        section: devices and servers that the configuration names for them.
        template: what the base's chat template is told.
    """

    base: str
    policies: dict[str, PolicySection]
    roles: dict[str, RoleSection]
    section: PoolSection
    template: dict[str, Any] = field(default_factory=dict)

    @property
    def full(self) -> bool:
        """Whether all weights of the base are trained; it is one policy's alone then."""
        return any(section.weights == Weights.FULL for section in self.policies.values())

    def dtype(self, wanted: str) -> str:
        """Number format of the base in the trainer: float32 where it is trained, since a small step would be rounded
        away in half precision.
        """
        return Dtype.FLOAT32 if self.full else wanted

    @property
    def base_option(self) -> str:
        """The option that names the base."""
        return f"policies.{self.name}.base" if self.policies[self.name].base else "model.base"

    @property
    def name(self) -> str:
        """How messages and files call it: by its first policy."""
        return next(iter(self.policies))


def pools_of(config: TrainConfig) -> tuple[Pool, ...]:
    """The pools of a run, in the order of their first policies: one a base model, unless `pools` sets some apart."""
    members: dict[tuple[str, PoolSection], dict[str, PolicySection]] = defaultdict(dict)
    for name, section in config.policies.items():
        members[base_of(config, section), config.pools.get(name, PoolSection())][name] = section
    return tuple(
        Pool(
            base,
            policies,
            {role: seat for role, seat in config.trained.items() if seat.policy in policies},
            section,
            config.model.template,
        )
        for (base, section), policies in members.items()
    )


def base_of(config: TrainConfig, section: PolicySection) -> str:
    """Hub id or folder of a policy's base model; the one that a warm start makes lies in the run's folder."""
    return section.base or config.model.base or str(Path(config.run.output_dir) / MADE)

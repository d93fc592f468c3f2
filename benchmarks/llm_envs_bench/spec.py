"""What is played: the description of one environment's part of a run, which decides every episode of it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from llm_envs.core.errors import UsageError, require
from llm_envs_bench.seeds import derive_seed


@dataclass(frozen=True, slots=True)
class Sampling:
    """How models are asked; None leaves it to the agent (a checkpoint's own configuration, a server's default)."""

    temperature: float | None = None
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        require(self.temperature is None or self.temperature >= 0, "temperature", self.temperature, "a number >= 0")
        require(self.max_tokens is None or self.max_tokens >= 1, "max_tokens", self.max_tokens, "a whole number >= 1")


@dataclass(frozen=True, slots=True)
class EpisodeKey:
    """Which episode of a run: an entry's instance, played for the `sample`-th time (from 0)."""

    entry: str
    index: int
    sample: int

    @property
    def id(self) -> str:
        """`plan_path/17/0`."""
        return f"{self.entry}/{self.index}/{self.sample}"

    def seed(self, run_seed: int) -> int:
        """Of the chance of this sample's players; the run's own for the first sample.

        Players make it different for each instance, agent and turn themselves.
        """
        return derive_seed(run_seed, "sample", self.sample) if self.sample else run_seed


@dataclass(frozen=True, slots=True)
class RunSpec:
    """One team of agents on the instances of one environment.

    Attributes:
        env: registry id.
        options: keyword arguments of the environment.
        split: `validation` or `test`; `train` where somebody asks for it.
        first, instances: the instances `first` to `first + instances - 1` are played, `samples` times each.
        agents: role -> agent specification (see `agents`), in the order in which the roles act.
        seed: of every chance that is ours.
        sampling: of the models among the agents.
        weights: role -> digest of the weights, for roles that a checkpoint plays.
        entry: name of this part of the run, unique in it; the environment's without one.
        reply_tokens: role -> most tokens of a served model's reply; `sampling.max_tokens` wins.
        starts: digest of each instance's first state (`start_digest`), where a suite has frozen them.
    """

    env: str
    agents: Mapping[str, str]
    options: Mapping[str, Any] = field(default_factory=dict)
    split: str = "test"
    first: int = 0
    instances: int = 200
    seed: int = 0
    sampling: Sampling = field(default_factory=Sampling)
    weights: Mapping[str, str] = field(default_factory=dict)
    samples: int = 1
    entry: str = ""
    reply_tokens: Mapping[str, int] = field(default_factory=dict)
    starts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require(self.first >= 0, "first", self.first, "a whole number >= 0")
        require(self.instances >= 1, "instances", self.instances, "a whole number >= 1")
        require(self.samples >= 1, "samples", self.samples, "a whole number >= 1")
        if not self.entry:
            object.__setattr__(self, "entry", self.env.rpartition("/")[2])
        if self.starts and len(self.starts) != self.instances:
            raise UsageError(f"starts: must be one for each of the {self.instances} instances, not {len(self.starts)}.")

    @property
    def indices(self) -> range:
        return range(self.first, self.first + self.instances)

    @property
    def episodes(self) -> int:
        """How many episodes this is."""
        return self.instances * self.samples

    @property
    def keys(self) -> list[EpisodeKey]:
        """The episodes in their order: by instance, then by sample."""
        return [EpisodeKey(self.entry, index, sample) for index in self.indices for sample in range(self.samples)]

    @property
    def label(self) -> str:
        """A short name for tables: the agent, or each role's where they differ."""
        if len(set(self.agents.values())) == 1:
            return next(iter(self.agents.values()))
        return ", ".join(f"{role}={agent}" for role, agent in self.agents.items())

    @property
    def hash(self) -> str:
        """SHA-256 of the description: two parts with the same hash asked for the same thing."""
        return digest_of(asdict(self))

    def limit(self, role: str) -> int | None:
        """Most tokens of a served model's reply in this role."""
        return self.reply_tokens.get(role) if self.sampling.max_tokens is None else self.sampling.max_tokens

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of `dataclasses.asdict`; `TypeError` or `KeyError` for what is no description."""
        return cls(**{**data, "sampling": Sampling(**data["sampling"]), "starts": tuple(data["starts"])})

    def differences(self, other: "RunSpec") -> list[str]:
        """Fields in which two differ, in words; empty for equal ones."""
        mine, theirs = asdict(self), asdict(other)
        pairs = ((name, canonical(theirs[name]), canonical(mine[name])) for name in mine)
        return [f"{name}: {old} there, {new} now" for name, old, new in pairs if old != new]


def start_digest(state: str) -> str:
    """What a suite freezes of an instance: 64 bits of the SHA-256 of its first state as text."""
    return hashlib.sha256(state.encode()).hexdigest()[:16]


def canonical(value: Any) -> str:
    """JSON that is the same for equal values."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def digest_of(value: Any) -> str:
    """SHA-256 of the canonical JSON."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()

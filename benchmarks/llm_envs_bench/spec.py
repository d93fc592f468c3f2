"""What a run is: the description that decides every episode of it."""

import hashlib
import json
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Self

import llm_envs
from llm_envs.core.errors import UsageError, require

FORMAT = 1  # of run.json and episodes.jsonl; goes up when an older reader would misread them
PACKAGES = ("pettingzoo", "gymnasium", "numpy", "openai", "torch", "transformers", "peft")


@dataclass(frozen=True, slots=True)
class Sampling:
    """How models are asked; None leaves it to the agent (a checkpoint's own configuration, a server's default)."""

    temperature: float | None = None
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        require(self.temperature is None or self.temperature >= 0, "temperature", self.temperature, "a number >= 0")
        require(self.max_tokens is None or self.max_tokens >= 1, "max_tokens", self.max_tokens, "a whole number >= 1")


@dataclass(frozen=True, slots=True)
class RunSpec:
    """One agent on the instances of one environment.

    Attributes:
        env: registry id.
        options: keyword arguments of the environment.
        split: `validation` or `test`; `train` where somebody asks for it.
        first, instances: the instances `first` to `first + instances - 1` are played, once each.
        agents: role -> agent specification (see `agents`).
        seed: of every chance that is ours.
        sampling: of the models among the agents.
        weights: role -> digest of the weights, for roles that a checkpoint plays.
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

    def __post_init__(self) -> None:
        require(self.first >= 0, "first", self.first, "a whole number >= 0")
        require(self.instances >= 1, "instances", self.instances, "a whole number >= 1")

    @property
    def indices(self) -> range:
        return range(self.first, self.first + self.instances)

    @property
    def label(self) -> str:
        """A short name for tables: the agent, or each role's where they differ."""
        if len(set(self.agents.values())) == 1:
            return next(iter(self.agents.values()))
        return ", ".join(f"{role}={agent}" for role, agent in self.agents.items())

    @property
    def hash(self) -> str:
        """SHA-256 of the description: two runs with the same hash asked for the same thing."""
        return hashlib.sha256(_canonical(asdict(self)).encode()).hexdigest()

    def to_json(self) -> str:
        """The content of run.json; agents stand in the order in which their roles act."""
        data = {"format": FORMAT, "hash": self.hash, "spec": asdict(self), "versions": versions()}
        return json.dumps(data, ensure_ascii=False, indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The inverse of `to_json`; `UsageError` for text that is no run or a run of another format."""
        try:
            data = json.loads(text)
            spec = dict(data["spec"])
            written = data["format"]
            if written == FORMAT:
                return cls(**spec | {"sampling": Sampling(**spec["sampling"])})
        except (ValueError, TypeError, KeyError) as error:
            raise UsageError(f"run.json: must describe a run ({error}); write it anew with llm-envs eval.") from error
        raise UsageError(f"run.json: format={written}: this version reads format {FORMAT}; evaluate again.")

    def differences(self, other: "RunSpec") -> list[str]:
        """Fields in which two runs differ, in words; empty for equal ones."""
        mine, theirs = asdict(self), asdict(other)
        pairs = ((name, _canonical(theirs[name]), _canonical(mine[name])) for name in mine)
        return [f"{name}: {old} there, {new} now" for name, old, new in pairs if old != new]


def versions() -> dict[str, str]:
    """Versions of what takes part in an evaluation, as far as it is installed."""
    found = {"python": platform.python_version(), "llm-envs": llm_envs.__version__}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _canonical(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))

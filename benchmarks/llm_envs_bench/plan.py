"""What a run is: one part for each environment that it plays, and the suite that they come from."""

import json
import platform
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Self

import llm_envs
from llm_envs.core.errors import UsageError
from llm_envs_bench.spec import EpisodeKey, RunSpec, digest_of

FORMAT = 2  # of a run folder; goes up when an older reader would misread it
PACKAGES = ("pettingzoo", "gymnasium", "numpy", "math-verify", "openai", "torch", "transformers", "peft")


@dataclass(frozen=True, slots=True)
class RunPlan:
    """Everything that a run folder is to hold.

    Attributes:
        specs: one for each entry, their names all different.
        suite: name of the suite; empty where the environment was named instead.
        suite_hash: the suite's own.
    """

    specs: tuple[RunSpec, ...]
    suite: str = ""
    suite_hash: str = ""

    def __post_init__(self) -> None:
        names = [spec.entry for spec in self.specs]
        if not names or len(set(names)) < len(names):
            raise UsageError(f"entries={names}: must be at least one, each with a name of its own.")

    @property
    def episodes(self) -> int:
        """How many episodes this is."""
        return sum(spec.episodes for spec in self.specs)

    @property
    def label(self) -> str:
        """A short name for tables: the agent, or who plays which role where they differ."""
        if len({spec.label for spec in self.specs}) == 1:
            return self.specs[0].label
        seats = [seat for spec in self.specs for seat in spec.agents.items()]
        ((most, _),) = Counter(agent for _, agent in seats).most_common(1)
        others = dict.fromkeys(f"{role}={agent}" for role, agent in seats if agent != most)
        return ", ".join([most, *others])

    @property
    def hash(self) -> str:
        """SHA-256 of the description: two runs with the same hash asked for the same thing."""
        return digest_of(asdict(self))

    def __iter__(self) -> Iterator[tuple[RunSpec, EpisodeKey]]:
        """Every episode in order: by entry, instance, sample."""
        return ((spec, key) for spec in self.specs for key in spec.keys)

    def to_json(self) -> str:
        """The content of run.json."""
        data = {"format": FORMAT, "hash": self.hash, **asdict(self), "versions": versions()}
        return json.dumps(data, ensure_ascii=False, indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The inverse of `to_json`; `UsageError` for text that is no run or a run of another format."""
        try:
            data = json.loads(text)
            written = data["format"]
            if written == FORMAT:
                return cls(tuple(map(RunSpec.from_dict, data["specs"])), data["suite"], data["suite_hash"])
        except (ValueError, TypeError, KeyError) as error:
            raise UsageError(f"run.json: must describe a run ({error}); write it anew with llm-envs eval.") from error
        raise UsageError(f"run.json: format={written}: this version reads format {FORMAT}; evaluate again.")

    def differences(self, other: "RunPlan") -> list[str]:
        """In what two runs differ, in words; empty for equal ones."""
        if [spec.entry for spec in self.specs] != [spec.entry for spec in other.specs]:
            return [f"entries: {_names(other)} there, {_names(self)} now"]
        found = [
            difference if len(self.specs) == 1 else f"{mine.entry}: {difference}"
            for mine, theirs in zip(self.specs, other.specs, strict=True)
            for difference in mine.differences(theirs)
        ]
        if (self.suite, self.suite_hash) != (other.suite, other.suite_hash):
            found.append(f"suite: {_suite(other)} there, {_suite(self)} now")
        return found


def versions() -> dict[str, str]:
    """Versions of what takes part in an evaluation, as far as it is installed."""
    found = {"python": platform.python_version(), "llm-envs": llm_envs.__version__}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _names(plan: RunPlan) -> str:
    return ", ".join(spec.entry for spec in plan.specs)


def _suite(plan: RunPlan) -> Any:
    return f"{plan.suite} ({plan.suite_hash[:12]})" if plan.suite else "none"

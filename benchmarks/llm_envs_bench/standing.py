"""A run's place in a leaderboard: its numbers without its episodes, small enough to be kept beside the code."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from llm_envs.core.errors import UsageError
from llm_envs_bench.costs import RoleCost
from llm_envs_bench.metrics import Estimators, PassRate, Summary, summarise
from llm_envs_bench.prices import Price
from llm_envs_bench.stats import Estimate, average
from llm_envs_bench.store import load_plan, load_runs


@dataclass(frozen=True, slots=True)
class Standing:
    """One team of agents on one or more entries.

    Attributes:
        label: who played.
        suite, suite_hash: where the entries come from; empty for an environment that was named instead.
        samples: episodes of an instance.
        summaries: one an entry.
    """

    label: str
    suite: str
    suite_hash: str
    samples: int
    summaries: tuple[Summary, ...]

    @property
    def score(self) -> Estimate:
        """Success, averaged over the entries."""
        return average([summary.success for summary in self.summaries])

    @property
    def owed(self) -> int:
        """Episodes without a score."""
        return sum(summary.owed for summary in self.summaries)

    def to_json(self) -> str:
        """The inverse of `from_json`; what is not a number is null."""
        return json.dumps(_plain(asdict(self)), ensure_ascii=False, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The inverse of `to_json`; `UsageError` for text that is no standing."""
        try:
            data = json.loads(text)
            return cls(**data | {"summaries": tuple(map(_summary, data["summaries"]))})
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise UsageError(f"result: must be what llm-envs report --format json has written ({error}).") from error


def load_standing(folder: Path, *, prices: Mapping[str, Price] | None = None, by: Estimators | None = None) -> Standing:
    """The numbers of a run folder; see `metrics.summarise`."""
    plan = load_plan(folder)
    runs = load_runs(folder)
    return Standing(
        label=plan.label,
        suite=plan.suite,
        suite_hash=plan.suite_hash,
        samples=max(spec.samples for spec in plan.specs),
        summaries=tuple(summarise(run, plan.label, prices=prices, by=by) for run in runs),
    )


def _plain(value: Any) -> Any:
    """JSON knows no NaN."""
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def _summary(data: Mapping[str, Any]) -> Summary:
    return Summary(
        entry=data["entry"],
        label=data["label"],
        success=_estimate(data["success"]),
        returns={role: _estimate(one) for role, one in data["returns"].items()},
        invalid={role: _maybe(one) for role, one in data["invalid"].items()},
        turns=_estimate(data["turns"]),
        passes=tuple(PassRate(one["k"], _estimate(one["once"]), _estimate(one["always"])) for one in data["passes"]),
        tool_quality=_maybe(data["tool_quality"]),
        gap=_maybe(data["gap"]),
        costs={role: _cost(one) for role, one in data["costs"].items()},
        owed=data["owed"],
    )


def _cost(data: Mapping[str, Any]) -> RoleCost:
    tokens = {name: _maybe(data[name]) for name in ("prompt_tokens", "completion_tokens", "money")}
    return RoleCost(**{**data, **tokens})


def _maybe(data: Mapping[str, Any] | None) -> Estimate | None:
    return None if data is None else _estimate(data)


def _estimate(data: Mapping[str, Any]) -> Estimate:
    numbers = {name: math.nan if data[name] is None else data[name] for name in ("value", "low", "high", "error")}
    return Estimate(n=data["n"], **numbers)

"""Two runs side by side: which is better, by how much, how sure that is."""

from collections.abc import Sequence
from dataclasses import dataclass

from llm_envs.core.errors import UsageError
from llm_envs_bench.grid import ENTRY, Grid
from llm_envs_bench.metrics import by_instance, common_instances, return_difference, success_difference
from llm_envs_bench.report import number, percent, points
from llm_envs_bench.stats import Estimate, average, instance_means, rate
from llm_envs_bench.store import Run


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs on the instances of an entry that both have scored.

    Attributes:
        before, after: success of each.
        difference: how much more often the second succeeds, paired by instance.
        gained, lost: instances that the second solves more often, and less often.
        returns: role -> how much more the second earns.
    """

    entry: str
    before: Estimate
    after: Estimate
    difference: Estimate
    gained: int
    lost: int
    returns: dict[str, Estimate]

    @property
    def same(self) -> int:
        """Instances that both solve equally often."""
        return self.difference.n - self.gained - self.lost


def compare_runs(before: Sequence[Run], after: Sequence[Run]) -> list[Comparison]:
    """One comparison for each entry of both runs, in the order of the first.

    Raises:
        UsageError: no entry in common, or entries of one name with other instances.
    """
    theirs = {run.spec.entry: run for run in after}
    pairs = [(run, theirs[run.spec.entry]) for run in before if run.spec.entry in theirs]
    if not pairs:
        names = ", ".join(run.spec.entry for run in before)
        raise UsageError(f"runs: have no entry in common; the first plays {names}, the second {', '.join(theirs)}.")
    return [_compare(*pair) for pair in pairs]


def overall(comparisons: Sequence[Comparison]) -> Estimate:
    """The difference of the scores: that of the entries, averaged."""
    return average([one.difference for one in comparisons])


def comparison_table(comparisons: Sequence[Comparison], labels: tuple[str, str]) -> Grid:
    """One row an entry, and one for the score where there are several."""
    first, second = labels
    rows: list[tuple[str, ...]] = [
        (
            one.entry,
            percent(one.before),
            percent(one.after),
            points(one.difference),
            f"{one.gained} / {one.lost} / {one.same}",
            "\n".join(f"{role} {_signed(found)}" for role, found in one.returns.items()),
        )
        for one in comparisons
    ]
    if len(comparisons) > 1:
        scores = [average([getattr(one, name) for one in comparisons]) for name in ("before", "after")]
        rows.append(("score", *map(percent, scores), points(overall(comparisons)), "", ""))
    header = (ENTRY, first, second, "difference in points", "better/worse/same", "return")
    return Grid(header, tuple(rows))


def verdict(difference: Estimate) -> str:
    """In words, what an interval says."""
    if difference.low > 0:
        return "the second is better: the 95% interval of the difference lies above 0"
    if difference.high < 0:
        return "the first is better: the 95% interval of the difference lies below 0"
    return "these runs do not tell them apart: the 95% interval of the difference holds 0"


def _compare(before: Run, after: Run) -> Comparison:
    common = common_instances([before, after])
    first, second = (
        [pair for pair in by_instance(run.episodes, lambda episode: episode.success) if pair[0] in common]
        for run in (before, after)
    )
    ours, theirs = instance_means(first), instance_means(second)
    roles = [role for role in before.spec.agents if role in after.spec.agents]
    return Comparison(
        entry=before.spec.entry,
        before=rate(first),
        after=rate(second),
        difference=success_difference(before, after),
        gained=sum(theirs[instance] > ours[instance] for instance in common),
        lost=sum(theirs[instance] < ours[instance] for instance in common),
        returns={role: return_difference(before, after, role) for role in roles},
    )


def _signed(estimate: Estimate) -> str:
    text = number(estimate)
    return text if text.startswith("-") or estimate.value == 0 else f"+{text}"

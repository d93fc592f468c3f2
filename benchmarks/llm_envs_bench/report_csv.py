"""All numbers of runs as CSV, one a line, for whoever draws tables and plots of their own."""

import csv
import io
import math
from collections.abc import Iterator, Sequence

from llm_envs_bench.standing import Standing
from llm_envs_bench.stats import Estimate

COLUMNS = ("suite", "entry", "agent", "role", "measure", "value", "low", "high", "error", "n")
Line = tuple[str, str, Estimate]  # role, measure, estimate


def to_csv(standings: Sequence[Standing]) -> str:
    """A line for each number; `role` is empty for what concerns all roles. What is not known is left out."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for standing in standings:
        if len(standing.summaries) > 1:
            writer.writerow(_row(standing, "", ("", "score", standing.score)))
        for place, summary in enumerate(standing.summaries):
            writer.writerows(_row(standing, summary.entry, line) for line in _lines(standing, place))
    return out.getvalue()


def _lines(standing: Standing, place: int) -> Iterator[Line]:
    summary = standing.summaries[place]
    yield "", "success", summary.success
    for one in summary.passes:
        yield "", f"pass@{one.k}", one.once
        yield "", f"pass^{one.k}", one.always
    for role, found in summary.returns.items():
        yield role, "return", found
    for role, share in summary.invalid.items():
        if share is not None:
            yield role, "invalid", share
    yield "", "turns", summary.turns
    for measure, known in (("tool_quality", summary.tool_quality), ("optimality_gap", summary.gap)):
        if known is not None:
            yield "", measure, known
    for role, cost in summary.costs.items():
        amounts = (
            ("prompt_tokens", cost.prompt_tokens),
            ("reply_tokens", cost.completion_tokens),
            ("cost", cost.money),
        )
        yield from ((role, measure, amount) for measure, amount in amounts if amount is not None)
        seconds = (("seconds_median", cost.seconds), ("seconds_95th", cost.slow_seconds))
        yield from ((role, measure, Estimate(one, math.nan, math.nan, cost.replies)) for measure, one in seconds)
    yield "", "owed", Estimate(summary.owed, math.nan, math.nan, summary.success.n)


def _row(standing: Standing, entry: str, line: Line) -> tuple[str, ...]:
    role, measure, found = line
    numbers = (found.value, found.low, found.high, found.error)
    texts = ("" if math.isnan(number) else f"{number:.6g}" for number in numbers)
    return standing.suite, entry, standing.label, role, measure, *texts, str(found.n)

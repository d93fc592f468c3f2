"""Tables of runs, for the terminal and for files, from the same rows."""

import math
from collections.abc import Callable, Sequence

from llm_envs_bench.ablation import Losses
from llm_envs_bench.costs import RoleCost
from llm_envs_bench.grid import AGENT, ENTRY, ROLE, Grid, output_console
from llm_envs_bench.metrics import Summary
from llm_envs_bench.standing import Standing
from llm_envs_bench.stats import Estimate

__all__ = [
    "Grid",
    "cost_table",
    "leaderboard",
    "loss_table",
    "number",
    "output_console",
    "percent",
    "percent_interval",
    "points",
    "suite_table",
]

ABSENT = "–"


def suite_table(standings: Sequence[Standing], references: Sequence[Standing] = ()) -> Grid:
    """One row a run: the score with its interval, then success on each entry.

    Args:
        standings: runs over the same entries.
        references: rows to compare with, which come last.
    """
    everyone = [*standings, *references]
    columns: dict[str, list[str]] = {
        AGENT: _labels(standings, references),
        "score": [percent(one.score) for one in everyone],
        "95%": [percent_interval(one.score) for one in everyone],
    }
    for entry in dict.fromkeys(summary.entry for one in everyone for summary in one.summaries):
        columns[entry.replace("_", " ")] = [_on_entry(one, entry) for one in everyone]
    columns["episodes"] = [_episodes(one) for one in everyone]
    if any(one.owed for one in everyone):
        columns["owed"] = [str(one.owed) for one in everyone]
    return _grid(columns, len(references))


def leaderboard(summaries: Sequence[Summary], references: Sequence[Summary] = ()) -> Grid:
    """One row a run of an entry: success with its interval; return and share of invalid replies, a line a role; turns.

    What no run has (several samples, tools, a known optimum, anything owed) has no column.

    Args:
        summaries: of the same entry.
        references: rows to compare with, which come last.
    """
    rows = [*summaries, *references]
    columns: dict[str, list[str]] = {
        AGENT: _labels(summaries, references),
        "success": [percent(row.success) for row in rows],
        "95%": [percent_interval(row.success) for row in rows],
    }
    if k := max((rate.k for row in rows for rate in row.passes), default=0):
        columns[f"pass@{k}"] = [_pass_rate(row, k)[0] for row in rows]
        columns[f"pass^{k}"] = [_pass_rate(row, k)[1] for row in rows]
    columns |= {
        ROLE: ["\n".join(row.returns) for row in rows],
        "return": ["\n".join(map(number, row.returns.values())) for row in rows],
        "invalid": ["\n".join(map(percent, row.invalid.values())) for row in rows],
    }
    if any(row.tool_quality is not None for row in rows):
        columns["tool quality"] = [percent(row.tool_quality) for row in rows]
    if any(row.gap is not None for row in rows):
        columns["optimality gap"] = [percent(row.gap) for row in rows]
    columns["turns"] = [f"{row.turns.value:.1f}" for row in rows]
    columns["n"] = [str(row.success.n) for row in rows]
    if any(row.owed for row in rows):
        columns["owed"] = [str(row.owed) for row in rows]
    return _grid(columns, len(references))


def cost_table(summaries: Sequence[Summary]) -> Grid:
    """One row a run of an entry, a line a role: what an episode took of tokens and money, and a reply of time.

    Empty where nothing was timed.
    """
    rows = [row for row in summaries if row.costs]
    several = len({row.entry for row in rows}) > 1
    columns: dict[str, list[str]] = {AGENT: [row.label for row in rows]}
    if several:
        columns[ENTRY] = [row.entry for row in rows]
    columns |= {
        ROLE: ["\n".join(row.costs) for row in rows],
        "replies": _cost_column(rows, lambda cost: f"{cost.replies:,}"),
        "prompt tokens": _cost_column(rows, lambda cost: _amount(cost.prompt_tokens, 0)),
        "reply tokens": _cost_column(rows, lambda cost: _amount(cost.completion_tokens, 0)),
    }
    if any(cost.money is not None for row in rows for cost in row.costs.values()):
        columns["cost"] = _cost_column(rows, lambda cost: _amount(cost.money, 4))
    columns |= {
        "seconds median": _cost_column(rows, lambda cost: f"{cost.seconds:.2f}"),
        "seconds 95th": _cost_column(rows, lambda cost: f"{cost.slow_seconds:.2f}"),
    }
    return _grid(columns, 0)


def loss_table(losses: Sequence[Losses]) -> Grid:
    """One row a role of an entry: its gain, its drop, and its share of what the team loses, in points."""
    rows = [(one, role) for one in losses for role in one.roles]
    return _grid(
        {
            ENTRY: [one.entry for one, _ in rows],
            "success": [percent(one.success) for one, _ in rows],
            "loss": [f"{100 * one.loss:.1f}" for one, _ in rows],
            ROLE: [role.role for _, role in rows],
            "loss share": [points(role.share) for _, role in rows],
            "gain by oracle": [points(role.gain) for _, role in rows],
            "drop by random": [points(role.drop) for _, role in rows],
        },
        0,
    )


def percent(share: Estimate | None) -> str:
    """`12.3%`."""
    return ABSENT if share is None else f"{100 * share.value:.1f}%"


def percent_interval(estimate: Estimate) -> str:
    """`9-17%`."""
    if math.isnan(estimate.low):
        return ABSENT
    return f"{100 * estimate.low:.0f}-{100 * estimate.high:.0f}%"


def number(estimate: Estimate) -> str:
    """`0.84 ±0.05`, half the width of the interval; the mean alone where there is no interval."""
    half = (estimate.high - estimate.low) / 2
    return f"{estimate.value:.2f}" if math.isnan(half) else f"{estimate.value:.2f} ±{half:.2f}"


def points(estimate: Estimate) -> str:
    """A difference of rates in points of a percentage, with its interval: `+4.5 (−1.0 to +10.0)`."""
    value, low, high = (_signed(100 * one) for one in (estimate.value, estimate.low, estimate.high))
    return value if math.isnan(estimate.low) else f"{value} ({low} to {high})"


def _signed(value: float) -> str:
    text = f"{abs(value):.1f}"
    return text if float(text) == 0 else ("−" if value < 0 else "+") + text


def _amount(estimate: Estimate | None, digits: int) -> str:
    return ABSENT if estimate is None else f"{estimate.value:,.{digits}f}"


def _cost_column(rows: Sequence[Summary], text: Callable[[RoleCost], str]) -> list[str]:
    return ["\n".join(map(text, row.costs.values())) for row in rows]


def _labels(ours: Sequence[Standing | Summary], references: Sequence[Standing | Summary]) -> list[str]:
    return [one.label for one in ours] + [f"{one.label} (reference)" for one in references]


def _pass_rate(row: Summary, k: int) -> tuple[str, str]:
    found = next((rate for rate in row.passes if rate.k == k), None)
    return (ABSENT, ABSENT) if found is None else (percent(found.once), percent(found.always))


def _on_entry(standing: Standing, entry: str) -> str:
    return next((percent(summary.success) for summary in standing.summaries if summary.entry == entry), ABSENT)


def _episodes(standing: Standing) -> str:
    n = standing.score.n
    return str(n) if standing.samples == 1 else f"{n} × {standing.samples}"


def _grid(columns: dict[str, list[str]], references: int) -> Grid:
    return Grid(tuple(columns), tuple(zip(*columns.values(), strict=True)), references)

"""Tables of runs, for the terminal and as markdown, from the same rows."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table

from llm_envs_bench.metrics import Summary
from llm_envs_bench.stats import Estimate

ABSENT = "–"


@dataclass(frozen=True, slots=True)
class Grid:
    """A table before it has a form: the first column is text, the others are numbers with their units written out."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def to_rich(self, title: str) -> Table:
        """For the terminal."""
        table = Table(title=title, title_justify="left", header_style="bold")
        for number, name in enumerate(self.header):
            table.add_column(name, justify="right" if number else "left", overflow="fold")
        for row in self.rows:
            table.add_row(*row)
        return table

    def to_markdown(self) -> str:
        """GitHub-flavoured."""
        rule = tuple("---:" if number else "---" for number in range(len(self.header)))
        lines = (self.header, rule, *self.rows)
        return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def leaderboard(summaries: Sequence[Summary]) -> Grid:
    """One row a run: success with its interval, return and share of invalid replies per role, turns.

    A column `owed` appears only where infrastructure failures left instances without a score.
    """
    roles = list(dict.fromkeys(role for summary in summaries for role in summary.returns))
    owed = any(summary.owed for summary in summaries)
    header = ("agent", "success", "95% interval", *(f"return {role}" for role in roles))
    header += (*(f"invalid {role}" for role in roles), "turns", "instances", *(["owed"] if owed else []))
    rows = []
    for summary in summaries:
        row = [summary.label, percent(summary.success.value), percent_interval(summary.success)]
        row += [number(summary.returns.get(role)) for role in roles]
        row += [percent(summary.invalid.get(role)) for role in roles]
        row += [number(summary.turns), str(summary.success.n), *([str(summary.owed)] if owed else [])]
        rows.append(tuple(row))
    return Grid(header, tuple(rows))


def percent(share: float | None) -> str:
    """`0.1234` -> `12.3%`."""
    return ABSENT if share is None or math.isnan(share) else f"{100 * share:.1f}%"


def percent_interval(estimate: Estimate) -> str:
    """`9.0–17.2%`."""
    if math.isnan(estimate.low):
        return ABSENT
    return f"{100 * estimate.low:.1f} to {100 * estimate.high:.1f}%"


def number(estimate: Estimate | None) -> str:
    """`0.84 ± 0.05`, half the width of the interval; the mean alone where there is no interval."""
    if estimate is None:
        return ABSENT
    half = (estimate.high - estimate.low) / 2
    return f"{estimate.value:.2f}" if math.isnan(half) else f"{estimate.value:.2f} ± {half:.2f}"

"""Tables of runs, for the terminal and as markdown, from the same rows."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table

from llm_envs_bench.metrics import Summary
from llm_envs_bench.stats import Estimate

ABSENT = "–"
FILE_WIDTH = 160  # columns where no terminal limits them


def output_console() -> Console:
    """Standard output; in a file or pipe wide enough that no table is folded."""
    console = Console()
    return console if console.is_terminal else Console(width=FILE_WIDTH)


@dataclass(frozen=True, slots=True)
class Grid:
    """A table before it has a form: the first column is text, the others are numbers with their units written out."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def to_rich(self, title: str) -> Table:
        """For the terminal."""
        table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE)
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
    """One row a run: success with its interval, return and share of invalid replies per role, turns, instances (n).

    `tool quality` and `owed` appear only where some run has any.
    """
    roles = list(dict.fromkeys(role for summary in summaries for role in summary.returns))
    columns: dict[str, list[str]] = {
        "agent": [summary.label for summary in summaries],
        "success": [percent(summary.success.value) for summary in summaries],
        "95% interval": [percent_interval(summary.success) for summary in summaries],
    }
    columns |= {f"return {role}": [number(summary.returns.get(role)) for summary in summaries] for role in roles}
    columns |= {f"invalid {role}": [percent(summary.invalid.get(role)) for summary in summaries] for role in roles}
    if any(summary.tool_quality is not None for summary in summaries):
        columns["tool quality"] = [percent(summary.tool_quality) for summary in summaries]
    columns["turns"] = [number(summary.turns) for summary in summaries]
    columns["n"] = [str(summary.success.n) for summary in summaries]
    if any(summary.owed for summary in summaries):
        columns["owed"] = [str(summary.owed) for summary in summaries]
    return Grid(tuple(columns), tuple(zip(*columns.values(), strict=True)))


def percent(share: float | None) -> str:
    """`0.1234` -> `12.3%`."""
    return ABSENT if share is None else f"{100 * share:.1f}%"


def percent_interval(estimate: Estimate) -> str:
    """`9.0-17.2%`."""
    return f"{100 * estimate.low:.1f}-{100 * estimate.high:.1f}%"


def number(estimate: Estimate | None) -> str:
    """`0.84 ±0.05`, half the width of the interval; the mean alone where there is no interval."""
    if estimate is None:
        return ABSENT
    half = (estimate.high - estimate.low) / 2
    return f"{estimate.value:.2f}" if math.isnan(half) else f"{estimate.value:.2f} ±{half:.2f}"

"""Tables of runs, for the terminal and as markdown, from the same rows."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console, JustifyMethod
from rich.table import Table

from llm_envs_bench.metrics import Summary
from llm_envs_bench.stats import Estimate

ABSENT = "–"
AGENT, ROLE = "agent", "role"
TEXTS = {AGENT, ROLE}  # columns that read from the left; numbers stand on the right
FILE_WIDTH = 160  # columns where no terminal limits them


def output_console() -> Console:
    """Standard output; in a file or pipe wide enough that no table is folded."""
    console = Console()
    return console if console.is_terminal else Console(width=FILE_WIDTH)


@dataclass(frozen=True, slots=True)
class Grid:
    """A table before it has a form. A cell may have several lines."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def to_rich(self, title: str) -> Table:
        """For the terminal."""
        table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE)
        table.padding = (0, 1, 0, 0)
        for name in self.header:
            if name == AGENT:
                table.add_column(name, min_width=10, overflow="fold")
            else:
                justify: JustifyMethod = "left" if name in TEXTS else "right"
                table.add_column(name.replace(" ", "\n"), justify=justify, no_wrap=True)
        for row in self.rows:
            table.add_row(*row)
        return table

    def to_markdown(self) -> str:
        """GitHub-flavoured."""
        rule = tuple("---" if name in TEXTS else "---:" for name in self.header)
        lines = (self.header, rule, *self.rows)
        return "".join("| " + " | ".join(_markdown_cell(cell) for cell in line) + " |\n" for line in lines)


def _markdown_cell(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", "<br>")


def leaderboard(summaries: Sequence[Summary]) -> Grid:
    """One row a run: success with its interval; return and share of invalid replies, a line a role; turns, instances.

    `tool quality` and `owed` appear only where some run has any.
    """
    columns: dict[str, list[str]] = {
        AGENT: [summary.label for summary in summaries],
        "success": [percent(summary.success.value) for summary in summaries],
        "95%": [percent_interval(summary.success) for summary in summaries],
        ROLE: ["\n".join(summary.returns) for summary in summaries],
        "return": ["\n".join(map(number, summary.returns.values())) for summary in summaries],
        "invalid": ["\n".join(map(percent, summary.invalid.values())) for summary in summaries],
    }
    if any(summary.tool_quality is not None for summary in summaries):
        columns["tool quality"] = [percent(summary.tool_quality) for summary in summaries]
    columns["turns"] = [f"{summary.turns.value:.1f}" for summary in summaries]
    columns["n"] = [str(summary.success.n) for summary in summaries]
    if any(summary.owed for summary in summaries):
        columns["owed"] = [str(summary.owed) for summary in summaries]
    return Grid(tuple(columns), tuple(zip(*columns.values(), strict=True)))


def percent(share: float | None) -> str:
    """`0.1234` -> `12.3%`."""
    return ABSENT if share is None else f"{100 * share:.1f}%"


def percent_interval(estimate: Estimate) -> str:
    """`9-17%`."""
    return f"{100 * estimate.low:.0f}-{100 * estimate.high:.0f}%"


def number(estimate: Estimate) -> str:
    """`0.84 ±0.05`, half the width of the interval; the mean alone where there is no interval."""
    half = (estimate.high - estimate.low) / 2
    return f"{estimate.value:.2f}" if math.isnan(half) else f"{estimate.value:.2f} ±{half:.2f}"

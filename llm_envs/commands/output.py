"""Tables for people and for pipes."""

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on a terminal; elsewhere one line a row with tabs between, which other programs read."""
    console = Console()
    if not console.is_terminal:
        for row in (headings, *rows):
            print("\t".join(row))
        return
    table = Table(box=box.SIMPLE)
    for number, heading in enumerate(headings):
        table.add_column(heading, no_wrap=number < len(headings) - 1)
    for row in rows:
        table.add_row(*row)
    console.print(table, markup=False)

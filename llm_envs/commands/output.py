"""Tables for people and for pipes, and pipes that nobody reads to the end."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich import box
from rich.console import Console
from rich.table import Table

UNREAD_STATUS = 1


@contextmanager
def leaving_with_the_reader() -> Iterator[None]:
    """Ends the process without a word where what it prints is no longer read, as in `llm-envs list | head -1`.

    Raises:
        SystemExit: with status 1, as rich does in the same case.
    """
    try:
        try:
            yield
        finally:
            sys.stdout.flush()  # now: while Python shuts down nobody could catch it any more
    except BrokenPipeError:
        # What is still buffered has nobody to go to; the documentation of Python's `signal` module does the same.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(UNREAD_STATUS) from None


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

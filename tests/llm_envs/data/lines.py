"""Local files of the tests' own."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def write_lines(path: Path, rows: Sequence[Any]) -> str:
    """A local file of JSON Lines; texts among the rows are written as they are."""
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
    return str(path)

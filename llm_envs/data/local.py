"""Rows of local JSON Lines files, read when they are asked for: files of gigabytes are no rarity."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from llm_envs.core.errors import UsageError
from llm_envs.data.errors import RowError
from llm_envs.data.fields import Row, parse_json

SUFFIX = ".jsonl"


class _Line(NamedTuple):
    number: int
    offset: int  # bytes


class JsonLines:
    """The rows of one file, an object on each line; blank lines don't count.

    Attributes:
        path: the file. It must not change while it is in use.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines: list[_Line] = []
        offset = 0
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    self._lines.append(_Line(number, offset))
                offset += len(line)

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, place: int) -> Row:
        """The row. Raises RowError where the line is no JSON object."""
        with self.path.open("rb") as file:
            file.seek(self._lines[place].offset)
            row = parse_json(file.readline(), "the line")
        if not isinstance(row, dict):
            raise RowError(f"the line is JSON of type {type(row).__name__}, not an object")
        return row

    def where(self, place: int) -> str:
        """File and line, for messages: `train.jsonl:3`."""
        return f"{self.path.name}:{self._lines[place].number}"


def local_files(path: str) -> list[Path]:
    """The file, or the files of a folder in the order of their names.

    Raises:
        UsageError: no such file, another kind of file, or a folder without one.
    """
    given = Path(path).expanduser()
    if given.is_dir():
        found = sorted(given.glob(f"*{SUFFIX}"))
        if not found:
            raise UsageError(f"path={path!r}: a folder without a file named *{SUFFIX}; give one with rows of JSON.")
        return found
    if not given.is_file():
        raise UsageError(f"path={path!r}: no such file; must be a file named *{SUFFIX}, or a folder of them.")
    if given.suffix != SUFFIX:
        raise UsageError(f"path={path!r}: must be JSON Lines, an object on each line, in a file named *{SUFFIX}.")
    return [given]


def split_in_name(path: Path, known: Sequence[str]) -> str | None:
    """The split that the name begins or ends with, as in `train.jsonl`, `test2.jsonl` and `mbpp_train.jsonl`."""
    words = re.split(r"[^a-z]+", path.stem.lower().rstrip("0123456789-_"))
    return next((word for word in (words[0], words[-1]) if word in known), None)

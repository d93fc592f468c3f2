"""Files of JSON lines that survive a crash: a line counts when its newline is there."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO


def append_line(path: Path, line: str) -> None:
    """Append a line in one write."""
    with path.open("ab", buffering=0) as file:
        file.write(line.encode() + b"\n")


def read_lines(path: Path) -> Iterator[str]:
    """The whole lines of a file that may not be there; a last one without its newline is a torn write."""
    if not path.exists():
        return
    with path.open("rb") as file:  # a torn line may end within a character
        for line in file:
            if line.endswith(b"\n"):
                yield line.decode()


def cut_torn_line(path: Path) -> None:
    """Drop a last line without its newline; what is appended next would otherwise be glued to it."""
    if not path.exists():
        return
    size = path.stat().st_size
    with path.open("rb") as file:
        kept = sum(len(line) for line in file if line.endswith(b"\n"))
    if kept < size:
        os.truncate(path, kept)


def sort_lines(path: Path, order: Mapping[str, int]) -> None:
    """Put lines in the order of their `id`s, the first of each; one line is in memory at a time.

    Args:
        path: the file; it may not be there.
        order: id -> its place.
    """
    if not path.exists():
        return
    places: dict[int, int] = {}  # place -> where its line begins
    with path.open("rb") as file:
        begin = 0
        for line in file:
            places.setdefault(order[json.loads(line)["id"]], begin)
            begin += len(line)
        write_whole(path, (_line_at(file, places[place]) for place in sorted(places)))


def write_whole(path: Path, texts: Iterable[str]) -> None:
    """Replace a file by one that is already on the disk, so that a crash leaves the old or the new one whole."""
    new = path.with_name(path.name + ".new")
    with new.open("w", encoding="utf-8") as file:
        file.writelines(texts)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def _line_at(file: BinaryIO, begin: int) -> str:
    file.seek(begin)
    return file.readline().decode()

"""Boards in colour for terminals that have it."""

import os
import sys
from collections.abc import Mapping
from typing import TextIO

_RESET = "\x1b[0m"


def colour_wanted(stream: TextIO) -> bool:
    """Whether a stream is a terminal that shows colour (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, palette: Mapping[str, str]) -> str:
    """The text with each character of the palette in its colour.

    Args:
        palette: character -> SGR parameters of ANSI escape codes (ECMA-48), e.g. "1;32" for bold green.
    """
    codes = {ord(character): f"\x1b[{code}m{character}{_RESET}" for character, code in palette.items()}
    return text.translate(codes)


def write_board(text: str, palette: Mapping[str, str], stream: TextIO | None = None) -> None:
    """Write a board and a line break to a stream (standard output by default), in colour where it shows colour."""
    stream = sys.stdout if stream is None else stream
    stream.write((paint(text, palette) if colour_wanted(stream) else text) + "\n")

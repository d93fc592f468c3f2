"""Reading grids and placements in the forms in which people, programs and models write them.

A grid is read as lines of digits, spaced or not, with `|` and `---` or without, as one line of all cells, as comma
separated values, as lists of JSON or Python, and inside a code fence. `0 . _ ?` are blanks. 16x16 grids write 10 to 16
as A to G, or as numbers where cells are separated. The number of cells must be right: nothing is filled up or cut off.
"""

import json
import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from llm_envs.core.parsing import Unparsed, last_code_block
from llm_envs.sudoku.geometry import BLANKS, BOXES, SYMBOLS, cell_names
from llm_envs.sudoku.puzzle import Placement

_BETWEEN = str.maketrans(dict.fromkeys("|,;[](){}\"'\u2502\u2503\u2551", " "))  # what may stand between two cells
_RULE = "-+=*|: \t\u2500\u2501\u2550\u2502\u2503\u2551\u253c\u254b\u256c"  # a line of these alone divides boxes
_NAMED = re.compile(r"[rR]\d")
_TRIPLE_ENDS = re.compile(r"[\n;]|\)\s*+,|\]\s*+,")
_EMPTY = frozenset({*BLANKS, "none", "null"})


class Answer(NamedTuple):
    """What a reply or a program says (a tuple, since one is made on every turn).

    Attributes:
        placements: in order; those of a whole grid leave out its blanks, which stand for "as it is".
        grid: the whole grid, where it was one.
    """

    placements: tuple[Placement, ...]
    grid: bytes | None = None

    @classmethod
    def of_grid(cls, grid: bytes) -> "Answer":
        """The answer that a whole grid is."""
        return cls(tuple(Placement(cell, digit) for cell, digit in enumerate(grid) if digit), grid)


def read_answer(text: str, size: int) -> Answer | Unparsed:
    """Placements (`r1c2=3`, or triples of row, column, digit, one a line) or a whole grid.

    `r1c2=.` and `r1c2=0` clear a cell. Nothing else may stand in the text.
    """
    if "`" in text or "~" in text:
        text = _unfenced(text)
    table = _placements(size)
    words = text.replace(",", " ").replace(";", " ").split()
    if not words:
        return Unparsed("your answer is empty")
    try:
        return Answer(tuple([table[word] for word in words]))
    except KeyError:
        pass
    if _NAMED.match(words[0]):
        return _named(text, size)
    triples = _triples(text, size)
    if triples is not None:
        return triples
    grid = read_grid(text, size)
    return grid if isinstance(grid, Unparsed) else Answer.of_grid(grid)


def read_grid(text: str, size: int | None = None) -> bytes | Unparsed:
    """A grid of a size, or of whatever size its number of cells says."""
    rows = _rows(_unfenced(text))
    if not rows:
        return Unparsed("your answer is empty")
    if size is not None:
        return _grid(rows, size)
    words, characters = sum(map(len, rows)), sum(len(word) for row in rows for word in row)
    found = [_grid(rows, known) for known in BOXES if known * known in {words, characters}]
    if not found:
        allowed = ", ".join(f"{known * known} ({known}x{known})" for known in BOXES)
        return Unparsed(f"a grid has {allowed} cells, this one has {words if words > len(rows) else characters}")
    return next((grid for grid in found if isinstance(grid, bytes)), found[0])


@cache
def _placements(size: int) -> dict[str, Placement]:
    """The usual ways to write a placement."""
    digits = {str(digit): digit for digit in range(1, size + 1)}
    digits |= {SYMBOLS[digit]: digit for digit in range(1, size + 1)} | dict.fromkeys(BLANKS, 0)
    forms = {
        f"{name}={symbol.lower()}": Placement(cell, digit)
        for cell, name in enumerate(cell_names(size))
        for symbol, digit in digits.items()
    }
    letters = {
        f"{name}={symbol}": Placement(cell, digit)
        for cell, name in enumerate(cell_names(size))
        for digit, symbol in enumerate(SYMBOLS[: size + 1])
    }
    return letters | forms | {form.upper(): placement for form, placement in forms.items()}


def _named(text: str, size: int) -> Answer | Unparsed:
    """Placements with some freedom: any case, spaces around the sign, `:` for it."""
    table = _placements(size)
    placements: list[Placement] = []
    parts = text.lower().replace(":", "=").replace(",", " ").replace(";", " ").split("=")
    for word in "=".join([part.strip() for part in parts]).split():
        placement = table.get(word)
        if placement is None:
            return Unparsed(
                f"{word[:40]!r} is no placement in a {size}x{size} grid: write r<row>c<column>=<digit>, with numbers "
                f"from 1 to {size}"
            )
        placements.append(placement)
    return Answer(tuple(placements))


def _triples(text: str, size: int) -> Answer | None:
    """Row, column and digit as three numbers, one triple a line or divided by `;` or by brackets."""
    table = _placements(size)
    placements: list[Placement] = []
    for part in _TRIPLE_ENDS.split(text):
        words = part.translate(_BETWEEN).split()
        if not words:
            continue
        placement = table.get(f"r{words[0]}c{words[1]}={words[2].lower()}") if len(words) == 3 else None
        if placement is None:
            return None
        placements.append(placement)
    return Answer(tuple(placements)) if placements else None


def _unfenced(text: str) -> str:
    if "```" in text or "~~~" in text:
        block = last_code_block(text)
        if block is not None:
            return block
    return text


def _rows(text: str) -> list[list[str]]:
    """The words of each line that has any, without what is drawn between them; lists of JSON have one row a list."""
    lists = _lists(text) if text.lstrip().startswith("[") else None
    lines = text.splitlines() if lists is None else [" ".join(map(str, row)) for row in lists]
    words = [line.translate(_BETWEEN).split() for line in lines if line.strip(_RULE)]
    return [row for row in words if row]


def _lists(text: str) -> list[list[str | int | None]] | None:
    """The rows of a JSON list; None for lists as Python or NumPy print them, which are read as lines."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    rows = data if all(isinstance(row, list) for row in data) else [[row] for row in data]
    flat = all(isinstance(cell, str | int | None) for row in rows for cell in row)
    return rows if flat else None


def _grid(rows: Sequence[Sequence[str]], size: int) -> bytes | Unparsed:
    """The cells: a word each where there are as many words as cells, else a character each."""
    by_word = [list(row) for row in rows]
    by_character = [list("".join(row)) for row in rows]
    for cells in (by_word, by_character):
        flat = [cell for row in cells for cell in row]
        lined = len(cells) == size and all(len(row) == size for row in cells)
        if lined or (len(flat) == size * size and len(cells) == 1):
            return _digits(flat, size)
    joined = any(len(word) > 2 for row in rows for word in row)
    return Unparsed(_miscounted([len(row) for row in (by_character if joined else by_word)], size))


def _digits(cells: Sequence[str], size: int) -> bytes | Unparsed:
    digits = bytearray()
    for cell in cells:
        if cell.lower() in _EMPTY:
            digits.append(0)
        elif len(cell) == 1 and cell.upper() in SYMBOLS[1 : size + 1]:
            digits.append(SYMBOLS.index(cell.upper()))
        elif cell.isascii() and cell.isdecimal() and len(cell) <= 2 and 1 <= int(cell) <= size:
            digits.append(int(cell))
        else:
            return Unparsed(f"{cell[:40]!r} is no digit of a {size}x{size} grid")
    return bytes(digits)


def _miscounted(lengths: Sequence[int], size: int) -> str:
    if len(lengths) == 1:
        return f"your grid has {lengths[0]} cells, it must have {size * size}"
    if len(lengths) == size:
        number, length = next((place, found) for place, found in enumerate(lengths, 1) if found != size)
        return f"row {number} of your grid has {length} cells, it must have {size}"
    return f"your grid has {len(lengths)} rows, it must have {size} of {size} cells"

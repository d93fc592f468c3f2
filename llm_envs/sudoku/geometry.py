"""Sizes, boxes and symbols of Sudoku grids.

A cell is a number, `row * size + column`, counted from 0 at the top left; a grid is `bytes`, one value a cell, 0 for a
blank. People and models write cells as `r1c1` (row 1, column 1: the top left), the notation of the Sudoku literature.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from operator import itemgetter
from typing import NamedTuple

from llm_envs.core.errors import require

BOXES = {4: (2, 2), 6: (2, 3), 9: (3, 3), 16: (4, 4)}  # size -> rows and columns of a box
SYMBOLS = ".123456789ABCDEFG"  # 16x16 writes 10 to 16 as A to G
BLANKS = "0._?"


@dataclass(frozen=True, slots=True)
class Geometry:
    """The units of one size.

    Attributes:
        size: rows, columns, and highest digit.
        box_rows, box_columns: shape of a box.
        box_of: the box of each cell, counted from 0 row by row.
        units: the cells of each unit: the rows, then the columns, then the boxes; those of a box row by row.
        units_of: for each cell the numbers of its row, column and box in `units`.
    """

    size: int
    box_rows: int
    box_columns: int
    box_of: tuple[int, ...]
    units: tuple[tuple[int, ...], ...]
    units_of: tuple[tuple[int, int, int], ...]

    @property
    def cells(self) -> int:
        return self.size * self.size


@cache
def geometry(size: int) -> Geometry:
    """The geometry of a size.

    Raises:
        UsageError: a size other than 4, 6, 9 and 16.
    """
    require(size in BOXES, "size", size, f"one of {', '.join(map(str, BOXES))}")
    box_rows, box_columns = BOXES[size]
    cells = range(size * size)
    box_of = tuple(cell // size // box_rows * box_rows + cell % size // box_columns for cell in cells)
    rows = [tuple(cell for cell in cells if cell // size == unit) for unit in range(size)]
    columns = [tuple(cell for cell in cells if cell % size == unit) for unit in range(size)]
    boxes = [tuple(cell for cell in cells if box_of[cell] == unit) for unit in range(size)]
    units_of = tuple((cell // size, size + cell % size, 2 * size + box_of[cell]) for cell in cells)
    return Geometry(size, box_rows, box_columns, box_of, (*rows, *columns, *boxes), units_of)


class Peers(NamedTuple):
    """The other cells of a cell's row, column and box.

    Attributes:
        cells: their numbers, ascending.
        digits: takes their digits from a grid.
        row: first cell of the row, and the one after its last.
        column: takes the column from a grid.
        box: first and one after the last cell of each line of the box that is not in the row.
    """

    cells: tuple[int, ...]
    digits: Callable[[bytes], tuple[int, ...]]
    row: tuple[int, int]
    column: slice
    box: tuple[tuple[int, int], ...]

    def hold(self, grid: bytes, digit: int) -> bool:
        """Whether one of them holds the digit that the cell itself holds: `digit in digits(grid)`, in a third of the
        time on a large grid.
        """
        if grid.count(digit, *self.row) > 1 or grid[self.column].count(digit) > 1:
            return True
        for first, last in self.box:  # noqa: SIM110  # a generator costs as much as the search
            if grid.find(digit, first, last) >= 0:
                return True
        return False


@cache
def peers(size: int) -> tuple[Peers, ...]:
    """The peers of each cell."""
    return tuple(_peers(geometry(size), cell) for cell in range(size * size))


def _peers(board: Geometry, cell: int) -> Peers:
    size, units = board.size, board.units_of[cell]
    cells = tuple(sorted({peer for unit in units for peer in board.units[unit] if peer != cell}))
    box = board.units[units[2]]
    starts = box[:: board.box_columns]
    lines = [(start, start + board.box_columns) for start in starts]
    row = (cell // size * size, cell // size * size + size)
    others = tuple(line for line in lines if not row[0] <= line[0] < row[1])
    return Peers(cells, itemgetter(*cells), row, slice(cell % size, None, size), others)


def size_of(grid: bytes | bytearray) -> int:
    """The size of a grid, from its number of cells."""
    return int(len(grid) ** 0.5)


@cache
def cell_names(size: int) -> tuple[str, ...]:
    """`r1c1` for cell 0, and so on."""
    return tuple(f"r{cell // size + 1}c{cell % size + 1}" for cell in range(size * size))


def cell_name(cell: int, size: int) -> str:
    """`r1c1` for cell 0."""
    return cell_names(size)[cell]


def clashes(grid: bytes, size: int) -> tuple[tuple[int, int], ...]:
    """Pairs of cells that hold one digit in one unit; the first two of each digit and unit."""
    found: dict[tuple[int, int], None] = {}
    for unit in geometry(size).units:
        seen: dict[int, int] = {}
        for cell in unit:
            if grid[cell] and seen.setdefault(grid[cell], cell) != cell:
                found[seen[grid[cell]], cell] = None
    return tuple(found)


def complete(grid: bytes, size: int) -> bool:
    """Whether every cell is filled and every unit holds every digit."""
    return 0 not in grid and all(len({grid[cell] for cell in unit}) == size for unit in geometry(size).units)

"""A puzzle and what placements do to its grid."""

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from llm_envs.sudoku.geometry import complete, geometry, size_of


class Placement(NamedTuple):
    """A digit for a cell; digit 0 clears it."""

    cell: int
    digit: int


@dataclass(frozen=True, slots=True)
class Puzzle:
    """An instance.

    Attributes:
        clues: the grid at the start.
        unique: whether it has one solution only.
        solution: that solution, or one of several.
        blanks: number of cells that are empty at the start, at least 1.
        barred: for each cell a mask of the digits that may not be put there (bit 0: clearing). In a cell with a clue
            that is everything, elsewhere the digits of the clues in its row, column and box.
        given: for each digit the number of clues that are it.
    """

    size: int
    clues: bytes
    unique: bool
    solution: bytes = field(compare=False, repr=False)
    blanks: int = field(compare=False, repr=False)
    barred: tuple[int, ...] = field(compare=False, repr=False)
    given: tuple[int, ...] = field(compare=False, repr=False)

    @classmethod
    def make(cls, clues: bytes, solution: bytes, *, unique: bool = True) -> "Puzzle":
        """The puzzle with its derived fields."""
        size = size_of(clues)
        units_of = geometry(size).units_of
        used = [0] * (3 * size)
        for digit, (row, column, box) in zip(clues, units_of, strict=True):
            bit = 1 << digit & ~1
            used[row] |= bit
            used[column] |= bit
            used[box] |= bit
        barred = tuple(
            -1 if digit else used[row] | used[column] | used[box]
            for digit, (row, column, box) in zip(clues, units_of, strict=True)
        )
        given = tuple(map(clues.count, range(size + 1)))
        return cls(size, clues, unique, solution, given[0], barred, given)


def potential(puzzle: Puzzle, grid: bytes, right: int, wrong: int) -> float:
    """How near a grid is to the solution, in [0, 1]; 1 only when solved.

    Args:
        puzzle: with one solution, a grid earns (right - wrong) / blanks, floored at 0; with several, 1 if it is solved
            and else 0.
        grid: the cells.
        right, wrong: how many filled cells that are no clues agree with `puzzle.solution` or do not.
    """
    if puzzle.unique:
        return (right - wrong) / puzzle.blanks if right > wrong else 0.0
    return float(complete(grid, puzzle.size))


def tally(puzzle: Puzzle, grid: bytes) -> tuple[int, int]:
    """`right` and `wrong` of a grid that keeps the clues."""
    right = sum(map(operator.eq, grid, puzzle.solution)) - (len(grid) - puzzle.blanks)
    return right, puzzle.blanks - grid.count(0) - right


class Played(NamedTuple):
    """What placements led to.

    Attributes:
        grid, right, wrong: the grid after them, and its tally.
        placed: placements that changed a cell, in order.
        illegal: placements that had no effect, since the clues rule them out.
    """

    grid: bytes
    right: int
    wrong: int
    placed: tuple[Placement, ...]
    illegal: tuple[Placement, ...]


def play(puzzle: Puzzle, grid: bytes, right: int, wrong: int, placements: Sequence[Placement]) -> Played:
    """Execute placements in order. A placement that a cell already holds is legal and does nothing."""
    barred, solution = puzzle.barred, puzzle.solution
    cells = bytearray(grid)
    placed: list[Placement] = []
    illegal: list[Placement] = []
    for placement in placements:
        cell, digit = placement
        before = cells[cell]
        if digit == before:
            continue
        if barred[cell] >> digit & 1:
            illegal.append(placement)
            continue
        cells[cell] = digit
        placed.append(placement)
        if before == solution[cell]:
            right -= 1
        elif before:
            wrong -= 1
        if digit == solution[cell]:
            right += 1
        elif digit:
            wrong += 1
    return Played(bytes(cells), right, wrong, tuple(placed), tuple(illegal))

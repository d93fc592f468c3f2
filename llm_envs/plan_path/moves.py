"""Moves on a square grid and where they lead.

A cell is a number, `row * size + column`, with rows and columns counted from 0 at the top left.
"""

from functools import cache, lru_cache
from typing import Literal

Move = Literal["up", "down", "left", "right", "up-left", "up-right", "down-left", "down-right"]
MOVES: tuple[Move, ...] = ("up", "down", "left", "right")
_PARTS: dict[Move, tuple[Move, Move]] = {
    "up-left": ("up", "left"),
    "up-right": ("up", "right"),
    "down-left": ("down", "left"),
    "down-right": ("down", "right"),
}
DIAGONAL_MOVES: tuple[Move, ...] = tuple(_PARTS)
_SHIFTS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}

OUTSIDE = -1  # where a move off the grid would lead; blocked like a wall

Ways = tuple[dict[Move, int], ...]  # for each cell the cell that each move leads to


def moves_of(*, diagonal: bool) -> tuple[Move, ...]:
    """The moves of a game, in the order in which ties are broken."""
    return MOVES + DIAGONAL_MOVES if diagonal else MOVES


@cache
def targets(size: int) -> Ways:
    """For each cell the cell that each of the four `MOVES` leads to, walls aside; `OUTSIDE` off the grid."""

    def target(cell: int, move: Move) -> int:
        row, column = cell // size + _SHIFTS[move][0], cell % size + _SHIFTS[move][1]
        return row * size + column if 0 <= row < size and 0 <= column < size else OUTSIDE

    return tuple({move: target(cell, move) for move in MOVES} for cell in range(size * size))


@cache
def neighbours(size: int) -> tuple[tuple[int, ...], ...]:
    """For each cell the cells beside it, without the moves that lead there: all that a search needs."""
    return tuple(tuple(cell for cell in ways.values() if cell != OUTSIDE) for ways in targets(size))


@lru_cache(maxsize=256)  # one table an instance; 16x16 takes 0.1 MB
def targets_past(size: int, blocked: frozenset[int]) -> Ways:
    """`targets` of all eight moves on a grid with walls.

    A diagonal move goes between two cells that touch both its ends. Where one of them is blocked it leads `OUTSIDE`:
    corners can't be cut, the rule of the grid maps of Sturtevant (2012, https://movingai.com/benchmarks/).
    """
    straight = targets(size)

    def target(cell: int, move: Move) -> int:
        vertical, horizontal = _PARTS[move]
        beside = straight[cell][vertical], straight[cell][horizontal]
        return OUTSIDE if beside[0] in blocked or beside[1] in blocked else straight[beside[0]][horizontal]

    return tuple(ways | {move: target(cell, move) for move in DIAGONAL_MOVES} for cell, ways in enumerate(straight))

"""The grid of Plan-Path: walls, moves and distances. Pure; knows nothing of roles, prompts or rewards.

A cell is a number, `row * size + column`, with rows and columns counted from 0 at the top left.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, NamedTuple

from llm_envs.core.errors import UsageError, require
from llm_envs.core.task import Split

Move = Literal["up", "down", "left", "right"]
MOVES: tuple[Move, ...] = ("up", "down", "left", "right")
_SHIFTS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}

MIN_SIZE, MAX_SIZE = 4, 16
OUTSIDE = -1  # where a move off the grid would lead; blocked like a wall
WALL, FREE, START, GOAL, HERE, HERE_AT_GOAL = "#", ".", "S", "G", "@", "+"
UNREACHABLE = -1


@cache
def targets(size: int) -> tuple[dict[Move, int], ...]:
    """For each cell the cell that each move leads to, walls aside; `OUTSIDE` where it leaves the grid."""

    def target(cell: int, move: Move) -> int:
        row, column = cell // size + _SHIFTS[move][0], cell % size + _SHIFTS[move][1]
        return row * size + column if 0 <= row < size and 0 <= column < size else OUTSIDE

    return tuple({move: target(cell, move) for move in MOVES} for cell in range(size * size))


def distance_field(size: int, blocked: frozenset[int], goal: int) -> tuple[int, ...]:
    """Moves from each cell to the goal along a shortest path (breadth-first search), or `UNREACHABLE`."""
    neighbours = targets(size)
    distances = [UNREACHABLE] * (size * size)
    distances[goal] = distance = 0
    frontier = [goal]
    while frontier:
        distance += 1
        reached: list[int] = []
        for cell in frontier:
            for target in neighbours[cell].values():
                if target not in blocked and distances[target] < 0:
                    distances[target] = distance
                    reached.append(target)
        frontier = reached
    return tuple(distances)


@dataclass(frozen=True, slots=True)
class Board:
    """An instance: a square grid with walls, a start and a goal.

    Attributes:
        size: rows and columns.
        blocked: wall cells and `OUTSIDE`.
        distances: shortest number of moves from each cell to the goal, or `UNREACHABLE`.
        potentials: 1 at the goal, 0 at the start and wherever the goal is as far or farther; indexed by distance.
        text: the grid without the agent, one line a row.
    """

    size: int
    blocked: frozenset[int]
    start: int
    goal: int
    distances: tuple[int, ...] = field(compare=False, repr=False)
    potentials: tuple[float, ...] = field(compare=False, repr=False)
    text: str = field(compare=False, repr=False)

    @classmethod
    def make(
        cls, size: int, walls: Iterable[int], start: int, goal: int, distances: tuple[int, ...] | None = None
    ) -> "Board":
        """The board with its derived fields; `distances` where the caller has them already."""
        blocked = frozenset(walls) | {OUTSIDE}
        if distances is None:
            distances = distance_field(size, blocked, goal)
        cells = [WALL if cell in blocked else FREE for cell in range(size * size)]
        cells[start], cells[goal] = START, GOAL
        rows = ("".join(cells[first : first + size]) for first in range(0, size * size, size))
        length = distances[start]
        potentials = tuple(max(0.0, 1.0 - distance / length) for distance in range(max(distances) + 1))
        return cls(size, blocked, start, goal, distances, potentials, "\n".join(rows))

    @property
    def length(self) -> int:
        """Moves on a shortest path from start to goal."""
        return self.distances[self.start]

    def text_at(self, position: int) -> str:
        """The grid with the agent on it. A grid without `S` has the agent on its start."""
        offset = position + position // self.size  # one line break a row
        symbol = HERE_AT_GOAL if position == self.goal else HERE
        return f"{self.text[:offset]}{symbol}{self.text[offset + 1 :]}"

    def split(self) -> Split:
        """The split this board belongs to, decided by its content alone: 6 of 8 train, 1 validation, 1 test."""
        residue = hashlib.blake2b(self.text.encode(), digest_size=1).digest()[0] % 8
        return (Split.VALIDATION, Split.TEST)[residue] if residue < 2 else Split.TRAIN


class Walk(NamedTuple):
    """What a move list does from a cell (a tuple, since one is made on every turn).

    Attributes:
        end: where it ends; it stops at the goal and ignores what follows.
        hits: moves into a wall or off the grid, which do not move.
        wasted: moves that led away from the goal.
    """

    end: int
    hits: int
    wasted: int


def walk(board: Board, position: int, moves: Sequence[Move]) -> Walk:
    """Follow a move list from a cell."""
    neighbours, blocked, distances, goal = targets(board.size), board.blocked, board.distances, board.goal
    hits = wasted = 0
    for move in moves:
        target = neighbours[position][move]
        if target in blocked:
            hits += 1
            continue
        if distances[target] > distances[position]:
            wasted += 1
        position = target
        if position == goal:
            break
    return Walk(position, hits, wasted)


def legal_moves(board: Board, cell: int) -> list[Move]:
    """The moves that are not blocked, in the order of `MOVES`."""
    return [move for move, target in targets(board.size)[cell].items() if target not in board.blocked]


def shortest_moves(board: Board, cell: int, limit: int) -> list[Move]:
    """The first `limit` moves of a shortest path to the goal; among equals the first in the order of `MOVES`."""
    moves: list[Move] = []
    while cell != board.goal and len(moves) < limit:
        move, cell = next(
            (move, target)
            for move, target in targets(board.size)[cell].items()
            if target not in board.blocked and board.distances[target] < board.distances[cell]
        )
        moves.append(move)
    return moves


def parse_grid(text: str) -> tuple[Board, int]:
    """The board and the agent's cell in a grid as `text_at` writes it; without an agent it stands on the start.

    Raises:
        UsageError: a text that is no such grid.
    """
    rows = [line.strip() for line in text.strip().splitlines()]
    size = len(rows)
    require(MIN_SIZE <= size <= MAX_SIZE, "grid rows", size, f"{MIN_SIZE} to {MAX_SIZE}")
    for number, row in enumerate(rows):
        require(len(row) == size, f"length of row {number}", len(row), f"{size}, since the grid is square")
    cells = "".join(rows)
    found = {symbol: [cell for cell, mark in enumerate(cells) if mark == symbol] for symbol in set(cells)}
    unknown = sorted(found.keys() - {WALL, FREE, START, GOAL, HERE, HERE_AT_GOAL})
    require(not unknown, "grid symbols", unknown, f"among {WALL} {FREE} {START} {GOAL} {HERE} {HERE_AT_GOAL}")
    agent, goal = (found.get(HERE, []) + found.get(HERE_AT_GOAL, []), found.get(GOAL, []) + found.get(HERE_AT_GOAL, []))
    start = found.get(START, []) or found.get(HERE, [])
    if not (len(agent) <= 1 and len(goal) == len(start) == 1):
        raise UsageError(f"grid: must hold one {GOAL}, at most one {HERE} and one {START} (or {HERE} on the start).")
    board = Board.make(size, found.get(WALL, []), start[0], goal[0])
    position = agent[0] if agent else start[0]
    reachable = board.distances[position] != UNREACHABLE and board.length != UNREACHABLE
    require(reachable, "grid", "no path", f"such that {GOAL} can be reached from {START} and from {HERE}")
    return board, position

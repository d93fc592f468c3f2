"""The grid of Plan-Path: walls, costs and walks. Pure; knows nothing of roles, prompts or rewards."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import NamedTuple

from llm_envs.plan_path.distances import cost_field, distance_field
from llm_envs.plan_path.moves import OUTSIDE, Move, Ways, moves_of, neighbours, targets, targets_past

MIN_SIZE, MAX_SIZE = 4, 16
HIGHEST_COST = 9  # one digit a cell
WALL, FREE, START, GOAL, HERE, HERE_AT_GOAL = "#", ".", "S", "G", "@", "+"


@cache
def plain_costs(size: int) -> tuple[int, ...]:
    """The costs of a grid on which every move costs 1."""
    return (1,) * (size * size)


@lru_cache(maxsize=4096)  # with weights there are more pairs than a long run should keep
def potentials_of(length: int, farthest: int) -> tuple[float, ...]:
    """The potential at each distance up to `farthest`, where the start is `length` away from the goal."""
    return tuple([max(0.0, 1.0 - distance / length) for distance in range(farthest + 1)])


@dataclass(frozen=True, slots=True)
class Board:
    """An instance: a square grid with walls, a start and a goal.

    Attributes:
        size: rows and columns.
        blocked: wall cells and `OUTSIDE`.
        costs: what entering each cell costs, 1 to `HIGHEST_COST`; 1 for start, goal and walls.
        diagonal: whether moves may be diagonal.
        highest: the largest cost; 1 on a plain board.
        distances: least cost from each cell to the goal, on a plain board the number of moves, or `UNREACHABLE`.
        potentials: 1 at the goal, 0 at the start and wherever the goal is as far or farther; indexed by distance.
        text: the grid without the agent, one line a row.
    """

    size: int
    blocked: frozenset[int]
    start: int
    goal: int
    costs: tuple[int, ...]
    diagonal: bool
    highest: int = field(compare=False, repr=False)
    distances: tuple[int, ...] = field(compare=False, repr=False)
    potentials: tuple[float, ...] = field(compare=False, repr=False)
    text: str = field(compare=False, repr=False)

    @classmethod
    def make(
        cls,
        size: int,
        walls: Iterable[int],
        start: int,
        goal: int,
        *,
        costs: tuple[int, ...] | None = None,
        diagonal: bool = False,
        distances: tuple[int, ...] | None = None,
        text: str = "",
    ) -> "Board":
        """The board with its derived fields; `costs` where cells differ, `distances` and `text` where the caller has
        them.
        """
        blocked = frozenset(walls)
        if OUTSIDE not in blocked:
            blocked |= {OUTSIDE}
        if distances is None:
            distances = measure(size, blocked, goal, costs, diagonal=diagonal)
        text = text or mark(draw(size, blocked, goal, costs), size, start, START)
        highest = 1 if costs is None else max(costs)
        costs = plain_costs(size) if costs is None else costs
        potentials = potentials_of(distances[start], max(distances))
        return cls(size, blocked, start, goal, costs, diagonal, highest, distances, potentials, text)

    @property
    def ways(self) -> Ways:
        """For each cell the cell that each move leads to; a move is blocked if that cell is in `blocked`."""
        return targets_past(self.size, self.blocked) if self.diagonal else targets(self.size)

    @property
    def moves(self) -> tuple[Move, ...]:
        """The moves of the game, blocked or not."""
        return moves_of(diagonal=self.diagonal)

    @property
    def length(self) -> int:
        """Cost of a cheapest path from start to goal, on a plain board its number of moves."""
        return self.distances[self.start]

    def text_at(self, position: int) -> str:
        """The grid with the agent on it. A grid without `S` has the agent on its start."""
        return mark(self.text, self.size, position, HERE_AT_GOAL if position == self.goal else HERE)


def draw(size: int, blocked: Iterable[int], goal: int, costs: tuple[int, ...] | None) -> str:
    """The grid without a start, one line a row."""
    cells = [FREE] * (size * size) if costs is None else [FREE if cost == 1 else str(cost) for cost in costs]
    cells.append(FREE)  # the place of `OUTSIDE`, which is -1 and in no row
    for cell in blocked:
        cells[cell] = WALL
    cells[goal] = GOAL
    line = "".join(cells)
    return "\n".join([line[first : first + size] for first in range(0, size * size, size)])


def mark(grid: str, size: int, cell: int, symbol: str) -> str:
    """The grid with another symbol in a cell."""
    offset = cell + cell // size  # one line break a row
    return f"{grid[:offset]}{symbol}{grid[offset + 1 :]}"


def measure(
    size: int, blocked: frozenset[int], goal: int, costs: tuple[int, ...] | None, *, diagonal: bool
) -> tuple[int, ...]:
    """The distances of a board."""
    ways = targets_past(size, blocked) if diagonal else targets(size)
    if costs is not None:
        return cost_field(ways, blocked, goal, costs)
    return distance_field([way.values() for way in ways] if diagonal else neighbours(size), blocked, goal)


class Walk(NamedTuple):
    """What a move list does from a cell (a tuple, since one is made on every turn).

    Attributes:
        end: where it ends; it stops at the goal and ignores what follows.
        hits: moves that are blocked, which do not move.
        wasted: moves that no cheapest path to the goal begins with.
        cost: what all its moves cost; blocked ones cost nothing.
    """

    end: int
    hits: int
    wasted: int
    cost: int


def walk(board: Board, position: int, moves: Sequence[Move]) -> Walk:
    """Follow a move list from a cell."""
    ways, blocked, distances, costs, goal = board.ways, board.blocked, board.distances, board.costs, board.goal
    distance = distances[position]
    hits = wasted = spent = 0
    for move in moves:
        target = ways[position][move]
        if target in blocked:
            hits += 1
            continue
        before, distance, cost = distance, distances[target], costs[target]
        if distance + cost > before:
            wasted += 1
        spent += cost
        position = target
        if position == goal:
            break
    return Walk(position, hits, wasted, spent)


def legal_moves(board: Board, cell: int) -> list[Move]:
    """The moves that are not blocked, in the order of `Board.moves`."""
    return [move for move, target in board.ways[cell].items() if target not in board.blocked]


def shortest_moves(board: Board, cell: int, limit: int) -> list[Move]:
    """The first `limit` moves of a cheapest path to the goal; among equals the first in the order of `Board.moves`."""
    ways, distances, costs, blocked, goal = board.ways, board.distances, board.costs, board.blocked, board.goal
    moves: list[Move] = []
    while cell != goal and len(moves) < limit:
        distance = distances[cell]
        for move, target in ways[cell].items():
            if target not in blocked and distances[target] + costs[target] == distance:
                moves.append(move)
                cell = target
                break  # one of them always does, since the goal can be reached
    return moves

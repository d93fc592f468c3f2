"""Instances of Plan-Path as a function of (dials, split, index)."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from llm_envs.core.instances import split_of_content
from llm_envs.core.task import Split
from llm_envs.plan_path.board import START, Board, draw, mark, measure
from llm_envs.plan_path.moves import OUTSIDE

STRICT_LAYOUTS = 200  # layouts of the asked density that are tried before others are
STARTS_PER_LAYOUT = 8  # tried one after the other, since a layout's distance field serves all of them
FALLBACK_WALLS = 0.3


@dataclass(frozen=True, slots=True)
class Dials:
    """What an instance is like.

    Attributes:
        size: rows and columns.
        walls: share of the cells that are walls, rounded to whole cells.
        min_path, max_path: bounds of a cheapest path's cost, without weights its number of moves. Since no move costs
            less than 1, `max_path` bounds that number in any case.
        weights: the highest cost of a cell.
        diagonal: whether moves may be diagonal.
    """

    size: int
    walls: float
    min_path: int
    max_path: int
    weights: int = 1
    diagonal: bool = False

    @property
    def seed(self) -> str:
        """What chance depends on beside split and index; `max_path` only chooses among what is drawn."""
        plain = f"{self.size}:{self.walls}:{self.min_path}"
        if self.weights == 1 and not self.diagonal:
            return plain
        return f"{plain}:weights={self.weights}:diagonal={self.diagonal}"


def generate(dials: Dials, split: Split, index: int) -> Board:
    """Instance `index` of a split: reachable, with a cheapest path within the bounds.

    Boards are drawn until one's content belongs to the split, so that no board is in two splits, whatever the dials.
    Where the asked density yields none (dense walls with a long path, or so small a grid that the split holds no such
    board), the share of walls is drawn from [0, 0.3] and the goal put into a corner, from which cells at least
    `min_path` away exist for every `min_path` up to 2 * (size - 1), or size - 1 with diagonal moves. Only
    `random.random()` is used, whose sequence Python promises to keep.
    """
    rng = random.Random(f"plan_path-v0:{dials.seed}:{split}:{index}")

    def layouts() -> Iterator[Board | None]:
        for _ in range(STRICT_LAYOUTS):
            yield _draw(dials, split, rng, dials.walls, corner=False)
        while True:
            yield _draw(dials, split, rng, FALLBACK_WALLS * rng.random(), corner=True)

    return next(board for board in layouts() if board is not None)


class _Layout(NamedTuple):
    """An instance without its start; see `Board`. `costs` is None on a plain grid."""

    blocked: frozenset[int]
    goal: int
    costs: tuple[int, ...] | None
    distances: tuple[int, ...]


def _draw(dials: Dials, split: Split, rng: random.Random, walls: float, *, corner: bool) -> Board | None:
    """One layout of walls, costs and goal, and the first of a few starts whose board belongs to the split."""
    size, cells = dials.size, list(range(dials.size * dials.size))
    corners = (0, size - 1, size * (size - 1), size * size - 1)
    goal = corners[int(rng.random() * 4)] if corner else int(rng.random() * size * size)
    cells.remove(goal)
    blocked = frozenset([OUTSIDE, *_sample(cells, round(walls * size * size), rng)])
    costs = _draw_costs(dials, blocked, goal, rng) if dials.weights > 1 else None
    distances = measure(size, blocked, goal, costs, diagonal=dials.diagonal)
    layout = _Layout(blocked, goal, costs, distances)
    least, most = dials.min_path, dials.max_path
    starts = [cell for cell, distance in enumerate(distances) if least <= distance <= most]
    grid = draw(size, blocked, goal, costs)
    for start in _sample(starts, STARTS_PER_LAYOUT, rng):
        text = mark(grid, size, start, START)
        if split_of_content(text.encode()) is split:
            return _place_start(dials, layout, start, text)
    return None


def _draw_costs(dials: Dials, blocked: frozenset[int], goal: int, rng: random.Random) -> tuple[int, ...]:
    """A cost from 1 to `weights` for every cell, each as likely; 1 for the goal and for walls, which nobody enters."""
    drawn = [1 + int(rng.random() * dials.weights) for _ in range(dials.size * dials.size)]
    return tuple([1 if cell == goal or cell in blocked else cost for cell, cost in enumerate(drawn)])


def _place_start(dials: Dials, layout: _Layout, start: int, text: str) -> Board:
    """The board with that start, which costs 1 to enter: where its cell cost more, ways through it change. `text` is
    its text.
    """
    costs, distances = layout.costs, layout.distances
    if costs is None or costs[start] == 1:
        return Board.make(
            dials.size,
            layout.blocked,
            start,
            layout.goal,
            costs=costs,
            diagonal=dials.diagonal,
            distances=distances,
            text=text,
        )
    costs = (*costs[:start], 1, *costs[start + 1 :])
    return Board.make(dials.size, layout.blocked, start, layout.goal, costs=costs, diagonal=dials.diagonal, text=text)


def _sample(items: list[int], count: int, rng: random.Random) -> Iterator[int]:
    """`count` different items, or all of them, in random order: a Fisher-Yates shuffle that goes as far as asked."""
    pool, chance = list(items), rng.random
    size = len(pool)
    for place in range(min(count, size)):
        other = place + int(chance() * (size - place))
        pool[place], pool[other] = pool[other], pool[place]
        yield pool[place]

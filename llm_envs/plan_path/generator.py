"""Instances of Plan-Path as a function of (dials, split, index)."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from llm_envs.core.task import Split
from llm_envs.plan_path.board import OUTSIDE, Board, distance_field

STRICT_LAYOUTS = 200  # layouts of the asked density that are tried before others are
STARTS_PER_LAYOUT = 8  # tried one after the other, since a layout's distance field serves all of them
FALLBACK_WALLS = 0.3


@dataclass(frozen=True, slots=True)
class Dials:
    """What an instance is like.

    Attributes:
        size: rows and columns.
        walls: share of the cells that are walls, rounded to whole cells.
        min_path, max_path: bounds of the shortest path's length in moves.
    """

    size: int
    walls: float
    min_path: int
    max_path: int


def generate(dials: Dials, split: Split, index: int) -> Board:
    """Instance `index` of a split: reachable, with a shortest path within the bounds.

    Boards are drawn until one's content belongs to the split, so that no board is in two splits, whatever the dials.
    Where the asked density yields none (dense walls with a long path, or so small a grid that the split holds no such
    board), the share of walls is drawn from [0, 0.3] and the goal put into a corner, from which cells at least
    `min_path` away exist for every `min_path` up to 2 * (size - 1). Only `random.random()` is used, whose sequence
    Python promises to keep.
    """
    rng = random.Random(f"plan_path-v0:{dials.size}:{dials.walls}:{dials.min_path}:{split}:{index}")

    def layouts() -> Iterator[Board | None]:
        for _ in range(STRICT_LAYOUTS):
            yield _draw(dials, split, rng, dials.walls, corner=False)
        while True:
            yield _draw(dials, split, rng, FALLBACK_WALLS * rng.random(), corner=True)

    return next(board for board in layouts() if board is not None)


def _draw(dials: Dials, split: Split, rng: random.Random, walls: float, *, corner: bool) -> Board | None:
    """One layout of walls and goal, and the first of a few starts whose board belongs to the split."""
    size, cells = dials.size, list(range(dials.size * dials.size))
    corners = (0, size - 1, size * (size - 1), size * size - 1)
    goal = corners[int(rng.random() * 4)] if corner else int(rng.random() * size * size)
    cells.remove(goal)
    blocked = frozenset(_sample(cells, round(walls * size * size), rng)) | {OUTSIDE}
    distances = distance_field(size, blocked, goal)
    starts = [cell for cell in cells if dials.min_path <= distances[cell] <= dials.max_path]
    for start in _sample(starts, STARTS_PER_LAYOUT, rng):
        board = Board.make(size, blocked, start, goal, distances)
        if board.split() == split:
            return board
    return None


def _sample(items: list[int], count: int, rng: random.Random) -> list[int]:
    """`count` different items, or all of them in random order, by a Fisher-Yates shuffle that stops early."""
    pool = list(items)
    count = min(count, len(pool))
    for place in range(count):
        other = place + int(rng.random() * (len(pool) - place))
        pool[place], pool[other] = pool[other], pool[place]
    return pool[:count]

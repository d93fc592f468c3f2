"""Floor plans: which cells of a grid the walls leave free. The floor is always connected and touches no edge."""

import heapq
import random
from collections.abc import Iterable
from enum import StrEnum

TURN = 0.35  # how often the carving walk turns (as in gym-sokoban's rooms)


class Shape(StrEnum):
    """How a floor plan is drawn: cut out by a walk (corridors and bays), or a hall with single blocks in it."""

    CARVED = "carved"
    SCATTERED = "scattered"


def interior(rows: int, cols: int) -> int:
    """All cells but those on the edge."""
    row = (1 << cols - 2) - 1 << 1
    return sum(row << number * cols for number in range(1, rows - 1))


def draw_floor(shape: Shape, rows: int, cols: int, walls: float, rng: random.Random) -> int:
    """A floor plan in which a share `walls` of the inner cells is wall, to within two cells."""
    inside = interior(rows, cols)
    count = inside.bit_count() - round(walls * inside.bit_count())
    return _carve(inside, rows, cols, count, rng) if shape is Shape.CARVED else _scatter(inside, rows, cols, count, rng)


def _carve(inside: int, rows: int, cols: int, count: int, rng: random.Random) -> int:
    """At least `count` cells, cut out by a walk two cells wide that turns now and then."""
    draw = rng.random
    ways = ((-cols, 1), (cols, 1), (-1, cols), (1, cols))  # a step, and where the second cell is
    cell = _any_cell(rows, cols, rng)
    step, beside = ways[int(draw() * 4)]
    floor = 0
    while floor.bit_count() < count:
        floor |= (1 << cell | 1 << cell + beside) & inside
        if draw() < TURN:
            step, beside = ways[int(draw() * 4)]
        if inside >> cell + step & 1:
            cell += step
    return floor


def _scatter(inside: int, rows: int, cols: int, count: int, rng: random.Random) -> int:
    """Exactly `count` cells, which leave single walls and clumps of them: invasion percolation.

    Every cell has a random resistance; the floor grows from one cell to whichever neighbour resists least (Wilkinson
    and Willemsen 1983).
    """
    start = _any_cell(rows, cols, rng)
    front, met, floor = [(0.0, start)], 1 << start, 0
    for _ in range(count):
        cell = heapq.heappop(front)[1]
        floor |= 1 << cell
        for near in (cell - cols, cell + cols, cell - 1, cell + 1):
            if inside >> near & 1 and not met >> near & 1:
                met |= 1 << near
                heapq.heappush(front, (rng.random(), near))
    return floor


def _any_cell(rows: int, cols: int, rng: random.Random) -> int:
    """An inner cell."""
    return (1 + int(rng.random() * (rows - 2))) * cols + 1 + int(rng.random() * (cols - 2))


def sample(items: Iterable[int], count: int, rng: random.Random) -> list[int]:
    """`count` different items, or all of them in random order, by a Fisher-Yates shuffle that stops early.

    Only `random.random()` is drawn from, whose sequence Python promises to keep from version to version.
    """
    pool = list(items)
    count = min(count, len(pool))
    for place in range(count):
        other = place + int(rng.random() * (len(pool) - place))
        pool[place], pool[other] = pool[other], pool[place]
    return pool[:count]

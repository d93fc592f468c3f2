"""Floor plans: which cells of a grid the walls leave free. The floor is always connected and touches no edge."""

import random
from collections.abc import Iterable
from enum import StrEnum

from llm_envs.sokoban.board import cells, spread

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
    """A floor plan in which about a share `walls` of the inner cells is wall."""
    inside = interior(rows, cols)
    count = inside.bit_count() - round(walls * inside.bit_count())
    return _carve(inside, rows, cols, count, rng) if shape is Shape.CARVED else _scatter(inside, cols, count, rng)


def _carve(inside: int, rows: int, cols: int, count: int, rng: random.Random) -> int:
    """At least `count` cells, cut out by a walk two cells wide that turns now and then."""
    draw = rng.random
    ways = ((-cols, 1), (cols, 1), (-1, cols), (1, cols))  # a step, and where the second cell is
    cell = (1 + int(draw() * (rows - 2))) * cols + 1 + int(draw() * (cols - 2))
    step, beside = ways[int(draw() * 4)]
    floor = 0
    while floor.bit_count() < count:
        floor |= (1 << cell | 1 << cell + beside) & inside
        if draw() < TURN:
            step, beside = ways[int(draw() * 4)]
        if inside >> cell + step & 1:
            cell += step
    return floor


def _scatter(inside: int, cols: int, count: int, rng: random.Random) -> int:
    """The largest connected part of `count` cells drawn at random."""
    floor = 0
    for cell in sample(list(cells(inside)), count, rng):
        floor |= 1 << cell
    largest = 0
    while floor:
        part = spread(floor & -floor, floor, cols)
        floor ^= part
        largest = max(largest, part, key=int.bit_count)
    return largest


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

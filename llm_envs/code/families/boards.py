"""Families about ways over a board and shapes on it."""

import random
from typing import Any

from llm_envs.code.families.base import Family, Mutant
from llm_envs.code.families.shapes import grid, size
from llm_envs.code.families.values import Argument, Kind
from llm_envs.core.draws import pick, whole


def board_paths(field: list[str], *, modulus: int, diagonal: bool) -> int:
    """Row by row, the paths to each cell."""
    columns = len(field[0])
    above = [0] * columns
    for row, line in enumerate(field):
        paths = [0] * columns
        for column, letter in enumerate(line):
            if letter == "#":
                continue
            if row == 0 and column == 0:
                paths[column] = 1
                continue
            paths[column] = above[column]
            if column > 0:
                paths[column] += paths[column - 1]
                if diagonal:
                    paths[column] += above[column - 1]
        above = paths
    return above[-1] % modulus


def _board_paths_statement(parameters: dict[str, Any]) -> str:
    ways = "right, down or diagonally right and down" if parameters["diagonal"] else "right or down"
    return (
        f"A piece stands on the top left cell and goes one cell {ways} with each move, to the bottom right cell. It "
        "may not stand on a cell `#`, neither at the start nor at the end; all others are `.`. In how many ways can it "
        "go? A board of one free cell has one way, that without a move. Give the remainder of the number on division "
        f"by {parameters['modulus']}."
    )


def _board_paths_draw(rng: random.Random, level: int, _parameters: dict[str, Any]) -> tuple[Any, ...]:
    rows, columns = size(rng, level, 1, (5, 6, 8)), size(rng, level, 1, (5, 7, 9))
    field = grid(rng, rows, columns, pick(rng, (".", "." * 9 + "#", "." * 6 + "#")))
    if rng.random() < 0.8:  # a free start and end
        field[0] = "." + field[0][1:]
        field[-1] = field[-1][:-1] + "."
    if rng.random() < 0.3:  # a blocked border ends the only path along it
        column = whole(rng, 0, columns - 1)
        field[0] = field[0][:column] + "#" + field[0][column + 1 :]
    if rng.random() < 0.3:
        row = whole(rng, 0, rows - 1)
        field[row] = "#" + field[row][1:]
    return (field,)


BOARD_PATHS = Family(
    name="board_paths",
    idea="number of lattice paths around obstacles, cell by cell",
    arguments=(Argument("field", Kind.LINES, "1 to 8 lines of 1 to 9 characters, all equally long, of `#` and `.`"),),
    result=Kind.INT,
    solve=board_paths,
    parameters=lambda rng, level: {
        "modulus": pick(rng, ((7, 11), (17, 23), (29, 37))[level - 1]),
        "diagonal": level > 1 and rng.random() < 0.5,
    },
    statement=_board_paths_statement,
    draw=_board_paths_draw,
    mutants=(
        Mutant("mixes up whether diagonal moves count", "if diagonal:", "if not diagonal:"),
        Mutant("forgets the modulus", "above[-1] % modulus", "above[-1]"),
        Mutant(
            "forgets to look at the first row's blocked cells", 'if letter == "#":', 'if letter == "#" and row > 0:'
        ),
        Mutant(
            "adds from the left of the row above",
            "paths[column] += paths[column - 1]",
            "paths[column] += above[column - 1]",
        ),
        Mutant(
            "a blocked cell keeps the paths that lead above it",
            "                continue\n            if row == 0",
            "                paths[column] = above[column]\n                continue\n            if row == 0",
        ),
        Mutant("the whole first row has one path", "if row == 0 and column == 0:", "if row == 0:"),
        Mutant("the whole first column has one path", "if row == 0 and column == 0:", "if column == 0:"),
    ),
)


def spiral(rows: list[list[int]], *, clockwise: bool, every: int) -> list[int]:
    """Ring by ring, each side without the corner that the side before has read."""
    if not clockwise:
        rows = [list(column) for column in zip(*rows, strict=True)]
    top, bottom, left, right = 0, len(rows) - 1, 0, len(rows[0]) - 1
    values = []
    while top <= bottom and left <= right:
        values += [rows[top][column] for column in range(left, right + 1)]
        values += [rows[row][right] for row in range(top + 1, bottom + 1)]
        if top < bottom:
            values += [rows[bottom][column] for column in range(right - 1, left - 1, -1)]
        if left < right:
            values += [rows[row][left] for row in range(bottom - 1, top, -1)]
        top, bottom, left, right = top + 1, bottom - 1, left + 1, right - 1
    return values[::every]


def _spiral_draw(rng: random.Random, level: int, _parameters: dict[str, Any]) -> tuple[Any, ...]:
    height, width = size(rng, level, 1, (4, 4, 5)), size(rng, level, 1, (3, 5, 6))
    if rng.random() < 0.4:
        height, width = pick(rng, ((1, width), (height + 1, 1), (5, 3)))
    return ([[whole(rng, 0, 99) for _ in range(width)] for _ in range(height)],)


SPIRAL = Family(
    name="spiral",
    idea="the cells of a matrix in spiral order, ring by ring",
    arguments=(Argument("rows", Kind.ROWS, "1 to 6 rows of 1 to 6 numbers from 0 to 99, all equally long"),),
    result=Kind.INTS,
    solve=spiral,
    parameters=lambda rng, level: {"clockwise": rng.random() < 0.5, "every": whole(rng, 1, level)},
    statement=lambda parameters: (
        "Read the matrix in a spiral that begins at the top left, first goes "
        f"{'right along the top row' if parameters['clockwise'] else 'down along the left column'}, keeps to the "
        "border and then goes on inward until every number is read once. Give the numbers at the positions 0, "
        f"{parameters['every']}, 2 * {parameters['every']} and so on of this reading, which counts from 0."
    ),
    draw=_spiral_draw,
    mutants=(
        Mutant("goes the wrong way round", "if not clockwise:", "if clockwise:"),
        Mutant("reads a single row twice", "if top < bottom:", "if top <= bottom:"),
        Mutant("reads a single column twice", "if left < right:", "if left <= right:"),
        Mutant(
            "forgets a ring that is one row or column",
            "while top <= bottom and left <= right:",
            "while top < bottom and left < right:",
        ),
        Mutant(
            "reads the corner at the end of a ring again",
            "range(bottom - 1, top, -1)",
            "range(bottom - 1, top - 1, -1)",
        ),
        Mutant("stops before the bottom left corner", "range(right - 1, left - 1, -1)", "range(right - 1, left, -1)"),
    ),
)


def full_squares(field: list[str], *, least: int) -> list[int]:
    """For each cell the side of the largest full square that ends there, from three neighbours."""
    columns = len(field[0])
    above = [0] * (columns + 1)
    count = largest = 0
    for line in field:
        sides = [0]
        for column, letter in enumerate(line):
            side = 1 + min(above[column], above[column + 1], sides[column]) if letter == "#" else 0
            sides.append(side)
            count += max(0, side - least + 1)
            largest = max(largest, side)
        above = sides
    return [count, largest]


def _full_squares_draw(rng: random.Random, level: int, _parameters: dict[str, Any]) -> tuple[Any, ...]:
    rows, columns = size(rng, level, 1, (4, 6, 8)), size(rng, level, 1, (5, 6, 8))
    return (grid(rng, rows, columns, pick(rng, ("#.", "###.", "#######.", "#" * 15 + "."))),)


FULL_SQUARES = Family(
    name="full_squares",
    idea="largest full square that ends in each cell, from its three neighbours",
    arguments=(Argument("field", Kind.LINES, "1 to 8 lines of 1 to 8 characters, all equally long, of `#` and `.`"),),
    result=Kind.INTS,
    solve=full_squares,
    parameters=lambda rng, level: {"least": whole(rng, 2, 1 + level)},
    statement=lambda parameters: (
        "A square is a part of the grid with as many rows as columns in which every cell is `#`. Squares may overlap "
        f"and lie in each other; all count. Give two numbers: how many squares have sides of at least "
        f"{parameters['least']} cells, and the side of the largest square of all (0 if there is none)."
    ),
    draw=_full_squares_draw,
    mutants=(
        Mutant(
            "forgets the neighbour across the corner",
            "min(above[column], above[column + 1], sides[column])",
            "min(above[column + 1], sides[column])",
        ),
        Mutant(
            "forgets the neighbour above",
            "min(above[column], above[column + 1], sides[column])",
            "min(above[column], sides[column])",
        ),
        Mutant(
            "forgets the neighbour to the left",
            "min(above[column], above[column + 1], sides[column])",
            "min(above[column], above[column + 1])",
        ),
        Mutant("counts the largest square of each cell only", "max(0, side - least + 1)", "side >= least"),
        Mutant("leaves out the squares of the smallest side", "max(0, side - least + 1)", "max(0, side - least)"),
        Mutant("takes the last square for the largest", "largest = max(largest, side)", "largest = side or largest"),
        Mutant(
            "leaves out the first column",
            "enumerate(line):",
            "enumerate(line):\n            if column == 0:\n                sides.append(0)\n                continue",
        ),
    ),
)

FAMILIES = (BOARD_PATHS, SPIRAL, FULL_SQUARES)

"""Families about fields that spread and change on a grid."""

import random
from typing import Any

from llm_envs.code.families.base import Family, Mutant
from llm_envs.code.families.shapes import grid, size
from llm_envs.code.families.values import Argument, Kind
from llm_envs.core.draws import pick, whole

_TOUCH = {True: "along a side or a corner", False: "along a side"}


def islands(field: list[str], *, diagonal: bool, least: int) -> list[int]:
    """A flood from every cell of land that no flood has reached."""
    rows, columns = len(field), len(field[0])
    steps = [(-1, 0), (1, 0), (0, -1), (0, 1)]
    if diagonal:
        steps += [(-1, -1), (-1, 1), (1, -1), (1, 1)]
    land = {(row, column) for row in range(rows) for column in range(columns) if field[row][column] == "#"}
    sizes = []
    for start in sorted(land):
        if start not in land:
            continue
        land.remove(start)
        island = [start]
        for row, column in island:
            for down, right in steps:
                cell = (row + down, column + right)
                if cell in land:
                    land.remove(cell)
                    island.append(cell)
        if len(island) >= least:
            sizes.append(len(island))
    return sorted(sizes, reverse=True)


def _islands_draw(rng: random.Random, level: int, _parameters: dict[str, Any]) -> tuple[Any, ...]:
    rows, columns = size(rng, level, 1, (5, 6, 7)), size(rng, level, 1, (5, 7, 8))
    return (grid(rng, rows, columns, pick(rng, ("#...", "#...", "#..", "#.", "##."))),)


ISLANDS = Family(
    name="islands",
    idea="flood fill of the connected regions of a grid",
    arguments=(Argument("field", Kind.LINES, "1 to 7 lines of 1 to 8 characters, all equally long, of `#` and `.`"),),
    result=Kind.INTS,
    solve=islands,
    parameters=lambda rng, level: {"diagonal": rng.random() < 0.5, "least": whole(rng, 1, min(level, 2))},
    statement=lambda parameters: (
        "`#` is land and `.` is water. An island is a largest group of land cells that hang together, where neighbours "
        f"touch {_TOUCH[parameters['diagonal']]}. Give the sizes of all islands of at least {parameters['least']} "
        "cells in descending order, equal sizes as often as they come; there may be none."
    ),
    draw=_islands_draw,
    mutants=(
        Mutant("mixes up which neighbours count", "if diagonal:", "if not diagonal:"),
        Mutant("leaves out islands of the smallest size", "len(island) >= least", "len(island) > least"),
        Mutant("gives every size once", "sorted(sizes, reverse=True)", "sorted(set(sizes), reverse=True)"),
        Mutant("gives islands in the order of finding", "sorted(sizes, reverse=True)", "sizes"),
        Mutant("forgets to look to the left", "(0, -1), (0, 1)", "(0, 1)"),
        Mutant(
            "looks at the neighbours of the first cell only",
            "for row, column in island:",
            "for row, column in island[:1]:",
        ),
        Mutant("leaves out the last column", "for column in range(columns)", "for column in range(columns - 1)"),
    ),
)


def fire_front(field: list[str], *, minutes: int, diagonal: bool) -> list[int]:
    """Breadth-first search from all fires at once."""
    rows, columns = len(field), len(field[0])
    steps = [(-1, 0), (1, 0), (0, -1), (0, 1)]
    if diagonal:
        steps += [(-1, -1), (-1, 1), (1, -1), (1, 1)]
    cells = {(row, column): field[row][column] for row in range(rows) for column in range(columns)}
    time = {cell: 0 for cell, letter in cells.items() if letter == "*"}
    queue = list(time)
    for row, column in queue:
        for down, right in steps:
            cell = (row + down, column + right)
            if cell not in time and cells.get(cell) == ".":
                time[cell] = time[row, column] + 1
                queue.append(cell)
    burning = sum(moment <= minutes for moment in time.values())
    last = max(time.values(), default=0)
    return [burning, last, sum(letter != "#" for letter in cells.values()) - len(time)]


def _fire_front_draw(rng: random.Random, level: int, _parameters: dict[str, Any]) -> tuple[Any, ...]:
    rows, columns = size(rng, level, 1, (4, 5, 7)), size(rng, level, 1, (5, 7, 8))
    field = grid(rng, rows, columns, pick(rng, ("#..", "#...", "##...", ".")))
    for _ in range(pick(rng, (0, 1, 1, 2, 2, 3))):
        row, column = whole(rng, 0, rows - 1), whole(rng, 0, columns - 1)
        field[row] = field[row][:column] + "*" + field[row][column + 1 :]
    return (field,)


FIRE_FRONT = Family(
    name="fire_front",
    idea="breadth-first search from several sources at once",
    arguments=(
        Argument("field", Kind.LINES, "1 to 7 lines of 1 to 8 characters, all equally long, of `#`, `.` and `*`"),
    ),
    result=Kind.INTS,
    solve=fire_front,
    parameters=lambda rng, level: {"minutes": whole(rng, 1, level), "diagonal": level > 1 and rng.random() < 0.5},
    statement=lambda parameters: (
        "`*` burns, `.` is dry grass, `#` is rock, which never burns. In every minute all grass that touches a burning "
        f"cell {_TOUCH[parameters['diagonal']]} catches fire, and what burns goes on burning. Give three numbers: how "
        f"many cells burn after {parameters['minutes']} minutes, how many minutes pass until no more grass catches "
        "fire (0 if none does), and how many cells of grass never burn."
    ),
    draw=_fire_front_draw,
    mutants=(
        Mutant("mixes up which neighbours count", "if diagonal:", "if not diagonal:"),
        Mutant("one minute too early", "moment <= minutes", "moment < minutes"),
        Mutant("only the first fire spreads", "queue = list(time)", "queue = list(time)[:1]"),
        Mutant("searches depth first", "for row, column in queue:", "while queue:\n        row, column = queue.pop()"),
        Mutant("counts rock among the grass", 'sum(letter != "#" for letter in cells.values())', "len(cells)"),
        Mutant("counts one step for all that a search reaches", "time[row, column] + 1", "1"),
        Mutant("fire goes through rock", 'cells.get(cell) == "."', "cell in cells"),
    ),
)


def life(field: list[str], *, born: str, stays: str, torus: bool, steps: int) -> list[str]:
    """Every generation is made of the one before."""
    rows, columns = len(field), len(field[0])
    for _ in range(steps):
        after = []
        for row in range(rows):
            line = ""
            for column in range(columns):
                near = 0
                for down, right in ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)):
                    y, x = row + down, column + right
                    if torus or (0 <= y < rows and 0 <= x < columns):
                        near += field[y % rows][x % columns] == "#"
                line += "#" if str(near) in (stays if field[row][column] == "#" else born) else "."
            after.append(line)
        field = after
    return field


def _life_statement(parameters: dict[str, Any]) -> str:
    born, stays = (" or ".join(parameters[name]) for name in ("born", "stays"))
    border = (
        "The grid is closed: the row above the first one is the last one, the column left of the first one is the last "
        "one, and the other way round (so on a small grid a cell may be neighbour several times, even of itself; count "
        "it each time)."
        if parameters["torus"]
        else "Outside the grid nothing lives."
    )
    return (
        "`#` is a living cell and `.` a dead one. Each cell has eight neighbours. From one generation to the next a "
        f"dead cell comes to life if it has {born} living neighbours, and a living cell stays alive if it has {stays}; "
        f"all others are dead. All cells change at the same time. {border} Give the grid after {parameters['steps']} "
        "generations."
    )


def _life_draw(rng: random.Random, level: int, _parameters: dict[str, Any]) -> tuple[Any, ...]:
    rows, columns = size(rng, level, 1, (4, 5, 5)), size(rng, level, 1, (4, 5, 6))
    return (grid(rng, rows, columns, pick(rng, ("#.", "#..", "#...", "#......."))),)


LIFE = Family(
    name="life",
    idea="a cellular automaton: every cell at once, from its neighbours",
    arguments=(Argument("field", Kind.LINES, "1 to 5 lines of 1 to 6 characters, all equally long, of `#` and `.`"),),
    result=Kind.LINES,
    solve=life,
    parameters=lambda rng, level: {
        "born": pick(rng, ("3", "3", "36", "2")),
        "stays": pick(rng, ("23", "34", "12")),
        "torus": level > 1 and rng.random() < 0.5,
        "steps": pick(rng, (1, level)),
    },
    statement=_life_statement,
    draw=_life_draw,
    mutants=(
        Mutant(
            "changes cells that are still to be read",
            "            after.append(line)\n",
            "            after.append(line)\n            field = [*after, *field[row + 1 :]]\n",
        ),
        Mutant("counts the cell itself", "near = 0\n", 'near = int(field[row][column] == "#")\n'),
        Mutant(
            "forgets the corners",
            "((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))",
            "((-1, 0), (0, -1), (0, 1), (1, 0))",
        ),
        Mutant(
            "mixes up birth and survival", 'stays if field[row][column] == "#"', 'stays if field[row][column] != "#"'
        ),
        Mutant("treats the border the other way", "if torus or", "if not torus or"),
        Mutant("lets all cells live by the rule of birth", '(stays if field[row][column] == "#" else born)', "born"),
        Mutant("forgets a corner", "(1, 0), (1, 1))", "(1, 0))"),
    ),
)

FAMILIES = (ISLANDS, FIRE_FRONT, LIFE)

"""Levels as text: one board in XSB, and files of them as Boxoban and most collections write them."""

import re
from collections.abc import Iterator

from llm_envs.core.errors import UsageError, require
from llm_envs.sokoban.board import (
    BOX,
    BOX_ON_GOAL,
    FLOOR,
    GOAL,
    MAX_BOXES,
    MAX_SIZE,
    PLAYER,
    PLAYER_ON_GOAL,
    WALL,
    Board,
    Room,
    spread,
)

_ROW = re.compile(r"[ _-]*#[#@+$*. _-]*\Z")  # every row of an enclosed room holds a wall
_FLOORS = str.maketrans("-_", FLOOR * 2)  # some files write floor so, since mails eat spaces


def parse_level(text: str) -> Board:
    """The board that `Board.text` writes.

    Args:
        text: XSB, one line a row: `#` wall, `@` player, `+` player on goal, `$` box, `*` box on goal, `.` goal, and
            space, `-` or `_` for floor. Short rows are filled up with floor.

    Raises:
        UsageError: a text that is no board of up to 16x16 cells and 6 boxes, with one player, as many boxes as goals,
            and walls all round what the player could reach.
    """
    rows = [row.rstrip("\r").translate(_FLOORS) for row in text.strip("\r\n").split("\n")]
    width = max(map(len, rows))
    require(len(rows) <= MAX_SIZE and width <= MAX_SIZE, "level size", (len(rows), width), f"at most {MAX_SIZE} a side")
    symbols = "".join(row.ljust(width, FLOOR) for row in rows)
    allowed = WALL + FLOOR + GOAL + BOX + BOX_ON_GOAL + PLAYER + PLAYER_ON_GOAL
    unknown = sorted(set(symbols) - set(allowed))
    require(not unknown, "level symbols", unknown, f"among {' '.join(allowed.replace(FLOOR, ''))} and space")
    player = _where(symbols, PLAYER + PLAYER_ON_GOAL)
    require(player.bit_count() == 1, "players", player.bit_count(), f"1, written {PLAYER} or {PLAYER_ON_GOAL}")
    boxes, goals = _where(symbols, BOX + BOX_ON_GOAL), _where(symbols, GOAL + BOX_ON_GOAL + PLAYER_ON_GOAL)
    count = boxes.bit_count()
    require(1 <= count <= MAX_BOXES, "boxes", count, f"1 to {MAX_BOXES}")
    require(goals.bit_count() == count, "goals", goals.bit_count(), f"{count}, one for each box")
    walls = _where(symbols, WALL)
    floor = _enclosed(player, walls, len(rows), width)
    require(not (boxes | goals) & ~floor, "level", text, "one in which every box and goal is inside the player's walls")
    return Board(Room(len(rows), width, walls, goals, floor), boxes, player.bit_length() - 1)


def read_levels(text: str) -> Iterator[Board]:
    """The boards of a file, in their order; titles, comments and numbers between them are skipped.

    Raises:
        UsageError: a board that `parse_level` refuses.
    """
    rows: list[str] = []
    for line in [*text.splitlines(), ""]:
        if _ROW.match(line):
            rows.append(line)
        elif rows:
            yield parse_level("\n".join(rows))
            rows.clear()


def _where(symbols: str, kinds: str) -> int:
    return sum(1 << cell for cell, symbol in enumerate(symbols) if symbol in kinds)


def _enclosed(player: int, walls: int, rows: int, cols: int) -> int:
    """The cells that the player could reach without boxes, none of which may lie on the edge."""
    inside = sum(1 << row * cols + col for row in range(1, rows - 1) for col in range(1, cols - 1))
    floor = spread(player & inside, inside & ~walls, cols)
    around = floor | floor << 1 | floor >> 1 | floor << cols | floor >> cols
    if not player & inside or around & ~inside & ~walls:
        raise UsageError("level: must be enclosed by walls; the player could walk out of it.")
    return floor

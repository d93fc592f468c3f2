"""The room of Sokoban: walls, goals, boxes, the player and his moves. Pure; knows nothing of roles, prompts or rewards.

A cell is a number, `row * cols + column`, counted from 0 at the top left; a set of cells is a whole number whose bit
`cell` is set. Rooms are enclosed by walls, so that `cell + step` never wraps round an edge.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

Move = Literal["up", "down", "left", "right"]
MOVES: tuple[Move, ...] = ("up", "down", "left", "right")

MAX_SIZE, MAX_BOXES = 16, 6
# The symbols of XSB, the common text format of Sokoban levels.
WALL, FLOOR, GOAL, BOX, BOX_ON_GOAL, PLAYER, PLAYER_ON_GOAL = "#", " ", ".", "$", "*", "@", "+"
_BOX, _PLAYER = f"{BOX}{BOX_ON_GOAL}".encode(), f"{PLAYER}{PLAYER_ON_GOAL}".encode()  # off and on a goal


@dataclass(frozen=True)
class Room:
    """What never moves.

    Attributes:
        walls, goals: sets of cells.
        floor: the cells that the player could reach if there were no boxes; the goals are among them.
    """

    rows: int
    cols: int
    walls: int
    goals: int
    floor: int

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Kept, since every look-up of what is known of a room needs it."""
        return hash((self.rows, self.cols, self.walls, self.goals, self.floor))

    @cached_property
    def steps(self) -> dict[Move, int]:
        """How far each move takes a cell's number."""
        return {"up": -self.cols, "down": self.cols, "left": -1, "right": 1}

    @cached_property
    def blank(self) -> bytes:
        """The XSB text of the room without player and boxes, rows separated by line breaks."""
        symbols = bytearray(FLOOR.encode() * (self.rows * self.cols))
        for mask, symbol in ((self.walls, WALL), (self.goals, GOAL)):
            for cell in cells(mask):
                symbols[cell] = ord(symbol)
        return b"\n".join(symbols[first : first + self.cols] for first in range(0, len(symbols), self.cols))


class Board(NamedTuple):
    """A position: a room, the set of cells with a box, the player's cell."""

    room: Room
    boxes: int
    player: int

    @property
    def solved(self) -> bool:
        """Whether every box is on a goal."""
        return self.boxes == self.room.goals

    @property
    def text(self) -> str:
        """The board in XSB, one line a row; `levels.parse_level` is the inverse."""
        room = self.room
        symbols, goals, cols = bytearray(room.blank), room.goals, room.cols
        boxes = self.boxes
        while boxes:  # `cells` written out: every turn comes by here
            cell = boxes.bit_length() - 1
            boxes ^= 1 << cell
            symbols[cell + cell // cols] = _BOX[goals >> cell & 1]  # one line break a row
        symbols[self.player + self.player // cols] = _PLAYER[goals >> self.player & 1]
        return symbols.decode()


class Walk(NamedTuple):
    """What a move list does to a board.

    Attributes:
        end: the board afterwards; the walk stops as soon as it is solved and ignores what follows.
        moves: moves carried out, pushes included.
        pushes: moves that pushed a box.
        hits: blocked moves, which change nothing.
    """

    end: Board
    moves: int
    pushes: int
    hits: int


def walk(board: Board, moves: Iterable[Move]) -> Walk:
    """Follow a move list. A move into a wall, or into a box with a wall or another box behind it, is blocked."""
    room, boxes, player = board.room, board.boxes, board.player
    walls, goals, steps = room.walls, room.goals, room.steps
    done = pushes = hits = 0
    for move in moves:
        if boxes == goals:
            break
        step = steps[move]
        target = player + step
        if boxes >> target & 1:
            if (walls | boxes) >> target + step & 1:
                hits += 1
                continue
            boxes ^= 1 << target | 1 << target + step
            pushes += 1
        elif walls >> target & 1:
            hits += 1
            continue
        player = target
        done += 1
    changed = player != board.player or boxes != board.boxes
    return Walk(Board(room, boxes, player) if changed else board, done, pushes, hits)


def legal_moves(board: Board) -> list[Move]:
    """The moves that are not blocked, in the order of `MOVES`."""
    return [move for move in MOVES if not walk(board, (move,)).hits]


def cells(mask: int) -> Iterator[int]:
    """The cells of a set, in ascending order."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def shift(mask: int, step: int) -> int:
    """The cells of a set, each `step` further."""
    return mask << step if step > 0 else mask >> -step


def spread(start: int, free: int, cols: int) -> int:
    """The cells of `free` that are connected with the set `start` by steps inside `free`; `free` touches no edge."""
    reached = start
    while True:
        grown = (reached | reached << 1 | reached >> 1 | reached << cols | reached >> cols) & free
        if grown == reached:
            return reached
        reached = grown


def walk_to(board: Board, target: int) -> list[Move]:
    """The moves of a shortest walk of the player to a cell without pushing (breadth-first search).

    Raises:
        ValueError: a cell that he can't reach.
    """
    blocked = board.room.walls | board.boxes
    came: dict[int, tuple[int, Move]] = {}
    frontier = [board.player]
    blocked |= 1 << board.player
    while frontier and target not in came and target != board.player:
        reached: list[int] = []
        for cell in frontier:
            for move, step in board.room.steps.items():
                if not blocked >> cell + step & 1:
                    blocked |= 1 << cell + step
                    came[cell + step] = (cell, move)
                    reached.append(cell + step)
        frontier = reached
    moves: list[Move] = []
    while target != board.player:
        if target not in came:
            raise ValueError(f"target={target}: the player can't reach it from {board.player}")
        target, move = came[target]
        moves.append(move)
    return moves[::-1]

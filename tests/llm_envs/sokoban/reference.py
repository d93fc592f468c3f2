"""Another Sokoban, written from the rules: sets of coordinates, no bits, no bounds. What the tests compare with."""

from collections import deque
from collections.abc import Iterable

Cell = tuple[int, int]
Boxes = frozenset[Cell]

STEPS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


class Room:
    """A level as sets."""

    def __init__(self, text: str) -> None:
        marks = {(row, col): mark for row, line in enumerate(text.split("\n")) for col, mark in enumerate(line)}
        self.walls = {cell for cell, mark in marks.items() if mark == "#"}
        self.goals = frozenset(cell for cell, mark in marks.items() if mark in ".*+")
        self.boxes = frozenset(cell for cell, mark in marks.items() if mark in "$*")
        (self.player,) = (cell for cell, mark in marks.items() if mark in "@+")


def reach(room: Room, boxes: Boxes, player: Cell) -> set[Cell]:
    """The cells the player can walk to."""
    seen, queue = {player}, deque([player])
    while queue:
        row, col = queue.popleft()
        for down, right in STEPS.values():
            cell = (row + down, col + right)
            if cell not in seen and cell not in room.walls and cell not in boxes:
                seen.add(cell)
                queue.append(cell)
    return seen


class TooLargeError(Exception):
    """The level has more positions than the caller wants to wait for."""


def fewest_pushes(text: str, most_positions: int = 10_000_000) -> int | None:
    """The smallest number of pushes that solves a level, or None where it can't be solved: breadth-first search."""
    room = Room(text)
    layer, seen, pushes = [(room.boxes, room.player)], set[tuple[Boxes, Cell]](), 0
    while layer:
        following = []
        for boxes, player in layer:
            if boxes == room.goals:
                return pushes
            area = reach(room, boxes, player)
            if (boxes, min(area)) in seen:
                continue
            seen.add((boxes, min(area)))
            if len(seen) > most_positions:
                raise TooLargeError
            for row, col in boxes:
                for down, right in STEPS.values():
                    onto = (row + down, col + right)
                    if (row - down, col - right) in area and onto not in room.walls and onto not in boxes:
                        following.append((boxes - {(row, col)} | {onto}, (row, col)))
        layer, pushes = following, pushes + 1
    return None


def play(text: str, moves: Iterable[str]) -> tuple[Boxes, Cell, int]:
    """Boxes, player and pushes after a move list, which stops when the level is solved."""
    room = Room(text)
    boxes, (row, col), pushes = room.boxes, room.player, 0
    for move in moves:
        if boxes == room.goals:
            break
        down, right = STEPS[move]
        ahead, behind = (row + down, col + right), (row + 2 * down, col + 2 * right)
        if ahead in room.walls or (ahead in boxes and (behind in room.walls or behind in boxes)):
            continue
        if ahead in boxes:
            boxes, pushes = boxes - {ahead} | {behind}, pushes + 1
        row, col = ahead
    return boxes, (row, col), pushes

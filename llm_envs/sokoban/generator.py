"""Rooms of Sokoban as a function of (dials, split, index).

A room is played backwards: boxes start on the goals and are pulled off, so that every room comes with the plan that
undoes the pulls, and no seed can fail for want of a solution.
"""

import heapq
import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from llm_envs.core.instances import split_of_content
from llm_envs.core.task import Split
from llm_envs.sokoban.board import Board, Move, Room, cells, shift, spread
from llm_envs.sokoban.distances import push_distances
from llm_envs.sokoban.layouts import Shape, draw_floor, sample
from llm_envs.sokoban.solver import Push, PushBounds, moves_of

STRICT_LAYOUTS = 64  # layouts of the asked shape that are tried before others are
FALLBACK_WALLS = 0.3
STARTS_PER_LAYOUT = 8  # tried one after the other, since one search serves them all
PULLED_NODES = 120  # positions with several boxes that are pulled further; one box is pulled everywhere
NOISE = 6  # pushes by which chance may outweigh distance when several boxes are pulled apart

_BACK: dict[Move, Move] = {"up": "down", "down": "up", "left": "right", "right": "left"}


@dataclass(frozen=True, slots=True)
class Dials:
    """What a room is like.

    Attributes:
        rows, cols: of the whole grid, the outer walls included.
        walls: share of the inner cells that are walls, to within two cells.
        min_pushes: every solution has at least that many pushes; this is proven, not hoped.
        max_moves: the plan that comes with the room has at most that many moves, pushes included.
    """

    rows: int
    cols: int
    boxes: int
    shape: Shape
    walls: float
    min_pushes: int
    max_moves: int


@dataclass(frozen=True, slots=True)
class Level:
    """A room to solve; a generated one always comes with a plan that solves it.

    Attributes:
        moves: the plan, or None where none is known (a level that was given as text).
        bounds: of the pushes of the shortest plan; exact for one box.
    """

    start: Board
    moves: tuple[Move, ...] | None
    bounds: PushBounds


class _Pulled(NamedTuple):
    """A position on the way back from the solution, and the push (box cell, move) that leads to a nearer one."""

    boxes: int
    reach: int
    pulls: int
    nearer: "_Pulled | None"
    cell: int
    move: Move


def generate(dials: Dials, split: Split, index: int) -> Level:
    """Level `index` of a split: solvable, unsolved, no box on a goal, with at least `min_pushes` to push.

    Levels are drawn until one's content belongs to the split, so that no room is in two splits, whatever the dials.
    Where the asked shape yields none, halls with a share of walls drawn from [0, 0.3] and a goal in a corner are tried,
    in which boxes can be far from their goals. Only `random.random()` is used, whose sequence Python promises to keep.
    """
    seed = f"sokoban-v0:{dials.rows}:{dials.cols}:{dials.boxes}:{dials.shape}:{dials.walls}:{dials.min_pushes}"
    rng = random.Random(f"{seed}:{split}:{index}")
    layouts = itertools.count()
    while True:
        room = _draw_room(dials, rng, strict=next(layouts) < STRICT_LAYOUTS)
        level = None if room is None else _draw_level(room, dials, split, rng)
        if level is not None:
            return level


def _draw_room(dials: Dials, rng: random.Random, *, strict: bool) -> Room | None:
    """A floor plan with goals from which boxes can be pulled, or None where it has too few such cells."""
    rows, cols = dials.rows, dials.cols
    shape, walls = (dials.shape, dials.walls) if strict else (Shape.SCATTERED, FALLBACK_WALLS * rng.random())
    floor = draw_floor(shape, rows, cols, walls, rng)
    back, ahead = floor & floor << 1, floor & floor >> 1
    up, down = floor & floor << cols, floor & floor >> cols
    pullable = list(cells(back & back << 1 | ahead & ahead >> 1 | up & up << cols | down & down >> cols))
    if len(pullable) < dials.boxes:
        return None
    goals = sample(pullable, dials.boxes, rng)
    if not strict:
        goals[0] = pullable[0]  # the first row's first cell: a corner of the hall, unless a wall stands there
    mask = sum(1 << goal for goal in set(goals))
    return Room(rows, cols, (1 << rows * cols) - 1 & ~floor, mask, floor) if len(set(goals)) == dials.boxes else None


def _draw_level(room: Room, dials: Dials, split: Split, rng: random.Random) -> Level | None:
    """The first of a few starts whose content belongs to the split and whose plan is short enough, or None."""
    nodes = _pull(room, rng) if dials.boxes > 1 else _pull_everywhere(room)
    tried = 0
    for number in sample(range(len(nodes)), len(nodes), rng):
        node = nodes[number]
        lower = node.pulls if dials.boxes == 1 else push_distances(room).bound(node.boxes)
        if lower < dials.min_pushes or node.boxes & room.goals:
            continue
        places = list(cells(node.reach))
        start = Board(room, node.boxes, places[int(rng.random() * len(places))])
        if split_of(start) is split:
            moves = moves_of(start, _pushes(node))
            if len(moves) <= dials.max_moves:
                return Level(start, tuple(moves), PushBounds(lower, node.pulls))
        tried += 1
        if tried == STARTS_PER_LAYOUT:
            break
    return None


class _Pulls:
    """The positions reached so far by playing a room backwards from its solution, in the order of their discovery."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._areas: dict[int, list[int]] = {}
        self.nodes: list[_Pulled] = []
        places = room.floor & ~room.goals
        while places:
            node = self._add(None, room.goals, places & -places, 0, "up")
            places &= ~node.reach if node else 0

    def _add(self, nearer: _Pulled | None, boxes: int, player: int, cell: int, move: Move) -> _Pulled | None:
        """Enter the position, unless it is known."""
        areas = self._areas.setdefault(boxes, [])
        for area in areas:
            if player & area:
                return None
        reach = spread(player, self._room.floor & ~boxes, self._room.cols)
        areas.append(reach)
        node = _Pulled(boxes, reach, nearer.pulls + 1 if nearer else 0, nearer, cell, move)
        self.nodes.append(node)
        return node

    def extend(self, node: _Pulled) -> list[_Pulled]:
        """The positions that one pull from `node` newly leads to."""
        found = [self._add(node, *before) for before in _predecessors(self._room, node.boxes, node.reach)]
        return [new for new in found if new is not None]


def _pull_everywhere(room: Room) -> list[_Pulled]:
    """Every position that can be solved, breadth-first: `pulls` is the smallest number of pushes. Meant for one box."""
    pulls = _Pulls(room)
    for node in pulls.nodes:
        pulls.extend(node)
    return pulls.nodes


def _pull(room: Room, rng: random.Random) -> list[_Pulled]:
    """Some positions of many: those far from the solution are pulled further first, with some chance mixed in."""
    nearest = {cell: min(row) for cell, row in push_distances(room).rows.items()}
    pulls = _Pulls(room)
    queue = [(0.0, number, node) for number, node in enumerate(pulls.nodes)]
    serial = itertools.count(len(queue))
    for _ in range(PULLED_NODES):
        if not queue:
            break
        for node in pulls.extend(heapq.heappop(queue)[2]):
            distance = sum(nearest[cell] for cell in cells(node.boxes))
            heapq.heappush(queue, (NOISE * rng.random() - distance, next(serial), node))
    return pulls.nodes


def _predecessors(room: Room, boxes: int, reach: int) -> Iterator[tuple[int, int, int, Move]]:
    """Each push that could have led here: the boxes before it, where the player was, the box's cell, the direction."""
    free = room.floor & ~boxes
    for move, step in room.steps.items():
        for cell in cells(reach & shift(boxes, step) & shift(free, -step)):
            yield boxes ^ (1 << cell | 1 << cell - step), 1 << cell + step, cell, _BACK[move]


def _pushes(node: _Pulled) -> Iterator[Push]:
    while node.nearer is not None:
        yield Push(node.cell, node.move)
        node = node.nearer


def split_of(start: Board) -> Split:
    """The split that a start belongs to, the same for all that have its content."""
    return split_of_content(content(start).encode())


def content(start: Board) -> str:
    """What decides the split of a start: the least of the eight texts that mirroring and rotating it gives, with the
    player's area for the player. Starts that differ in no more than that have the same content.
    """
    room = start.room
    reach = spread(1 << start.player, room.floor & ~start.boxes, room.cols)
    # One decimal digit a cell: binary digits read as decimal ones add up without a carry.
    digits = sum(
        weight * int(f"{mask:b}") for weight, mask in ((1, room.walls), (2, room.goals), (3, reach), (4, start.boxes))
    )
    symbols = str(digits).zfill(room.rows * room.cols)
    rows = [symbols[first : first + room.cols] for first in range(0, len(symbols), room.cols)]
    turned = ["".join(column) for column in zip(*rows, strict=True)]
    forms = []
    for grid in (rows, turned):
        mirrored = [row[::-1] for row in grid]
        forms += [grid, grid[::-1], mirrored, mirrored[::-1]]
    return min("\n".join(form) for form in forms)

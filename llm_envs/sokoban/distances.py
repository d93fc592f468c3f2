"""How many pushes boxes need at least: the lower bound that the potential, the solver and the generator share."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from llm_envs.sokoban.board import Room, cells

FAR = 1 << 20  # pushes to a goal that a box can't reach; sums of six stay far above any real bound


@dataclass(frozen=True, slots=True)
class PushDistances:
    """Pushes that one box needs alone, whichever side the player is on: never more than it needs among others.

    Attributes:
        rows: box cell -> pushes to each goal, goals in ascending order of cells, `FAR` where there is no way. Only live
            cells are listed.
        live: the cells from which a box can reach some goal; the rest of the floor is dead.
        longest: the sum over the goals of the largest finite distance, which no assignment of boxes to goals exceeds.
    """

    rows: dict[int, tuple[int, ...]]
    live: int
    longest: int

    def bound(self, boxes: int) -> int:
        """Pushes that the boxes need at least, each to a goal of its own; `FAR` or more where there is no way."""
        rows = self.rows
        try:
            return assign([rows[cell] for cell in cells(boxes)])
        except KeyError:
            return FAR


@lru_cache(maxsize=1024)
def push_distances(room: Room) -> PushDistances:
    """The distances of a room."""
    layers = [list(pull_layers(room, 1 << goal)) for goal in cells(room.goals)]
    live = 0
    for goal_layers in layers:
        for layer in goal_layers:
            live |= layer
    table = {cell: [FAR] * len(layers) for cell in cells(live)}
    for goal, goal_layers in enumerate(layers):
        for distance, layer in enumerate(goal_layers):
            for cell in cells(layer):
                table[cell][goal] = distance
    longest = sum(len(goal_layers) - 1 for goal_layers in layers)
    return PushDistances({cell: tuple(row) for cell, row in table.items()}, live, longest)


def pull_layers(room: Room, goal: int) -> Iterator[int]:
    """The cells from which a lone box is 0, 1, 2, ... pushes away from the goal: breadth-first search by pulls.

    A box is pulled onto a cell if the player, who stood there, can step back one further.
    """
    floor, cols = room.floor, room.cols
    up, down, left, right = floor & floor << cols, floor & floor >> cols, floor & floor << 1, floor & floor >> 1
    layer = seen = goal
    while layer:
        yield layer
        layer = (layer >> cols & up | layer << cols & down | layer >> 1 & left | layer << 1 & right) & ~seen
        seen |= layer


def assign(rows: Sequence[Sequence[int]]) -> int:
    """The least sum over the rows of one entry each, no two from the same column (dynamic programming over sets)."""
    best = {0: 0}
    for row in rows:
        after: dict[int, int] = {}
        for taken, cost in best.items():
            for column, entry in enumerate(row):
                bit = 1 << column
                if not taken & bit:
                    key, total = taken | bit, cost + entry
                    if total < after.get(key, total + 1):
                        after[key] = total
        best = after
    (least,) = best.values()
    return least

"""Positions that can no longer be solved, and the potential, which is 0 there.

Every deadlock reported is one; not every deadlock is reported (deciding that is as hard as solving).
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from llm_envs.sokoban.board import Room, cells
from llm_envs.sokoban.distances import FAR, PushDistances, push_distances


class Deadlock(StrEnum):
    """Why a position is lost.

    Names follow the usual ones: a *simple* deadlock is a box on a cell from which it can't reach any goal, a *freeze*
    deadlock a box off the goals that can't be pushed again, a *bipartite* one a set of boxes with too few goals for it.
    """

    SIMPLE = "simple"
    FREEZE = "freeze"
    BIPARTITE = "bipartite"


@dataclass(frozen=True, slots=True)
class Assessment:
    """What is known of a set of boxes without searching.

    Attributes:
        pushes: a lower bound of the pushes to the solution; None in a deadlock.
        potential: see `assess`.
    """

    deadlock: Deadlock | None
    pushes: int | None
    potential: float


@lru_cache(maxsize=1 << 15)
def assess(room: Room, boxes: int) -> Assessment:
    """The deadlock and the potential of a position.

    potential = 1/2 * (boxes on goals / boxes) + 1/2 * (1 - pushes / longest), and 0 in a detected deadlock, where
    `pushes` is the lower bound of `PushDistances.bound` and `longest` the room's largest. Where the player stands does
    not matter, and neither does how the boxes came there. It is 1 only when solved, since any other position needs a
    push.
    """
    distances = push_distances(room)
    deadlock = find_deadlock(room, boxes, distances)
    if deadlock is not None:
        return Assessment(deadlock, None, 0.0)
    pushes = distances.bound(boxes)
    share = (boxes & room.goals).bit_count() / boxes.bit_count()
    return Assessment(None, pushes, (share + 1.0 - pushes / max(1, distances.longest)) / 2)


def find_deadlock(room: Room, boxes: int, distances: PushDistances) -> Deadlock | None:
    """The first kind of deadlock that applies, in the order of `Deadlock`."""
    if boxes & ~distances.live:
        return Deadlock.SIMPLE
    solid, dead = room.walls, room.floor & ~distances.live
    if any(is_frozen(boxes, 1 << cell, solid, dead, room.cols) for cell in cells(boxes & ~room.goals)):
        return Deadlock.FREEZE
    return Deadlock.BIPARTITE if distances.bound(boxes) >= FAR else None


def is_frozen(boxes: int, box: int, solid: int, dead: int, cols: int) -> bool:
    """Whether a box can't be pushed along either axis, or only onto dead cells.

    It is stuck along an axis where a neighbour is solid, both neighbours are dead, or a neighbour is itself a frozen
    box; boxes already looked at count as solid, for of boxes that only hold one another none can go first.

    Args:
        boxes, box: the set of all boxes, and the one asked for.
        solid: walls and boxes taken as such.
        dead: floor from which a box reaches no goal.
        cols: columns of the room.
    """
    for step in (1, cols):
        before, after = box >> step, box << step
        if (before | after) & solid or (before & dead and after & dead):
            continue
        if not any(near & boxes and is_frozen(boxes, near, solid | box, dead, cols) for near in (before, after)):
            return False
    return True

"""A push-optimal solver: A* over pushes, with the least-cost assignment of boxes to goals as its lower bound.

A node is a set of boxes and the area the player can walk in; walks between pushes cost nothing. The bound never falls
by more than one a push, so that the first time a node is taken up its cost is final, and the smallest estimate in the
queue is a proven lower bound at any time (A*: doi 10.1109/TSSC.1968.300136; the bound is the usual one, see Junghanns
and Schaeffer 2001, doi 10.1016/S0004-3702(01)00109-6).
"""

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from llm_envs.sokoban.board import Board, Move, Room, cells, shift, spread, walk_to
from llm_envs.sokoban.deadlocks import is_frozen
from llm_envs.sokoban.distances import FAR, PushDistances, push_distances

NODE_BUDGET = 20_000  # nodes taken up by one search; every Boxoban level tried needed a fraction
GREEDY = 5  # weight of the bound in the second search, which wants any plan


@dataclass(frozen=True, slots=True)
class Push:
    """One push: the box's cell before it, and the direction."""

    cell: int
    move: Move


@dataclass(frozen=True, slots=True)
class PushBounds:
    """What is proven of the smallest number of pushes that solve a board.

    Attributes:
        lower: no plan has fewer; None where it is proven that there is no plan.
        upper: a plan with that many is known; None where none is.
    """

    lower: int | None
    upper: int | None

    @property
    def optimal(self) -> int | None:
        """The smallest number of pushes, where it is known."""
        return self.upper if self.lower == self.upper else None


@dataclass(frozen=True, slots=True)
class Solution:
    """What the solver found.

    Attributes:
        pushes: a plan, or None; it is one of the shortest where `bounds.optimal` is not None.
        nodes: nodes taken up.
    """

    pushes: tuple[Push, ...] | None
    bounds: PushBounds
    nodes: int


def solve(board: Board, node_budget: int = NODE_BUDGET) -> Solution:
    """A plan with the fewest pushes where A* ends within the budget, else any that a second, greedier search finds."""
    best = _Search(board, weight=1)
    found = best.run(node_budget)
    if found is not None:
        return Solution(found, PushBounds(len(found), len(found)), best.nodes)
    if not best.queue:
        return Solution(None, PushBounds(None, None), best.nodes)
    any_plan = _Search(board, weight=GREEDY)
    found = any_plan.run(node_budget)
    bounds = PushBounds(best.queue[0][0], None if found is None else len(found))
    return Solution(found, bounds, best.nodes + any_plan.nodes)


def tighten(board: Board, known: PushBounds, node_budget: int = NODE_BUDGET) -> PushBounds:
    """Bounds that are known already, made exact where A* ends within the budget, else as close as it came."""
    if known.optimal is not None:
        return known
    solved = solve(board, node_budget).bounds
    if solved.lower is None:
        return solved
    lower = solved.lower if known.lower is None else max(known.lower, solved.lower)
    return PushBounds(lower, min((upper for upper in (known.upper, solved.upper) if upper is not None), default=None))


def moves_of(board: Board, pushes: Iterable[Push]) -> list[Move]:
    """The moves of a plan: before each push a shortest walk to where it starts.

    Raises:
        ValueError: a push that can't be made.
    """
    room, moves = board.room, list[Move]()
    for push in pushes:
        step = room.steps[push.move]
        source, target = 1 << push.cell, 1 << push.cell + step
        if not board.boxes & source or (room.walls | board.boxes) & target:
            raise ValueError(f"push={push}: there is no box, or no room behind it")
        moves += walk_to(board, push.cell - step)
        moves.append(push.move)
        board = Board(room, board.boxes ^ source ^ target, push.cell)
    return moves


def successors(room: Room, boxes: int, reach: int, onto: int) -> Iterator[tuple[int, int, Move]]:
    """The set of boxes after each possible push onto a cell of `onto`, the box's cell before it, and the direction."""
    onto &= ~boxes
    for move, step in room.steps.items():
        for target in cells(shift(shift(reach, step) & boxes, step) & onto):
            yield boxes ^ (1 << target | 1 << target - step), target - step, move


_Node = tuple[int, int]  # the set of boxes, the area in which the player can walk


class _Search:
    """One run of A*, or of weighted A* where `weight` is above 1.

    `queue` holds (estimate, bound, -serial, node): among equal estimates the one nearest the goal, then the latest.
    """

    def __init__(self, board: Board, weight: int) -> None:
        room = self._room = board.room
        self._weight = weight
        self._distances: PushDistances = push_distances(room)
        self._dead = room.floor & ~self._distances.live
        self._bounds: dict[int, int] = {}
        start = (board.boxes, spread(1 << board.player, room.floor & ~board.boxes, room.cols))
        self._came: dict[_Node, tuple[_Node, int, Move] | None] = {start: None}
        self._cost = {start: 0}
        bound = self._bound(board.boxes)
        self.queue: list[tuple[int, int, int, _Node]] = [] if bound >= FAR else [(weight * bound, bound, 0, start)]
        self.nodes = 0

    def run(self, node_budget: int) -> tuple[Push, ...] | None:
        """The pushes of the first plan, or None: then the queue is empty if there is none, else the budget is spent."""
        closed: set[_Node] = set()
        while self.queue and self.nodes < node_budget:
            node = heapq.heappop(self.queue)[3]
            if node in closed:
                continue
            if node[0] == self._room.goals:
                return self._plan(node)
            closed.add(node)
            self.nodes += 1
            self._take_up(node)
        while self.queue and self.queue[0][3] in closed:
            heapq.heappop(self.queue)
        return None

    def _take_up(self, node: _Node) -> None:
        """Queue what one push leads to, unless it is lost or was reached as cheaply."""
        room, (boxes, reach) = self._room, node
        cost = self._cost[node] + 1
        for after, cell, move in successors(room, boxes, reach, self._distances.live):
            bound = self._bound(after)
            if bound >= FAR:
                continue
            reached = (after, spread(1 << cell, room.floor & ~after, room.cols))
            if self._cost.get(reached, cost + 1) <= cost or self._is_frozen(after, boxes):
                continue
            self._cost[reached] = cost
            self._came[reached] = (node, cell, move)
            heapq.heappush(self.queue, (cost + self._weight * bound, bound, -len(self._came), reached))

    def _is_frozen(self, boxes: int, before: int) -> bool:
        """Whether the box that was just pushed froze, and with it a box off the goals."""
        room, moved = self._room, boxes & ~before
        if not is_frozen(boxes, moved, room.walls, self._dead, room.cols):
            return False
        off = boxes & ~room.goals
        return any(is_frozen(boxes, 1 << cell, room.walls, self._dead, room.cols) for cell in cells(off))

    def _bound(self, boxes: int) -> int:
        bound = self._bounds.get(boxes)
        if bound is None:
            bound = self._bounds[boxes] = self._distances.bound(boxes)
        return bound

    def _plan(self, node: _Node) -> tuple[Push, ...]:
        pushes: list[Push] = []
        while (step := self._came[node]) is not None:
            node, cell, move = step
            pushes.append(Push(cell, move))
        return tuple(reversed(pushes))

"""What the way from each cell to the goal costs."""

import heapq
from collections.abc import Iterable, Sequence

from llm_envs.plan_path.moves import Ways

UNREACHABLE = -1


def distance_field(near: Sequence[Iterable[int]], blocked: frozenset[int], goal: int) -> tuple[int, ...]:
    """Moves from each cell to the goal along a shortest path (breadth-first search), or `UNREACHABLE`.

    Args:
        near: for each cell those that a move leads to, walls aside.
        blocked: cells that nothing enters.
        goal: where the paths end.
    """
    distances = [UNREACHABLE] * (len(near) + 1)  # the last place is that of `OUTSIDE`, which is -1
    for cell in blocked:
        distances[cell] = 0  # so that one look tells what is still to be reached
    distances[goal] = 0
    queue = [goal]
    for cell in queue:
        distance = distances[cell] + 1
        for target in near[cell]:
            if distances[target] < 0:
                distances[target] = distance
                queue.append(target)
    for cell in blocked:
        distances[cell] = UNREACHABLE
    return tuple(distances[:-1])


def cost_field(ways: Ways, blocked: frozenset[int], goal: int, costs: Sequence[int]) -> tuple[int, ...]:
    """The least cost of a way from each cell to the goal (Dijkstra 1959), or `UNREACHABLE`.

    Every move has a way back, so that the search can start at the goal and go against the moves.

    Args:
        ways: where moves lead.
        blocked: cells that nothing enters.
        goal: where the ways end.
        costs: what entering each cell costs, at least 1.
    """
    least = [UNREACHABLE] * len(ways)
    queue = [(0, goal)]
    while queue:
        cost, cell = heapq.heappop(queue)
        if least[cell] >= 0:
            continue
        least[cell] = cost
        onward = cost + costs[cell]
        for source in ways[cell].values():
            if source not in blocked and least[source] < 0:
                heapq.heappush(queue, (onward, source))
    return tuple(least)

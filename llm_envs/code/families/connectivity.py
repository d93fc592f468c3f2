"""Families about what in a graph hangs together."""

import random
from typing import Any

from llm_envs.code.families.base import Family, Mutant
from llm_envs.code.families.shapes import pairs, size
from llm_envs.code.families.values import Argument, Kind
from llm_envs.core.draws import pick, shuffled, whole


def work_order(tasks: int, rules: list[list[int]], *, needs: bool, largest: bool) -> list[int]:
    """Kahn (1962), with a heap of the tasks that are ready."""
    import heapq

    later: list[list[int]] = [[] for _ in range(tasks)]
    waiting = [0] * tasks
    for one, other in rules:
        before, after = (other, one) if needs else (one, other)
        later[before].append(after)
        waiting[after] += 1
    sign = -1 if largest else 1
    ready = [sign * task for task in range(tasks) if waiting[task] == 0]
    heapq.heapify(ready)
    order = []
    while ready:
        task = sign * heapq.heappop(ready)
        order.append(task)
        for after in later[task]:
            waiting[after] -= 1
            if waiting[after] == 0:
                heapq.heappush(ready, sign * after)
    return order


def _work_order_statement(parameters: dict[str, Any]) -> str:
    rule = "`b` must be done before `a`" if parameters["needs"] else "`a` must be done before `b`"
    which = "largest" if parameters["largest"] else "smallest"
    return (
        f"Tasks are done one after the other. Each rule `a b` says that {rule}; the same rule may come more than once. "
        f"At every moment the task with the {which} number is done next among those that are not done and for which "
        "all that must be done before them is done. Give the tasks in the order in which they are done, until none can "
        "be done any more: tasks that wait for each other in a circle, or for such tasks, are left out."
    )


def _work_order_draw(rng: random.Random, level: int, parameters: dict[str, Any]) -> tuple[Any, ...]:
    tasks = size(rng, level, 1, (7, 9, 12))
    names = shuffled(rng, range(tasks))
    rules = [sorted(pair) for pair in pairs(rng, tasks, whole(rng, tasks // 3, tasks) if rng.random() < 0.9 else 0)]
    rules = [[names[one], names[other]][:: -1 if parameters["needs"] else 1] for one, other in rules]
    if rules and rng.random() < 0.45:
        rules.append(pick(rng, rules)[:: pick(rng, (-1, 1))])  # a circle, or a rule that comes twice
    return tasks, rules


WORK_ORDER = Family(
    name="work_order",
    idea="topological order by Kahn's algorithm with a heap",
    arguments=(
        Argument("tasks", Kind.INT, "how many tasks there are, from 1 to 12; they are numbered from 0"),
        Argument("rules", Kind.ROWS, "up to 20 rows `a b` with different tasks `a` and `b`"),
    ),
    result=Kind.INTS,
    solve=work_order,
    parameters=lambda rng, level: {"needs": rng.random() < 0.5, "largest": level > 1 and rng.random() < 0.5},
    statement=_work_order_statement,
    draw=_work_order_draw,
    mutants=(
        Mutant("reads rules the wrong way round", "if needs else", "if not needs else"),
        Mutant("does tasks in the order in which they got ready", "heapq.heappop(ready)", "ready.pop(0)"),
        Mutant("does the task that got ready last", "heapq.heappop(ready)", "ready.pop()"),
        Mutant("notes that a task waits, not for how many", "waiting[after] += 1", "waiting[after] = 1"),
        Mutant("gives nothing if there is a circle", "return order", "return order if len(order) == tasks else []"),
        Mutant(
            "puts a task that got ready at the end", "heapq.heappush(ready, sign * after)", "ready.append(sign * after)"
        ),
    ),
)


def bridges(nodes: int, roads: list[list[int]], *, least: int) -> list[int]:
    """Tarjan (1974): a road is a bridge if no road leads from below it to above it."""
    near: list[list[tuple[int, int]]] = [[] for _ in range(nodes)]
    for road, (start, end) in enumerate(roads):
        near[start].append((end, road))
        near[end].append((start, road))
    order: dict[int, int] = {}
    low, below, found = [0] * nodes, [1] * nodes, []

    def visit(node: int, arrived: int) -> None:
        order[node] = low[node] = len(order)
        for target, road in near[node]:
            if road == arrived:
                continue
            if target in order:
                low[node] = min(low[node], order[target])
                continue
            visit(target, road)
            below[node] += below[target]
            low[node] = min(low[node], low[target])
            if low[target] > order[node]:
                found.append((road, below[target], root))

    for root in range(nodes):
        if root not in order:
            visit(root, -1)
    return sorted(road for road, part, root in found if least <= part <= below[root] - least)


def _bridges_statement(parameters: dict[str, Any]) -> str:
    return (
        "Each road `a b` joins towns `a` and `b` in both directions; several roads may join the same towns, and roads "
        "are numbered from 0 in the given order. A road is critical if closing it (alone) cuts its two ends off from "
        f"each other and leaves each end in a group of connected towns of size at least {parameters['least']} (the end "
        "itself counts). Give the numbers of all critical roads in increasing order; there may be none."
    )


def _bridges_draw(rng: random.Random, level: int, _parameters: dict[str, Any]) -> tuple[Any, ...]:
    nodes = size(rng, level, 2, (6, 9, 12))
    roads = [[max(0, place - whole(rng, 1, 3)), place] for place in range(1, nodes) if rng.random() < 0.7]
    roads += pairs(rng, nodes, whole(rng, 0, nodes // 3), reach=3)
    if roads and rng.random() < 0.4:  # the same towns again: neither road is a bridge then
        roads.append(pick(rng, roads)[:: pick(rng, (-1, 1))])
    return nodes, shuffled(rng, roads)


BRIDGES = Family(
    name="bridges",
    idea="bridges of a multigraph by depth-first search with low links",
    arguments=(
        Argument("nodes", Kind.INT, "the number of towns, from 2 to 12; they are numbered from 0"),
        Argument("roads", Kind.ROWS, "up to 20 rows `a b` with different towns `a` and `b`"),
    ),
    result=Kind.INTS,
    solve=bridges,
    parameters=lambda rng, level: {"least": 1 if level == 1 else whole(rng, 1, 2)},
    statement=_bridges_statement,
    draw=_bridges_draw,
    mutants=(
        Mutant(
            "takes a second road to the same town for the first",
            "road == arrived",
            "arrived >= 0 and target in roads[arrived]",
        ),
        Mutant("counts the last road of a circle", "low[target] > order[node]", "low[target] >= order[node]"),
        Mutant("looks at the towns connected to town 0 only", "for root in range(nodes):", "for root in range(1):"),
        Mutant("does not pass on how far up a road leads", "            low[node] = min(low[node], low[target])\n", ""),
        Mutant("gives roads in the order in which they are found", "sorted(road for", "list(road for"),
        Mutant("takes a town's number for its place in the search", "low[target] > order[node]", "low[target] > node"),
        Mutant(
            "one town too many on one side",
            "least <= part <= below[root] - least",
            "least <= part < below[root] - least",
        ),
    ),
)


def mutual_reach(nodes: int, signs: list[list[int]], *, largest: bool, closed: bool) -> list[int]:
    """Warshall (1962): `reach` grows by the ways that pass one more place."""
    reach = [[one == other for other in range(nodes)] for one in range(nodes)]
    for start, end in signs:
        reach[start][end] = True
    for middle in range(nodes):
        for start in range(nodes):
            if reach[start][middle]:
                reach[start] = [one or other for one, other in zip(reach[start], reach[middle], strict=True)]
    answers = []
    for place in range(nodes):
        group = [other for other in range(nodes) if reach[place][other] and reach[other][place]]
        if closed and len(group) < sum(reach[place]):
            answers.append(-1)
        else:
            answers.append(max(group) if largest else min(group))
    return answers


def _mutual_reach_statement(parameters: dict[str, Any]) -> str:
    which = "largest" if parameters["largest"] else "smallest"
    rest = (
        " But give -1 for every place from which the signs lead, however far, to some place that is not in its group."
        if parameters["closed"]
        else ""
    )
    return (
        "Each sign `a b` leads from place `a` to place `b`, not back. Two places are in the same group if following "
        "signs leads from each of them to the other; a place is always in a group with itself. For every place in turn "
        f"give the {which} number of a place in its group.{rest}"
    )


def _mutual_reach_draw(rng: random.Random, level: int, _parameters: dict[str, Any]) -> tuple[Any, ...]:
    nodes = size(rng, level, 1, (6, 8, 10))
    signs = pairs(rng, nodes, whole(rng, nodes // 2, nodes), reach=3, loops=rng.random() < 0.2)
    if rng.random() < 0.8:
        ring = shuffled(rng, range(nodes))[: whole(rng, 2, 6)]
        signs += [[one, other] for one, other in zip(ring, [*ring[1:], ring[0]], strict=True)]
    return nodes, shuffled(rng, signs)


MUTUAL_REACH = Family(
    name="mutual_reach",
    idea="strongly connected components of a directed graph",
    arguments=(
        Argument("nodes", Kind.INT, "the number of places, from 1 to 10; they are numbered from 0"),
        Argument("signs", Kind.ROWS, "up to 20 rows `a b`; `a` and `b` may be the same place"),
    ),
    result=Kind.INTS,
    solve=mutual_reach,
    parameters=lambda rng, level: {"largest": rng.random() < 0.5, "closed": level > 1 and rng.random() < 0.5},
    statement=_mutual_reach_statement,
    draw=_mutual_reach_draw,
    mutants=(
        Mutant(
            "tries each place as a stop for one start after the other",
            "    for middle in range(nodes):\n        for start in range(nodes):\n",
            "    for start in range(nodes):\n        for middle in range(nodes):\n",
        ),
        Mutant("follows the signs in one direction only", " and reach[other][place]]", "]"),
        Mutant("takes signs for two-way", "reach[start][end] = True", "reach[start][end] = reach[end][start] = True"),
        Mutant("largest and smallest mixed up", "if largest else", "if not largest else"),
        Mutant(
            "forgets where a place led before",
            "[one or other for one, other in zip(reach[start], reach[middle], strict=True)]",
            "reach[middle][:]",
        ),
        Mutant(
            "never goes on from a stop", "            if reach[start][middle]:\n", "            if start == middle:\n"
        ),
    ),
)

FAMILIES = (WORK_ORDER, BRIDGES, MUTUAL_REACH)

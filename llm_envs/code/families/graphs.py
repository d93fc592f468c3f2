"""Families about graphs whose edges have costs."""

import random
from typing import Any

from llm_envs.code.families.base import Family, Mutant
from llm_envs.code.families.shapes import roads, size
from llm_envs.code.families.values import Argument, Kind
from llm_envs.core.draws import pick, shuffled, whole

MOST_ROADS = 40

_NODES = Argument("nodes", Kind.INT, "the number of towns, from 1 to 12; they are numbered from 0")


def cheapest_route(nodes: int, roads: list[list[int]], *, directed: bool, most: bool) -> list[int]:
    """Dijkstra (1959), with the number of roads as the second part of the key."""
    import heapq

    near: list[list[tuple[int, int]]] = [[] for _ in range(nodes)]
    for start, end, cost in roads:
        near[start].append((end, cost))
        if not directed:
            near[end].append((start, cost))
    sign = -1 if most else 1
    settled = set()
    queue = [(0, 0, 0)]
    while queue:
        cost, used, node = heapq.heappop(queue)
        if node == nodes - 1:
            return [cost, sign * used]
        if node in settled:
            continue
        settled.add(node)
        for target, price in near[node]:
            if target not in settled:
                heapq.heappush(queue, (cost + price, used + sign, target))
    return [-1]


def _cheapest_route_statement(parameters: dict[str, Any]) -> str:
    way = "can be used from `a` to `b` only" if parameters["directed"] else "can be used in both directions"
    tie = "most" if parameters["most"] else "fewest"
    return (
        f"Each road `a b c` joins towns `a` and `b`, costs `c` and {way}; several roads may join the same towns. Find "
        "the least total cost of a route from town 0 to the last town, and the number of roads on such a route; of "
        f"several routes with the least cost take one with the {tie} roads. Give two numbers: the cost and the number "
        "of roads. If the first town is the last, both are 0. If there is no route, give the single number -1."
    )


def _cheapest_route_draw(rng: random.Random, level: int, _parameters: dict[str, Any]) -> tuple[Any, ...]:
    nodes = size(rng, level, 1, (6, 9, 12))
    ways = roads(rng, nodes, whole(rng, nodes, 2 * nodes), (1, 3), reach=2)
    for place in range(nodes - 2):  # two roads for the price of one
        if rng.random() < 0.4:
            cost = whole(rng, 1, 2)
            ways += [[place, place + 1, cost], [place + 1, place + 2, cost], [place, place + 2, 2 * cost]]
    return nodes, shuffled(rng, ways)[:MOST_ROADS]


CHEAPEST_ROUTE = Family(
    name="cheapest_route",
    idea="shortest path by Dijkstra's algorithm, with the number of edges as a tie-break",
    arguments=(
        _NODES,
        Argument(
            "roads", Kind.ROWS, f"up to {MOST_ROADS} rows `a b c` with different towns `a` and `b` and 1 <= c <= 9"
        ),
    ),
    result=Kind.INTS,
    solve=cheapest_route,
    parameters=lambda rng, level: {"directed": rng.random() < 0.5, "most": level > 1 and rng.random() < 0.6},
    statement=_cheapest_route_statement,
    draw=_cheapest_route_draw,
    mutants=(
        Mutant("one-way and two-way roads mixed up", "if not directed:", "if directed:"),
        Mutant("the tie is broken the wrong way", "-1 if most else 1", "1 if most else -1"),
        Mutant("takes routes in the order in which they were found", "heapq.heappop(queue)", "queue.pop(0)"),
        Mutant(
            "looks for the fewest roads first", "(cost + price, used + sign, target)", "(price, used + sign, target)"
        ),
        Mutant(
            "stops when the last town is first seen, not when it is settled",
            "            if target not in settled:",
            "            if target == nodes - 1:\n"
            "                return [cost + price, sign * (used + sign)]\n"
            "            if target not in settled:",
        ),
        Mutant("takes the greatest cost of a road for the sum", "(cost + price,", "(max(cost, price),"),
    ),
)


def limited_flights(nodes: int, flights: list[list[int]], *, legs: int, exact: bool) -> list[int]:
    """Bellman and Ford, one round a flight."""
    best = [0] + [-1] * (nodes - 1)
    for _ in range(legs):
        after = [-1] * nodes if exact else best[:]
        for start, end, price in flights:
            if best[start] >= 0 and (after[end] < 0 or best[start] + price < after[end]):
                after[end] = best[start] + price
        best = after
    return best


def _limited_flights_statement(parameters: dict[str, Any]) -> str:
    bound = "exactly" if parameters["exact"] else "at most"
    first = (
        "is no exception, and takes so many, too" if parameters["exact"] else "itself is reached for 0 with no flight"
    )
    return (
        "Each flight `a b c` goes from airport `a` to airport `b` (not back) and costs `c`; several flights may "
        "go from the same airport to the same other one. For every airport in turn, give the least total price of a "
        f"journey from airport 0 to it with {bound} {parameters['legs']} flights, or -1 if there is none. A journey "
        f"may pass the same airport, and take the same flight, several times; airport 0 {first}."
    )


def _limited_flights_draw(rng: random.Random, level: int, _parameters: dict[str, Any]) -> tuple[Any, ...]:
    nodes = size(rng, level, 1, (5, 7, 9))
    flights = roads(rng, nodes, whole(rng, nodes // 2, 2 * nodes), (0, 20), reach=3)
    if rng.random() < 0.7:  # a chain of cheap flights tempts to fly more often than is allowed
        flights += [[place, place + 1, whole(rng, 0, 2)] for place in range(nodes - 1)]
    return nodes, shuffled(rng, flights)


LIMITED_FLIGHTS = Family(
    name="limited_flights",
    idea="shortest paths with a bounded number of edges by rounds of Bellman and Ford",
    arguments=(
        Argument("nodes", Kind.INT, "the number of airports, from 1 to 9; they are numbered from 0"),
        Argument("flights", Kind.ROWS, "up to 30 rows `a b c` with different airports `a` and `b` and 0 <= c <= 20"),
    ),
    result=Kind.INTS,
    solve=limited_flights,
    parameters=lambda rng, level: {"legs": whole(rng, 2, 2 + level), "exact": level > 1 and rng.random() < 0.5},
    statement=_limited_flights_statement,
    draw=_limited_flights_draw,
    mutants=(
        Mutant(
            "reads prices that this round has changed",
            "if best[start] >= 0 and (after[end] < 0 or best[start] + price < after[end]):\n"
            "                after[end] = best[start] + price",
            "if after[start] >= 0 and (after[end] < 0 or after[start] + price < after[end]):\n"
            "                after[end] = after[start] + price",
        ),
        Mutant(
            "takes flights in both directions",
            "price in flights:",
            "price in flights + [[end, start, price] for start, end, price in flights]:",
        ),
        Mutant("one flight too many", "range(legs)", "range(legs + 1)"),
        Mutant("one flight too few", "range(legs)", "range(legs - 1)"),
        Mutant("takes a price of 0 for no journey", "best[start] >= 0", "best[start] > 0 or start == 0"),
        Mutant(
            "the last flight between two airports counts, not the cheapest",
            " and (after[end] < 0 or best[start] + price < after[end])",
            "",
        ),
        Mutant("pays the last flight only", "after[end] = best[start] + price", "after[end] = price"),
    ),
)


def spanning_forest(nodes: int, roads: list[list[int]], *, dearest: bool, built: int) -> list[int]:
    """Kruskal (1956)."""
    parent = list(range(nodes))

    def find(node: int) -> int:
        while parent[node] != node:
            node = parent[node]
        return node

    total, parts = 0, nodes
    order = roads[:built] + sorted(roads[built:], key=lambda road: road[2], reverse=dearest)
    for place, (start, end, cost) in enumerate(order):
        one, other = find(start), find(end)
        if one != other:
            parent[one] = other
            parts -= 1
            if place >= built:
                total += cost
    return [total, parts]


def _spanning_forest_statement(parameters: dict[str, Any]) -> str:
    effect, most = ("brings", "greatest") if parameters["dearest"] else ("costs", "least")
    return (
        f"Each plan `a b c` is for a two-way road between towns `a` and `b` that {effect} `c`. The first "
        f"{parameters['built']} roads of the list (all, if there are fewer) are built already. Build others so that "
        "every two towns that all the roads together would connect are connected, but build none between towns that "
        f"are connected without it. Give two numbers: the {most} possible sum of `c` over the roads that you build, "
        "and the number of groups of connected towns there then are (a town without roads is a group)."
    )


def _spanning_forest_draw(rng: random.Random, level: int, _parameters: dict[str, Any]) -> tuple[Any, ...]:
    nodes = size(rng, level, 1, (6, 9, 12))
    found = roads(rng, nodes, whole(rng, nodes // 2, 2 * nodes), (1, 20))
    if found and rng.random() < 0.3:  # the same two towns again
        found += [[*pick(rng, found)[1::-1], whole(rng, 1, 20)] for _ in range(2)]
    return nodes, found


SPANNING_FOREST = Family(
    name="spanning_forest",
    idea="minimum spanning tree by Kruskal's algorithm with union-find",
    arguments=(
        _NODES,
        Argument(
            "roads", Kind.ROWS, f"up to {MOST_ROADS} rows `a b c` with different towns `a` and `b` and 1 <= c <= 20"
        ),
    ),
    result=Kind.INTS,
    solve=spanning_forest,
    parameters=lambda rng, level: {
        "dearest": rng.random() < 0.5,
        "built": whole(rng, level - 1, level),
    },
    statement=_spanning_forest_statement,
    draw=_spanning_forest_draw,
    mutants=(
        Mutant("least and greatest mixed up", "reverse=dearest", "reverse=not dearest"),
        Mutant(
            "takes the plans in the given order",
            "sorted(roads[built:], key=lambda road: road[2], reverse=dearest)",
            "roads[built:]",
        ),
        Mutant("sorts by the numbers of the towns", "road[2], reverse", "road[:2], reverse"),
        Mutant("joins the towns, not their groups", "parent[one] = other", "parent[start] = end"),
        Mutant("follows one link to the group only", "while parent[node] != node:", "if parent[node] != node:"),
        Mutant(
            "counts a group less for every road",
            "        if one != other:\n            parent[one] = other\n            parts -= 1\n",
            "        parts -= 1\n        if one != other:\n            parent[one] = other\n",
        ),
        Mutant("builds roads inside a group", "        if one != other:", "        if start != end:"),
    ),
)

FAMILIES = (CHEAPEST_ROUTE, LIMITED_FLIGHTS, SPANNING_FOREST)

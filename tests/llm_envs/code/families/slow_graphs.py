"""Slow programs for families about graphs, trees and grids, by the words of the statement alone."""

import itertools
from functools import cache

Roads = list[list[int]]


def groups(nodes: int, roads: Roads) -> list[set[int]]:
    found = [{node} for node in range(nodes)]
    for start, end, *_ in roads:
        joined = [group for group in found if start in group or end in group]
        found = [group for group in found if group not in joined] + [set().union(*joined)]
    return found


def reached(start: int, signs: Roads) -> set[int]:
    seen = {start}
    for _ in signs:
        seen |= {end for begin, end in signs if begin in seen}
    return seen


def cheapest_route(nodes: int, roads: Roads, *, directed: bool, most: bool) -> list[int]:
    ways = roads if directed else roads + [[end, start, cost] for start, end, cost in roads]
    routes = {(0, 0, 0)}  # node, cost, roads; a cheapest route passes no town twice
    for _ in range(nodes - 1):
        routes |= {
            (end, cost + more, used + 1) for node, cost, used in routes for start, end, more in ways if node == start
        }
    found = [(cost, used) for node, cost, used in routes if node == nodes - 1]
    if not found:
        return [-1]
    least = min(cost for cost, _ in found)
    return [least, (max if most else min)(used for cost, used in found if cost == least)]


def limited_flights(nodes: int, flights: Roads, *, legs: int, exact: bool) -> list[int]:
    best: dict[int, int] = {}
    places = {(0, 0)}
    for leg in range(legs + 1):
        for node, price in places if leg == legs or not exact else ():
            best[node] = min(price, best.get(node, price))
        places = {(end, price + more) for node, price in places for start, end, more in flights if start == node}
    return [best.get(node, -1) for node in range(nodes)]


def spanning_forest(nodes: int, roads: Roads, *, dearest: bool, built: int) -> list[int]:
    parts = len(groups(nodes, roads))
    before = len(groups(nodes, roads[:built]))
    sums = [
        sum(cost for *_, cost in chosen)
        for chosen in itertools.combinations(roads[built:], before - parts)
        if len(groups(nodes, [*roads[:built], *chosen])) == parts
    ]
    return [max(sums) if dearest else min(sums), parts]


def bridges(nodes: int, roads: Roads, *, least: int) -> list[int]:
    found = []
    for place, (start, end) in enumerate(roads):
        after = groups(nodes, roads[:place] + roads[place + 1 :])
        mine, other = (next(group for group in after if node in group) for node in (start, end))
        if mine is not other and min(len(mine), len(other)) >= least:
            found.append(place)
    return found


def mutual_reach(nodes: int, signs: Roads, *, largest: bool, closed: bool) -> list[int]:
    answers = []
    for node in range(nodes):
        group = [other for other in reached(node, signs) if node in reached(other, signs)]
        leads_out = closed and reached(node, signs) != set(group)
        answers.append(-1 if leads_out else max(group) if largest else min(group))
    return answers


def closed_roads(nodes: int, roads: Roads, *, tunnel: int, largest: bool) -> list[int]:
    under = [[0, node] for node in range(min(tunnel, nodes))]
    after = [groups(nodes, [*under, *roads[place + 1 :]]) for place in range(len(roads))]
    return [max(map(len, found)) if largest else len(found) for found in after]


def work_order(tasks: int, rules: Roads, *, needs: bool, largest: bool) -> list[int]:
    order: list[int] = []
    while True:
        held = {rule[0 if needs else 1] for rule in rules if rule[1 if needs else 0] not in order}
        free = set(range(tasks)) - held - set(order)
        if not free:
            return order
        order.append(max(free) if largest else min(free))


def two_camps(people: int, quarrels: Roads, *, larger: bool, alone: bool) -> list[int]:
    answers = []
    for circle in sorted(groups(people, quarrels), key=min):
        inside = [pair for pair in quarrels if pair[0] in circle]
        if not inside and not alone:
            continue
        sizes = {
            count
            for count in range(len(circle) + 1)
            for camp in itertools.combinations(circle, count)
            if all((one in camp) != (other in camp) for one, other in inside)
        }
        answers.append((max(sizes) if larger else min(sizes)) if sizes else -1)
    return answers


def longest_walk(parents: list[int], lengths: list[int], *, fee: int) -> int:
    def line(node: int) -> list[int]:
        return [node, *(line(parents[node]) if parents[node] >= 0 else [])]

    best = 0
    for one, other in itertools.combinations(range(len(parents)), 2):
        top = next(node for node in line(one) if node in line(other))
        edges = [node for start in (one, other) for node in line(start)[: line(start).index(top)]]
        best = max(best, sum(lengths[node] for node in edges) + fee * (len(edges) - 1))
    return best


def full_squares(field: list[str], *, least: int) -> list[int]:
    sides = [
        side
        for row, line in enumerate(field)
        for column in range(len(line))
        for side in range(1, min(len(field) - row, len(line) - column) + 1)
        if all(set(below[column : column + side]) == {"#"} for below in field[row : row + side])
    ]
    return [sum(side >= least for side in sides), max(sides, default=0)]


def board_paths(field: list[str], *, modulus: int, diagonal: bool) -> int:
    @cache
    def paths(row: int, column: int) -> int:
        if row < 0 or column < 0 or field[row][column] == "#":
            return 0
        if row == column == 0:
            return 1
        return paths(row - 1, column) + paths(row, column - 1) + diagonal * paths(row - 1, column - 1)

    return paths(len(field) - 1, len(field[0]) - 1) % modulus


def token_game(nodes: int, moves: Roads, *, stuck_wins: bool) -> str:
    """Who wins within so many moves, for ever more of them."""
    after = [[end for start, end in moves if start == node] for node in range(nodes)]
    state = ["w" if stuck_wins and not ends else "l" if not ends else "d" for ends in after]
    for _ in range(2 * nodes):
        results = [{state[end] for end in ends} for ends in after]
        state = [
            state[node] if not after[node] else "w" if "l" in found else "d" if "d" in found else "l"
            for node, found in enumerate(results)
        ]
    return "".join(state)

"""Families about the connected parts of a graph."""

import random
from typing import Any

from llm_envs.code.families.base import Family, Mutant
from llm_envs.code.families.shapes import pairs, size
from llm_envs.code.families.values import Argument, Kind
from llm_envs.core.draws import pick, shuffled, whole


def closed_roads(nodes: int, roads: list[list[int]], *, tunnel: int, largest: bool) -> list[int]:
    """Union-find backward in time, since it can join groups but not part them."""
    parent = [0 if node < tunnel else node for node in range(nodes)]
    sizes = [1] * nodes
    sizes[0] = most = min(tunnel, nodes)
    groups = nodes - most + 1

    def find(node: int) -> int:
        while parent[node] != node:
            node = parent[node]
        return node

    answers = []
    for start, end in reversed(roads):
        answers.append(most if largest else groups)
        one, other = find(start), find(end)
        if one != other:
            groups -= 1
            parent[one] = other
            sizes[other] += sizes[one]
            most = max(most, sizes[other])
    return answers[::-1]


def _closed_roads_statement(parameters: dict[str, Any]) -> str:
    asked = (
        "the number of towns in the largest group of connected towns"
        if parameters["largest"]
        else "the number of groups of connected towns (a town that is connected to no other one is a group)"
    )
    return (
        "Each road `a b` joins towns `a` and `b` in both directions; several roads may join the same towns. At first "
        "all roads are open. They are closed one after the other in the given order and stay closed. The towns whose "
        f"numbers are less than {parameters['tunnel']} are connected by a tunnel, which is always open. For every "
        f"closing in turn give {asked} right after it; without roads give nothing."
    )


def _closed_roads_draw(rng: random.Random, level: int, _parameters: dict[str, Any]) -> tuple[Any, ...]:
    nodes = size(rng, level, 1, (5, 8, 12))
    return nodes, pairs(
        rng, nodes, whole(rng, nodes // 2, nodes + 2) if rng.random() < 0.8 else whole(rng, 0, 1), reach=3
    )


CLOSED_ROADS = Family(
    name="closed_roads",
    idea="groups under deletions: union-find that goes backward in time",
    arguments=(
        Argument("nodes", Kind.INT, "the number of towns, from 1 to 12; they are numbered from 0"),
        Argument("roads", Kind.ROWS, "up to 14 rows `a b` with different towns `a` and `b`"),
    ),
    result=Kind.INTS,
    solve=closed_roads,
    parameters=lambda rng, level: {"tunnel": whole(rng, 2, 1 + level), "largest": rng.random() < 0.5},
    statement=_closed_roads_statement,
    draw=_closed_roads_draw,
    mutants=(
        Mutant(
            "gives the state before each closing",
            "    return answers[::-1]",
            "    answers.append(most if largest else groups)\n    return answers[:0:-1]",
        ),
        Mutant("gives the answers backward", "answers[::-1]", "answers"),
        Mutant("opens the roads in the given order", "reversed(roads)", "roads"),
        Mutant("joins the towns, not their groups", "one, other = find(start), find(end)", "one, other = start, end"),
        Mutant("joins groups that are one already", "if one != other:", "if start != end:"),
        Mutant("follows one link to the group only", "while parent[node] != node:", "if parent[node] != node:"),
        Mutant("the tunnel goes one town too far", "node < tunnel", "node <= tunnel"),
    ),
)


def two_camps(people: int, quarrels: list[list[int]], *, larger: bool, alone: bool) -> list[int]:
    """Two-colouring, breadth first."""
    near: list[list[int]] = [[] for _ in range(people)]
    for one, other in quarrels:
        near[one].append(other)
        near[other].append(one)
    camp: dict[int, int] = {}
    answers = []
    for first in range(people):
        if first in camp or (not alone and not near[first]):
            continue
        camp[first] = 0
        circle, fits = [first], True
        for one in circle:
            for other in near[one]:
                if other not in camp:
                    camp[other] = 1 - camp[one]
                    circle.append(other)
                elif camp[other] == camp[one]:
                    fits = False
        second = sum(camp[one] for one in circle)
        count = max(second, len(circle) - second) if larger else min(second, len(circle) - second)
        answers.append(count if fits else -1)
    return answers


def _two_camps_statement(parameters: dict[str, Any]) -> str:
    which = "larger" if parameters["larger"] else "smaller"
    one = 1 if parameters["larger"] else 0
    alone = (
        f"A person without quarrels is a circle, with the answer {one}."
        if parameters["alone"]
        else "People without quarrels are left out."
    )
    return (
        "Each quarrel `a b` is between persons `a` and `b`; the same quarrel may come more than once. A circle is a "
        "group of people that quarrels connect, directly or through others. Each circle is to be parted into two camps "
        "so that nobody quarrels with somebody in their own camp. For each circle, in the order of the smallest number "
        f"in it, give the size of the {which} camp (camps may be equal), or -1 if it cannot be parted so. {alone}"
    )


def _two_camps_draw(rng: random.Random, level: int, _parameters: dict[str, Any]) -> tuple[Any, ...]:
    people = size(rng, level, 1, (6, 9, 12))
    sides = [rng.random() < 0.5 for _ in range(people)]
    quarrels = [
        pair for pair in pairs(rng, people, whole(rng, people // 2, people)) if sides[pair[0]] != sides[pair[1]]
    ]
    if people > 2 and rng.random() < 0.5:  # now and then it cannot be done
        ring = shuffled(rng, range(people))[: pick(rng, (3, 3, 4, 5))]
        quarrels += [[one, other] for one, other in zip(ring, [*ring[1:], ring[0]], strict=True)]
    return people, shuffled(rng, quarrels)


TWO_CAMPS = Family(
    name="two_camps",
    idea="two-colouring of each component of a graph",
    arguments=(
        Argument("people", Kind.INT, "the number of persons, from 1 to 12; they are numbered from 0"),
        Argument("quarrels", Kind.ROWS, "up to 30 rows `a b` with different persons `a` and `b`"),
    ),
    result=Kind.INTS,
    solve=two_camps,
    parameters=lambda rng, level: {"larger": rng.random() < 0.5, "alone": level == 1 or rng.random() < 0.5},
    statement=_two_camps_statement,
    draw=_two_camps_draw,
    mutants=(
        Mutant("does not look whether a circle can be parted", "fits = False", "fits = True"),
        Mutant(
            "leaves out circles that cannot be parted",
            "answers.append(count if fits else -1)",
            "answers += [count] if fits else []",
        ),
        Mutant(
            "looks at the circle of the first person only",
            "for first in range(people):",
            "for first in range(min(people, 1)):",
        ),
        Mutant("smaller and larger mixed up", "if larger else", "if not larger else"),
        Mutant("notes quarrels on one side only", "        near[other].append(one)\n", ""),
        Mutant("alternates the camps in the order of finding", "1 - camp[one]", "len(circle) % 2"),
    ),
)

FAMILIES = (CLOSED_ROADS, TWO_CAMPS)

"""Families about rooted trees, given by the parent of each node."""

import random
from typing import Any

from llm_envs.code.families.base import Family, Mutant
from llm_envs.code.families.shapes import size, tree
from llm_envs.code.families.values import Argument, Kind
from llm_envs.core.draws import pick, whole

_PARENTS = Argument(
    "parents",
    Kind.INTS,
    "for each of the 1 to 14 nodes, numbered from 0, the number of its parent, or -1 for the root; every node lies "
    "below the one root, in no particular order",
)


def longest_walk(parents: list[int], lengths: list[int], *, fee: int) -> int:
    """The two longest arms of every node, from the leaves up."""
    children: list[list[int]] = [[] for _ in parents]
    for node, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(node)
    order = [parents.index(-1)]
    for node in order:
        order += children[node]
    best = 0
    down = [0] * len(parents)
    for node in reversed(order):
        arms = [lengths[child] + down[child] + (fee if children[child] else 0) for child in children[node]]
        arms.sort(reverse=True)
        down[node] = sum(arms[:1])
        best = max(best, sum(arms[:2]) + (fee if len(arms) > 1 else 0))
    return best


def _longest_walk_draw(rng: random.Random, level: int, _parameters: dict[str, Any]) -> tuple[Any, ...]:
    parents = tree(rng, size(rng, level, 1, (6, 9, 13)))
    if rng.random() < 0.5:  # a root with one child, which the longest walk seldom passes
        parents[parents.index(-1)] = len(parents)
        parents.append(-1)
    return parents, [0 if parent < 0 else whole(rng, 1, 9) for parent in parents]


LONGEST_WALK = Family(
    name="longest_walk",
    idea="diameter of a tree: the two longest arms of every node",
    arguments=(
        _PARENTS,
        Argument("lengths", Kind.INTS, "for each node the length of the edge to its parent, 1 to 9; 0 for the root"),
    ),
    result=Kind.INT,
    solve=longest_walk,
    parameters=lambda rng, level: {"fee": whole(rng, level, 2 * level)},
    statement=lambda parameters: (
        "A walk leads from a node to another one along edges, up and down, and passes no edge twice. It costs the "
        f"lengths of its edges and {parameters['fee']} for each node on it but its first and its last one. How much "
        "does the dearest walk cost? If there is only one node, the answer is 0."
    ),
    draw=_longest_walk_draw,
    mutants=(
        Mutant("looks at walks through the root only", "best = max(best, sum", "best = max(0, sum"),
        Mutant("looks at walks that only go down", "sum(arms[:2])", "sum(arms[:1])"),
        Mutant("forgets the fee where the walk turns", " + (fee if len(arms) > 1 else 0)", ""),
        Mutant("forgets the fee on the way down", "(fee if children[child] else 0)", "0"),
        Mutant("takes the first two arms, not the longest ones", "        arms.sort(reverse=True)\n", ""),
        Mutant("measures an arm by its first edge", "lengths[child] + down[child]", "lengths[child]"),
        Mutant("adds up all arms", "sum(arms[:2])", "sum(arms)"),
    ),
)


def common_ancestor(parents: list[int], questions: list[list[int]], *, proper: bool, distance: bool) -> list[int]:
    """The line above one node is noted; then one walks up from the other."""
    answers = []
    for one, other in questions:
        above: dict[int, int] = {}
        node, steps = (parents[one], 1) if proper else (one, 0)
        while node >= 0:
            above[node] = steps
            node = parents[node]
            steps += 1
        node, steps = (parents[other], 1) if proper else (other, 0)
        while node >= 0 and node not in above:
            node = parents[node]
            steps += 1
        if node < 0:
            answers.append(-1)
        else:
            answers.append(above[node] + steps if distance else node)
    return answers


def _common_ancestor_statement(parameters: dict[str, Any]) -> str:
    own = "not one of its own ancestors" if parameters["proper"] else "counted among its own ancestors"
    asked = (
        "the number of edges from `a` up to it plus the number of edges from `b` up to it"
        if parameters["distance"]
        else "its number"
    )
    return (
        "The ancestors of a node are its parent, the parent of that, and so on to the root; the node itself is "
        f"{own}. For each question `a b` find the lowest node, farthest from the root, that is an ancestor of both "
        f"`a` and `b`, and give {asked}, or -1 if there is none."
    )


def _common_ancestor_draw(rng: random.Random, level: int, _parameters: dict[str, Any]) -> tuple[Any, ...]:
    nodes = size(rng, level, 1, (7, 10, 14))
    parents = tree(rng, nodes)
    questions = [[whole(rng, 0, nodes - 1), whole(rng, 0, nodes - 1)] for _ in range(whole(rng, 1, 1 + level))]
    return parents, questions if rng.random() < 0.9 else []


COMMON_ANCESTOR = Family(
    name="common_ancestor",
    idea="lowest common ancestor of two nodes of a tree",
    arguments=(_PARENTS, Argument("questions", Kind.ROWS, "up to 4 rows `a b` with nodes `a` and `b`, maybe the same")),
    result=Kind.INTS,
    solve=common_ancestor,
    parameters=lambda rng, level: {"proper": rng.random() < 0.5, "distance": level > 1 and rng.random() < 0.6},
    statement=_common_ancestor_statement,
    draw=_common_ancestor_draw,
    mutants=(
        Mutant(
            "treats the first node of a question the other way",
            "(parents[one], 1) if proper",
            "(parents[one], 1) if not proper",
        ),
        Mutant(
            "treats the second node of a question the other way",
            "(parents[other], 1) if proper",
            "(parents[other], 1) if not proper",
        ),
        Mutant("takes node 0 for none", "        while node >= 0:\n", "        while node > 0:\n"),
        Mutant(
            "goes up once at most",
            "        while node >= 0 and node not in above:",
            "        if node >= 0 and node not in above:",
        ),
        Mutant("goes up from both at the same pace", "node not in above", "above.get(node) != steps"),
        Mutant("goes up to the root", "node >= 0 and node not in above", "parents[node] >= 0"),
    ),
)


def passed_up(parents: list[int], values: list[int], *, least: int) -> list[int]:
    """Every node after all nodes below it."""
    children: list[list[int]] = [[] for _ in parents]
    for node, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(node)
    order = [parents.index(-1)]
    for node in order:
        order.extend(children[node])
    totals = values[:]
    for node in reversed(order):
        if totals[node] >= least and parents[node] >= 0:
            totals[parents[node]] += totals[node]
    return totals


def _passed_up_draw(rng: random.Random, level: int, parameters: dict[str, Any]) -> tuple[Any, ...]:
    parents = tree(rng, size(rng, level, 1, (6, 9, 14)))
    values = [whole(rng, -4, 6) for _ in parents]
    return parents, [parameters["least"] if rng.random() < 0.1 else value for value in values]


PASSED_UP = Family(
    name="passed_up",
    idea="sums over the subtrees of a tree, from the leaves up",
    arguments=(_PARENTS, Argument("values", Kind.INTS, "for each node what it holds, from -4 to 6")),
    result=Kind.INTS,
    solve=passed_up,
    parameters=lambda rng, level: {"least": pick(rng, (-2, -1, 1, 2, 3)[: 2 + level])},
    statement=lambda parameters: (
        "The total of a node is what it holds plus what its children pass up to it. A child passes up its whole total "
        f"if that is at least {parameters['least']}, else nothing. Give the total of every node in turn."
    ),
    draw=_passed_up_draw,
    mutants=(
        Mutant("passes nothing up at the bound itself", "totals[node] >= least", "totals[node] > least"),
        Mutant("goes from the root down", "in reversed(order)", "in order"),
        Mutant("goes by the numbers of the nodes", "in reversed(order)", "in reversed(range(len(order)))"),
        Mutant("compares what a node holds, not its total", "if totals[node] >= least", "if values[node] >= least"),
        Mutant("passes up what a node holds, not its total", "+= totals[node]", "+= values[node]"),
        Mutant("passes everything up", "totals[node] >= least and parents[node] >= 0", "parents[node] >= 0"),
        Mutant(
            "keeps the last child only", "totals[parents[node]] +=", "totals[parents[node]] = values[parents[node]] +"
        ),
        Mutant(
            "node 0 gets nothing", "parents[node] >= 0:\n            totals", "parents[node] > 0:\n            totals"
        ),
    ),
)

FAMILIES = (LONGEST_WALK, COMMON_ANCESTOR, PASSED_UP)

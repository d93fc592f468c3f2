"""Random sizes, graphs, trees, grids and points, of which the families make their inputs."""

import random

from llm_envs.core.draws import pick, shuffled, whole

TINY = 0.2  # of inputs: there programs forget a case


def size(rng: random.Random, level: int, least: int, most: tuple[int, int, int]) -> int:
    """How large an input is: the upper half of what the level allows; now and then among the three smallest."""
    if rng.random() < TINY:
        return whole(rng, least, least + 2)
    return whole(rng, (least + most[level - 1]) // 2, most[level - 1])


def words(rng: random.Random, letters: str, count: int) -> str:
    """`count` letters, each as likely."""
    return "".join(pick(rng, letters) for _ in range(count))


def pairs(rng: random.Random, nodes: int, count: int, *, reach: int = 0, loops: bool = False) -> list[list[int]]:
    """`count` pairs of nodes, which may come more than once; none where there are no two nodes to join.

    reach: how far apart their numbers are at most, so that ways through the graph are long; 0 for any distance.
    loops: whether a node may be joined to itself.
    """
    if nodes < 2 and not loops:
        return []
    found: list[list[int]] = []
    while len(found) < count:
        one = whole(rng, 0, nodes - 1)
        other = whole(rng, max(0, one - reach), min(nodes - 1, one + reach)) if reach else whole(rng, 0, nodes - 1)
        if loops or one != other:
            found.append([one, other])
    return found


def roads(rng: random.Random, nodes: int, count: int, costs: tuple[int, int], *, reach: int = 0) -> list[list[int]]:
    """`count` pairs of different nodes, each with a cost between two bounds; `reach` as for `pairs`."""
    return [[*pair, whole(rng, *costs)] for pair in pairs(rng, nodes, count, reach=reach)]


def tree(rng: random.Random, nodes: int) -> list[int]:
    """The parent of each node, -1 for the root: any shape from a chain to a star, numbered at random."""
    names = shuffled(rng, range(nodes))
    reach = whole(rng, 1, nodes)  # how far back a node looks for its parent: 1 gives a chain
    parents = [-1] * nodes
    for place in range(1, nodes):
        parents[names[place]] = names[whole(rng, max(0, place - reach), place - 1)]
    return parents


def grid(rng: random.Random, rows: int, columns: int, letters: str) -> list[str]:
    """Lines of letters, each as likely; a letter that stands there twice is twice as likely."""
    return [words(rng, letters, columns) for _ in range(rows)]


def points(rng: random.Random, count: int, reach: int) -> list[list[int]]:
    """`count` different points with coordinates from 0 to `reach`; `count` is at most (reach + 1) squared."""
    found: list[list[int]] = []
    while len(found) < count:
        point = [whole(rng, 0, reach), whole(rng, 0, reach)]
        if point not in found:
            found.append(point)
    return found

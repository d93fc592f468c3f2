"""Families about binary trees."""

import random
from typing import Any

from llm_envs.code.families.base import Family, Mutant
from llm_envs.code.families.shapes import size
from llm_envs.code.families.values import Argument, Kind
from llm_envs.core.draws import pick, shuffled, whole

_LETTERS = "abcdefghijkl"


def rebuilt_tree(listed: str, middle: str, *, after: bool, backward: bool) -> str:
    """The root stands at an end of the one text and parts the other into left and right."""

    def build(listed: str, middle: str) -> list[str]:
        if not listed:
            return []
        root, rest = (listed[-1], listed[:-1]) if after else (listed[0], listed[1:])
        cut = middle.index(root)
        left, right = build(rest[:cut], middle[:cut]), build(rest[cut:], middle[cut + 1 :])
        if backward:
            left, right = right, left
        depths = range(max(len(left), len(right)))
        return [root, *("".join(left[depth : depth + 1] + right[depth : depth + 1]) for depth in depths)]

    return "".join(build(listed, middle))


def _rebuilt_tree_statement(parameters: dict[str, Any]) -> str:
    first, order = (
        ("postorder", "left part, right part, node")
        if parameters["after"]
        else ("preorder", "node, left part, right part")
    )
    way = "right to left" if parameters["backward"] else "left to right"
    return (
        f"The nodes of a binary tree bear different letters. `listed` has them in {first} ({order}), `middle` has the "
        "same letters in inorder (left part, node, right part); both are of one tree. Give the letters level by level "
        f"from the root down, each level from {way}, as one text without blanks. An empty tree gives an empty text."
    )


def _rebuilt_tree_draw(rng: random.Random, level: int, parameters: dict[str, Any]) -> tuple[Any, ...]:
    names = shuffled(rng, _LETTERS)[: size(rng, level, 0, (8, 10, 12))]
    lean = pick(rng, (0.0, 0.5, 0.8, 0.8, 0.8, 1.0))  # of the tree to one side

    def build(letters: list[str]) -> str:
        if not letters:
            return ""
        cut = int((lean + rng.random()) / 2 * len(letters)) if 0 < lean < 1 else int(lean * (len(letters) - 1))
        parts = build(letters[:cut]) + build(letters[cut + 1 :])
        return parts + letters[cut] if parameters["after"] else letters[cut] + parts

    return build(names), "".join(names)


REBUILT_TREE = Family(
    name="rebuilt_tree",
    idea="a binary tree from two of its orders, by recursion on the root",
    arguments=(
        Argument("listed", Kind.TEXT, "up to 12 letters, from a to l, all different"),
        Argument("middle", Kind.TEXT, "the same letters"),
    ),
    result=Kind.TEXT,
    solve=rebuilt_tree,
    parameters=lambda rng, level: {"after": rng.random() < 0.5, "backward": level > 1 and rng.random() < 0.5},
    statement=_rebuilt_tree_statement,
    draw=_rebuilt_tree_draw,
    mutants=(
        Mutant("right and left mixed up", "if backward:", "if not backward:"),
        Mutant(
            "gives one part after the other, not level by level",
            '*("".join(left[depth : depth + 1] + right[depth : depth + 1]) for depth in depths)',
            "*left, *right",
        ),
        Mutant(
            "forgets the deeper levels of the deeper part", "max(len(left), len(right))", "min(len(left), len(right))"
        ),
        Mutant("goes no deeper than the left part", "max(len(left), len(right))", "len(left)"),
        Mutant(
            "takes the letter after the root for the left part's end",
            "build(rest[:cut], middle[:cut])",
            "build(rest[: cut + 1], middle[: cut + 1])",
        ),
        Mutant("goes no deeper than the right part", "max(len(left), len(right))", "len(right)"),
    ),
)


def search_tree(values: list[int], *, limit: int, equal: str) -> list[int]:
    """Places are numbered as in a heap: below `place` lie 2 * place and 2 * place + 1."""
    tree: dict[int, int] = {}
    depths = []
    for value in values:
        place, depth = 1, 0
        while place in tree:
            if value == tree[place] and equal == "same":
                break
            right = value > tree[place] or (value == tree[place] and equal == "right")
            place = 2 * place + right
            depth += 1
        if depth <= limit:
            tree[place] = value
            depths.append(depth)
        else:
            depths.append(-1)
    return depths


_EQUALS = {
    "right": "an equal one goes to the right too",
    "left": "an equal one goes to the left too",
    "same": "an equal one stays there, as the same node",
}


def _search_tree_draw(rng: random.Random, level: int, _parameters: dict[str, Any]) -> tuple[Any, ...]:
    count = size(rng, level, 0, (7, 10, 14))
    values = [whole(rng, 0, count + count // 2) for _ in range(count)]
    if rng.random() < 0.3:
        values.sort(reverse=rng.random() < 0.5)
    return (values,)


SEARCH_TREE = Family(
    name="search_tree",
    idea="insertion into a binary search tree",
    arguments=(Argument("values", Kind.INTS, "up to 14 whole numbers from 0 to 21"),),
    result=Kind.INTS,
    solve=search_tree,
    parameters=lambda rng, level: {"limit": whole(rng, 2, 1 + level), "equal": pick(rng, tuple(_EQUALS))},
    statement=lambda parameters: (
        "The values are put into an empty binary search tree, one after the other. The first one becomes the root, at "
        "depth 0. Each further one starts at the root and goes down, to the left of a node if it is less than the "
        f"node's value and to the right if it is greater ({_EQUALS[parameters['equal']]}), until there is no node, and "
        f"becomes a node there, one deeper than the node above. But nothing is put deeper than depth "
        f"{parameters['limit']}: such a value is thrown away. Give the depth of each value in turn, -1 for those "
        "thrown away."
    ),
    draw=_search_tree_draw,
    mutants=(
        Mutant("one level too few", "if depth <= limit", "if depth < limit"),
        Mutant("one level too many", "if depth <= limit", "if depth <= limit + 1"),
        Mutant("compares each value with the root", "right = value > tree[place] or", "right = value > tree[1] or"),
        Mutant("left and right of a node are one place", "2 * place + right", "2 * place"),
        Mutant("equal values stay where they should not", 'equal == "same"', 'equal != "same"'),
        Mutant(
            "stops at the first value that is thrown away",
            "            depths.append(-1)\n",
            "            depths.append(-1)\n            break\n",
        ),
        Mutant(
            "compares with the value put in last", "value > tree[place] or", "value > next(reversed(tree.values())) or"
        ),
    ),
)

FAMILIES = (REBUILT_TREE, SEARCH_TREE)

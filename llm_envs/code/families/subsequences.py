"""Families about subsequences, whose answers are built from those of shorter lists and texts."""

import random
from typing import Any

from llm_envs.code.families.base import Family, Mutant
from llm_envs.code.families.shapes import size, words
from llm_envs.code.families.values import Argument, Kind
from llm_envs.core.draws import pick, whole


def edit_cost(old: str, new: str, *, insert: int, delete: int, replace: int) -> int:
    """Wagner and Fischer (1974), row by row."""
    above = [insert * column for column in range(len(new) + 1)]
    for row, letter in enumerate(old, 1):
        line = [delete * row]
        for column, other in enumerate(new, 1):
            swap = above[column - 1] + (0 if letter == other else replace)
            line.append(min(swap, above[column] + delete, line[-1] + insert))
        above = line
    return above[-1]


def _edit_cost_draw(rng: random.Random, level: int, _parameters: dict[str, Any]) -> tuple[Any, ...]:
    letters = "abc"[: whole(rng, 2, 3)]
    old = words(rng, letters, size(rng, level, 0, (5, 8, 11)))
    if rng.random() < 0.15:
        return old, old
    new = "".join(pick(rng, (letter, letter, letter, "", letter + "a", "b")) for letter in old)
    return old, new[:11] if rng.random() < 0.6 else words(rng, letters, size(rng, level, 0, (5, 8, 11)))


EDIT_COST = Family(
    name="edit_cost",
    idea="edit distance with costs, prefix by prefix",
    arguments=(
        Argument("old", Kind.TEXT, "a text of up to 11 letters a, b, c"),
        Argument("new", Kind.TEXT, "another one of that kind"),
    ),
    result=Kind.INT,
    solve=edit_cost,
    parameters=lambda rng, level: {
        "insert": whole(rng, 1, 1 + level),
        "delete": whole(rng, 3 + level, 4 + level),
        "replace": whole(rng, 2, 3 + level),
    },
    statement=lambda parameters: (
        "The text `old` is turned into `new` step by step. To insert a letter anywhere costs "
        f"{parameters['insert']}, to delete a letter costs {parameters['delete']}, and to replace a letter by another "
        f"one costs {parameters['replace']}. What is the least total cost? Equal texts cost 0."
    ),
    draw=_edit_cost_draw,
    mutants=(
        Mutant(
            "inserting and deleting mixed up",
            "above[column] + delete, line[-1] + insert",
            "above[column] + insert, line[-1] + delete",
        ),
        Mutant(
            "a letter is never replaced",
            "(0 if letter == other else replace)",
            "(0 if letter == other else insert + delete)",
        ),
        Mutant("the end of the new text is free", "[insert * column for", "[0 * column for"),
        Mutant("the beginning of the old text is deleted for nothing", "[delete * row]", "[0]"),
        Mutant(
            "always takes equal letters together and goes on from the row above",
            "above[column] + delete, line[-1] + insert",
            "above[column] + delete",
        ),
        Mutant("counts one for every replacement", "else replace)", "else 1)"),
    ),
)


def rising_choice(values: list[int], *, gap: int) -> list[int]:
    """The longest choice that ends at each value, and how many there are."""
    longest: list[int] = []
    ways: list[int] = []
    for place, value in enumerate(values):
        length, count = 1, 1
        for before in range(place):
            if values[before] + gap <= value:
                if longest[before] + 1 > length:
                    length, count = longest[before] + 1, ways[before]
                elif longest[before] + 1 == length:
                    count += ways[before]
        longest.append(length)
        ways.append(count)
    best = max(longest, default=0)
    return [best, sum(count for length, count in zip(longest, ways, strict=True) if length == best)]


RISING_CHOICE = Family(
    name="rising_choice",
    idea="longest increasing subsequence, and how many there are",
    arguments=(Argument("values", Kind.INTS, "up to 16 whole numbers from 0 to 20"),),
    result=Kind.INTS,
    solve=rising_choice,
    parameters=lambda rng, level: {"gap": whole(rng, 0, level)},
    statement=lambda parameters: (
        "Choose positions of the list from left to right, not necessarily next to each other, such that each chosen "
        f"value is at least {parameters['gap']} greater than the one chosen before it. Give two numbers: how many "
        "positions can be chosen at most, and how many different sets of so many positions there are. For an empty "
        "list give 0 and 0."
    ),
    draw=lambda rng, level, _: (
        [whole(rng, 0, pick(rng, (4, 8, 20))) for _ in range(size(rng, level, 0, (7, 11, 16)))],
    ),
    mutants=(
        Mutant(
            "asks for one more between two chosen values",
            "values[before] + gap <= value",
            "values[before] + gap < value",
        ),
        Mutant("counts one way for each end", "count += ways[before]", "count = ways[before]"),
        Mutant(
            "looks at the choices that end at the last value only",
            "max(longest, default=0)",
            "longest[-1] if longest else 0",
        ),
        Mutant("goes on from the neighbour only", "for before in range(place):", "for before in range(place)[-1:]:"),
        Mutant("a longer choice begins with one way", "longest[before] + 1, ways[before]", "longest[before] + 1, 1"),
        Mutant(
            "the gap is a bound in both directions",
            "if values[before] + gap <= value:",
            "if abs(value - values[before]) >= gap:",
        ),
        Mutant(
            "counts the ways of one best end only",
            "sum(count for length, count in zip(longest, ways, strict=True) if length == best)",
            "max((count for length, count in zip(longest, ways, strict=True) if length == best), default=0)",
        ),
    ),
)


def shared_choice(one: str, other: str, *, last: bool) -> str:
    """The wanted text of every two ends; of the longest ones all begin with a letter that both begin with."""
    below = [""] * (len(other) + 1)
    for letter in reversed(one):
        line = [""]
        for column in range(len(other) - 1, -1, -1):
            if letter == other[column]:
                line.append(letter + below[column + 1])
                continue
            texts = sorted([below[column], line[-1]], reverse=last)
            line.append(max(texts, key=len))
        below = line[::-1]
    return below[0]


def _shared_choice_draw(rng: random.Random, level: int, _parameters: dict[str, Any]) -> tuple[Any, ...]:
    letters = "abcd"[: whole(rng, 2, 4)]
    one = words(rng, letters, size(rng, level, 0, (8, 9, 11)))
    return one, words(rng, letters, size(rng, level, 0, (8, 10, 11)))


SHARED_CHOICE = Family(
    name="shared_choice",
    idea="longest common subsequence of two texts",
    arguments=(
        Argument("one", Kind.TEXT, "a text of up to 11 letters a, b, c, d"),
        Argument("other", Kind.TEXT, "another one of that kind"),
    ),
    result=Kind.TEXT,
    solve=shared_choice,
    parameters=lambda rng, _level: {"last": rng.random() < 0.5},
    statement=lambda parameters: (
        "Which text can be made from each of the two texts by deleting letters (or none) and is the longest such text? "
        f"If there are several, give the one that comes {'last' if parameters['last'] else 'first'} in alphabetical "
        "order. It may be empty."
    ),
    draw=_shared_choice_draw,
    mutants=(
        Mutant("the wrong end of the alphabet", "reverse=last", "reverse=not last"),
        Mutant(
            "takes the first of the longest ones found",
            "sorted([below[column], line[-1]], reverse=last)",
            "[below[column], line[-1]]",
        ),
        Mutant(
            "deletes nothing in between",
            "            texts = sorted([below[column], line[-1]], reverse=last)\n"
            "            line.append(max(texts, key=len))",
            '            line.append("")',
        ),
        Mutant(
            "chooses by the alphabet before the length",
            "line.append(max(texts, key=len))",
            "line.append(texts[0] or texts[1])",
        ),
        Mutant("uses a letter of the first text twice", "letter + below[column + 1]", "letter + line[-1]"),
        Mutant(
            "forgets to delete from the first text", "sorted([below[column], line[-1]], reverse=last)", "[line[-1]]"
        ),
    ),
)


def spaced_sum(values: list[int], *, gap: int, must: bool) -> int:
    """The best choice that ends at each value."""
    totals: list[int] = []
    for place, value in enumerate(values):
        before = max(totals[: max(0, place - gap)], default=0)
        totals.append(value + max(0, before))
    best = max(totals)
    return best if must else max(0, best)


def _spaced_sum_draw(rng: random.Random, level: int, _parameters: dict[str, Any]) -> tuple[Any, ...]:
    least, most = pick(rng, ((-9, 20), (1, 20), (-9, 0), (-6, 2)))
    return ([whole(rng, least, most) for _ in range(size(rng, level, 1, (7, 11, 16)))],)


SPACED_SUM = Family(
    name="spaced_sum",
    idea="largest sum of values that keep a distance, end by end",
    arguments=(Argument("values", Kind.INTS, "1 to 16 whole numbers from -9 to 20"),),
    result=Kind.INT,
    solve=spaced_sum,
    parameters=lambda rng, level: {"gap": whole(rng, 1, 1 + level), "must": rng.random() < 0.5},
    statement=lambda parameters: (
        f"Choose values of the list such that between any two of them at least {parameters['gap']} others stand in the "
        f"list. {'At least one must be chosen.' if parameters['must'] else 'To choose none is allowed.'} What is the "
        "greatest sum of the chosen values (of one, the value itself; of none, 0)?"
    ),
    draw=_spaced_sum_draw,
    mutants=(
        Mutant("keeps one place too little", "place - gap)", "place - gap + 1)"),
        Mutant("keeps one place too much", "place - gap)", "place - gap - 1)"),
        Mutant(
            "goes on from the nearest allowed value only",
            "totals[: max(0, place - gap)]",
            "totals[max(0, place - gap - 1) : max(0, place - gap)]",
        ),
        Mutant("always goes on from a choice before", "max(0, before)", "before"),
        Mutant("mixes up whether one must be chosen", "if must", "if not must"),
        Mutant("takes the choice that ends at the last value", "max(totals)\n", "totals[-1]\n"),
        Mutant("chooses in fixed steps from the start", "max(totals)\n", "sum(values[:: gap + 1])\n"),
    ),
)

FAMILIES = (EDIT_COST, RISING_CHOICE, SHARED_CHOICE, SPACED_SUM)

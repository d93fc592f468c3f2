"""Families whose lists or texts are passed over by a window or by two pointers."""

import random

from llm_envs.code.families.base import Family, Mutant
from llm_envs.code.families.inputs import length, numbers
from llm_envs.code.families.shapes import words
from llm_envs.code.families.values import Argument, Kind
from llm_envs.core.draws import pick, whole


def few_letters(text: str, *, kinds: int, last: bool) -> str:
    """The window grows by a letter at its end, then shrinks at its start until it is allowed again."""
    counts: dict[str, int] = {}
    start, best = 0, ""
    for end, letter in enumerate(text):
        counts[letter] = counts.get(letter, 0) + 1
        while len(counts) > kinds:
            counts[text[start]] -= 1
            if not counts[text[start]]:
                del counts[text[start]]
            start += 1
        size = end - start + 1
        if size > len(best) or (last and size == len(best)):
            best = text[start : end + 1]
    return best


FEW_LETTERS = Family(
    name="few_letters",
    idea="a window that grows at one end and shrinks at the other while it holds too many kinds",
    arguments=(Argument("text", Kind.TEXT, "up to 28 letters, from `a` to `e`; it may be empty"),),
    result=Kind.TEXT,
    solve=few_letters,
    parameters=lambda rng, level: {"kinds": whole(rng, 2, 2 + level // 2), "last": pick(rng, (False, True))},
    statement=lambda parameters: (
        f"Give the longest contiguous part of the text with at most {parameters['kinds']} different letters; of "
        f"several longest take the {'last' if parameters['last'] else 'first'}. The part of an empty text is empty."
    ),
    draw=lambda rng, level, _: (words(rng, pick(rng, ("ab", "aaabc", "abcd", "abcde")), length(rng, level)),),
    mutants=(
        Mutant("the wrong one of two longest parts", "(last and", "(not last and"),
        Mutant("letters that are gone still count", "if not counts[text[start]]", "if counts[text[start]] < 0"),
        Mutant(
            "asks for exactly so many letters",
            "if size > len(best) or",
            "if len(counts) == kinds and size > len(best) or",
        ),
        Mutant("does not look at the last letter", "enumerate(text)", "enumerate(text[:-1])"),
        Mutant("forgets that a letter is there twice", "counts[text[start]] -= 1", "counts[text[start]] = 0"),
        Mutant("begins anew where it has to shrink", "start += 1", "start = end"),
    ),
)


def window_extremes(values: list[int], *, width: int, smallest: bool) -> list[int]:
    """The queue holds places whose values can still become the extreme, best first."""
    from collections import deque

    sign = -1 if smallest else 1
    queue: deque[int] = deque()
    found = []
    for place, value in enumerate(values):
        while queue and sign * values[queue[-1]] <= sign * value:
            queue.pop()
        queue.append(place)
        if queue[0] <= place - width:
            queue.popleft()
        if place >= width - 1:
            found.append(values[queue[0]])
    return found


WINDOW_EXTREMES = Family(
    name="window_extremes",
    idea="a queue of falling values that gives the extreme of every window of fixed width",
    arguments=(Argument("values", Kind.INTS, "up to 28 whole numbers from -30 to 30"),),
    result=Kind.INTS,
    solve=window_extremes,
    parameters=lambda rng, level: {"width": whole(rng, 3, 2 + level), "smallest": pick(rng, (False, True))},
    statement=lambda parameters: (
        f"For every {parameters['width']} values in a row, from left to right, give the "
        f"{'smallest' if parameters['smallest'] else 'largest'} of them. If the list has fewer values than that, give "
        "an empty list."
    ),
    draw=lambda rng, level, _: (_sloping(rng, length(rng, level)),),
    mutants=(
        Mutant("keeps a value for one window too long", "queue[0] <= place - width", "queue[0] < place - width"),
        Mutant("drops one smaller value, not all", "while queue and", "if queue and"),
        Mutant(
            "compares without the sign",
            "values[queue[-1]] <= sign * value",
            "abs(values[queue[-1]]) <= sign * abs(value)",
        ),
        Mutant("leaves the first window out", "place >= width - 1", "place >= width"),
        Mutant("never below 0", "found.append(values[queue[0]])", "found.append(max(0, values[queue[0]]))"),
        Mutant(
            "drops the oldest place whenever the window is full",
            "queue[0] <= place - width",
            "len(queue) > 1 and place >= width",
        ),
    ),
)


def _sloping(rng: random.Random, count: int) -> list[int]:
    """Values that rise, fall, or do neither, around a level of either sign."""
    tilt, base = pick(rng, (-2, 0, 2)), pick(rng, (-10, 0, 15))
    values = [base + tilt * place + whole(rng, -5, 5) for place in range(count)]
    return [min(30, max(-30, value)) for value in values]


def smallest_cover(text: str, needed: str, *, last: bool) -> str:
    """Wherever the window covers the need, it is shrunk at its start as far as it goes on covering it."""
    missing: dict[str, int] = {}
    for letter in needed:
        missing[letter] = missing.get(letter, 0) + 1
    lacking, start, best = len(needed), 0, ""
    for end, letter in enumerate(text):
        if missing.get(letter, 0) > 0:
            lacking -= 1
        missing[letter] = missing.get(letter, 0) - 1
        while lacking == 0:
            size = end - start + 1
            if not best or size < len(best) or (last and size == len(best)):
                best = text[start : end + 1]
            missing[text[start]] += 1
            if missing[text[start]] > 0:
                lacking += 1
            start += 1
    return best


SMALLEST_COVER = Family(
    name="smallest_cover",
    idea="a window that shrinks as long as it still covers a multiset",
    arguments=(
        Argument("text", Kind.TEXT, "up to 28 letters, from `a` to `d`; it may be empty"),
        Argument("needed", Kind.TEXT, "1 to 4 letters, from `a` to `d`"),
    ),
    result=Kind.TEXT,
    solve=smallest_cover,
    parameters=lambda rng, _level: {"last": pick(rng, (False, True))},
    statement=lambda parameters: (
        "Give the shortest contiguous part of the text that holds all the letters needed, in any order, each at least "
        "as often as it stands in `needed`. Of several shortest parts take the "
        f"{'last' if parameters['last'] else 'first'}; if there is none, give an empty text."
    ),
    draw=lambda rng, level, _: _covers(rng, level),
    mutants=(
        Mutant("the wrong one of two shortest parts", "(last and", "(not last and"),
        Mutant("each letter once is enough", "missing[letter] = missing.get(letter, 0) + 1", "missing[letter] = 1"),
        Mutant("takes the longest of the parts that cannot shrink", "size < len(best)", "size > len(best)"),
        Mutant("does not look at the last letter", "enumerate(text)", "enumerate(text[:-1])"),
        Mutant("does not shrink the part", "best = text[start : end + 1]", "best = text[: end + 1]"),
        Mutant(
            "letters that the window loses are not missed",
            "            if missing[text[start]] > 0:\n                lacking += 1\n            start += 1",
            "            start += 1\n            break",
        ),
    ),
)


def _covers(rng: random.Random, level: int) -> tuple[str, str]:
    """Now and then a letter that is needed stands at the end of the text only."""
    needed = words(rng, pick(rng, ("ab", "abc", "abcd")), whole(rng, 1, 1 + level))
    text = words(rng, pick(rng, ("ab", "aabc", "abcd")), length(rng, level))
    if text and rng.random() < 0.25:
        text = text.replace(needed[0], "d")[:-1] + needed[0]
    return text, needed


def pair_sums(values: list[int], *, limit: int, inclusive: bool) -> int:
    """Where the ends of a sorted range fit together, the low one fits to all between."""
    ordered = sorted(values)
    low, high, found = 0, len(ordered) - 1, 0
    while low < high:
        total = ordered[low] + ordered[high]
        if total < limit or (inclusive and total == limit):
            found += high - low
            low += 1
        else:
            high -= 1
    return found


PAIR_SUMS = Family(
    name="pair_sums",
    idea="sorting, then two pointers that move towards each other",
    arguments=(Argument("values", Kind.INTS, "up to 28 whole numbers from -20 to 20"),),
    result=Kind.INT,
    solve=pair_sums,
    parameters=lambda rng, level: {"limit": whole(rng, -2, 5 * level), "inclusive": pick(rng, (False, True))},
    statement=lambda parameters: (
        "How many pairs of values at two different places of the list have a sum of "
        f"{'at most' if parameters['inclusive'] else 'less than'} {parameters['limit']}? Equal values at different "
        "places count as different; the order within a pair does not matter."
    ),
    draw=lambda rng, level, parameters: (_balanced(rng, level, parameters["limit"]),),
    mutants=(
        Mutant("a sum of exactly the limit", "(inclusive and", "(not inclusive and"),
        Mutant("does not sort", "sorted(values)", "list(values)"),
        Mutant("equal values count once", "sorted(values)", "sorted(set(values))"),
        Mutant("counts one pair a step", "found += high - low", "found += 1"),
        Mutant("begins again on the left", "high -= 1", "high, low = high - 1, 0"),
        Mutant("stops at the first pair that does not fit", "            high -= 1", "            break"),
        Mutant("leaves the largest value out", "len(ordered) - 1, 0", "len(ordered) - 2, 0"),
    ),
)


def _balanced(rng: random.Random, level: int, limit: int) -> list[int]:
    """Values around half the limit, some of which add up to it."""
    values: list[int] = []
    count = length(rng, level)
    while len(values) < count:
        value = whole(rng, -8, 8)
        values += [value, max(-20, min(20, limit - value))] if rng.random() < 0.4 else [value]
    return values[:count]


def trapped_water(heights: list[int], *, most: int) -> int:
    """Water stands as high as the lower of the highest walls on both sides."""
    left, right = [0], [0]
    for height in heights:
        left.append(max(left[-1], height))
    for height in reversed(heights):
        right.append(max(right[-1], height))
    right.reverse()
    total = 0
    for place, height in enumerate(heights):
        level = min(left[place + 1], right[place])
        total += min(most, level - height)
    return total


TRAPPED_WATER = Family(
    name="trapped_water",
    idea="running maxima from both sides bound what stands between them",
    arguments=(Argument("heights", Kind.INTS, "up to 28 whole numbers from 0 to 12"),),
    result=Kind.INT,
    solve=trapped_water,
    parameters=lambda rng, level: {"most": whole(rng, 2, 1 + 2 * level)},
    statement=lambda parameters: (
        "Columns of the given heights stand side by side, each 1 wide, and rain fills the hollows between them; water "
        "runs off at both ends. A column whose water would stand deeper than "
        f"{parameters['most']} holds {parameters['most']} of it, and its neighbours hold what they would otherwise. "
        "How much water is held in all?"
    ),
    draw=lambda rng, level, _: (_hollows(rng, length(rng, level)),),
    mutants=(
        Mutant("forgets what a column holds at most", "min(most, level - height)", "level - height"),
        Mutant(
            "the bound is taken as a height of the water",
            "min(most, level - height)",
            "max(0, min(most, level) - height)",
        ),
        Mutant(
            "fills up to the highest column of all",
            "min(left[place + 1], right[place])",
            "max(left[place + 1], right[place])",
        ),
        Mutant(
            "nothing stands on the lowest ground", "min(most, level - height)", "height and min(most, level - height)"
        ),
        Mutant("nothing runs off on the left", "level = min(left[place + 1], right[place])", "level = right[place]"),
        Mutant("counts columns, not depths", "total += min(most, level - height)", "total += level > height"),
    ),
)


def _hollows(rng: random.Random, count: int) -> list[int]:
    """Heights up to a bound, sorted in part, so that some lists hold little water."""
    heights = numbers(rng, count, 0, pick(rng, (1, 2, 12)))
    return [*sorted(heights[: count // 2]), *sorted(heights[count // 2 :], reverse=rng.random() < 0.6)]


FAMILIES = (FEW_LETTERS, WINDOW_EXTREMES, SMALLEST_COVER, PAIR_SUMS, TRAPPED_WATER)

"""Families about lists of numbers: runs, prefixes, shares and ranges."""

import random
from typing import Any

from llm_envs.code.families.base import Family, Mutant
from llm_envs.code.families.inputs import length, numbers
from llm_envs.code.families.values import Argument, Kind
from llm_envs.core.draws import pick, whole


def longest_run(values: list[int], *, slack: int, last: bool) -> list[int]:
    best, start = [0, 0], 0
    for place in range(len(values)):
        if place > 0 and values[place] < values[place - 1] - slack:
            start = place
        size = place - start + 1
        if size > best[1] or (last and size == best[1]):
            best = [start + 1, size]
    return best


def _longest_run_statement(parameters: dict[str, Any]) -> str:
    tie = "last" if parameters["last"] else "first"
    return (
        "A run is a contiguous part of the list in which no value lies more than "
        f"{parameters['slack']} below the value before it. Find the longest run. "
        f"Give its position (counted from 1) and its length; if several are longest, give the {tie} of them, and for "
        "an empty list give 0 0."
    )


LONGEST_RUN = Family(
    name="longest_run",
    idea="one pass that ends the current run where two neighbours break the rule",
    arguments=(Argument("values", Kind.INTS, "up to 28 whole numbers from -20 to 20"),),
    result=Kind.INTS,
    solve=longest_run,
    parameters=lambda rng, level: {"slack": whole(rng, 0, 2 * level), "last": pick(rng, (False, True))},
    statement=_longest_run_statement,
    draw=lambda rng, level, _: (numbers(rng, length(rng, level), -level * 3, level * 3),),
    mutants=(
        Mutant("a fall of exactly the slack ends a run", "< values[place - 1] - slack", "<= values[place - 1] - slack"),
        Mutant("the wrong one of two longest runs", "(last and", "(not last and"),
        Mutant(
            "forgets the run that reaches the end",
            "if size > best[1] or",
            "if place < len(values) - 1 and size > best[1] or",
        ),
        Mutant("compares with the start of the run", "values[place - 1] - slack", "values[start] - slack"),
        Mutant("the run begins one too late", "start = place\n", "start = place + 1\n"),
        Mutant("starts again at the last place", "place > 0 and", "place > 1 and"),
    ),
)


def circular_sum(values: list[int], *, fee: int) -> int:
    """A part that wraps around leaves out a part that does not; the smallest one is left out (after Kadane)."""
    gains = [value - fee for value in values]
    best = worst = gains[0]
    high = low = 0
    for gain in gains:
        high = max(high + gain, gain)
        low = min(low + gain, gain)
        best = max(best, high)
        worst = min(worst, low)
    if best < 0:
        return best
    return max(best, sum(gains) - worst)


CIRCULAR_SUM = Family(
    name="circular_sum",
    idea="largest sum of a part of a circle: either a part, or all without the smallest part (Kadane twice)",
    arguments=(Argument("values", Kind.INTS, "1 to 28 whole numbers from -30 to 30"),),
    result=Kind.INT,
    solve=circular_sum,
    parameters=lambda rng, level: {"fee": whole(rng, 0, level + 1)},
    statement=lambda parameters: (
        "The values stand on a circle: after the last one comes the first one again. Choose a contiguous part of the "
        "circle, at least one value and each value at most once. Its worth is the sum of its values, less "
        f"{parameters['fee']} for each value chosen. What is the greatest worth?"
    ),
    draw=lambda rng, level, _: (_rough(rng, level),),
    mutants=(
        Mutant(
            "a list of negative values gives nothing", "if best < 0:\n        return best\n", "best = max(best, 0)\n"
        ),
        Mutant("forgets that the part may wrap around", "max(best, sum(gains) - worst)", "best"),
        Mutant("pays the fee once", "[value - fee for value in values]", "[values[0] - fee, *values[1:]]"),
        Mutant("adds up the values, not the gains, where it wraps", "sum(gains) - worst", "sum(values) - worst"),
        Mutant("always leaves a part out", "max(best, sum(gains) - worst)", "sum(gains) - worst"),
        Mutant("never starts a new part", "high = max(high + gain, gain)", "high = high + gain"),
    ),
)


def _rough(rng: random.Random, level: int) -> list[int]:
    """Values of both signs; now and then only negative ones."""
    most = 30 if rng.random() < 0.75 else 0
    return numbers(rng, length(rng, level, 1), -30, most)


def frequent_values(values: list[int], *, share: int) -> list[int]:
    counts: dict[int, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return sorted(value for value, count in counts.items() if count * share > len(values))


FREQUENT_VALUES = Family(
    name="frequent_values",
    idea="majority vote: few values can each hold more than a share of the list",
    arguments=(Argument("values", Kind.INTS, "up to 28 whole numbers from -4 to 4"),),
    result=Kind.INTS,
    solve=frequent_values,
    parameters=lambda rng, level: {"share": whole(rng, 2, 2 + level)},
    statement=lambda parameters: (
        f"Give the values that make up more than 1/{parameters['share']} of the list, each once, in ascending order; "
        "there may be none."
    ),
    draw=lambda rng, level, parameters: (_clustered(rng, level, parameters["share"]),),
    mutants=(
        Mutant("exactly the share counts too", "> len(values)", ">= len(values)"),
        Mutant("rounds the share up", "count * share > len(values)", "count > -(-len(values) // share)"),
        Mutant("order of appearance", "sorted(value for", "list(value for"),
        Mutant("descending order", "len(values))", "len(values))[::-1]"),
        Mutant("forgets the first appearance", "counts.get(value, 0) + 1", "counts.get(value, -1) + 1"),
        Mutant("only one value", "len(values))", "len(values))[:1]"),
        Mutant("a share of the different values", "> len(values)", "> len(counts) * 2"),
    ),
)


def _clustered(rng: random.Random, level: int, share: int) -> list[int]:
    """Few different values, so that some reach the share; often a length that the share divides."""
    count = length(rng, level)
    if rng.random() < 0.5:
        count = max(share, count - count % share)
    return [whole(rng, -4, 4) if rng.random() < 0.2 else whole(rng, -1, 1) for _ in range(count)]


FAMILIES = (LONGEST_RUN, CIRCULAR_SUM, FREQUENT_VALUES)

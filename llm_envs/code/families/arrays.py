"""Families about lists of numbers: runs, prefixes, shares and ranges."""

import random
from typing import Any

from llm_envs.code.families.base import Family, Mutant
from llm_envs.code.families.inputs import length, numbers
from llm_envs.code.families.values import Argument, Kind
from llm_envs.core.draws import pick, shuffled, whole


def longest_run(values: list[int], *, slack: int, last: bool) -> list[int]:
    """Position and length of the run, which are 0 while there is none."""
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
    parameters=lambda rng, level: {"fee": whole(rng, 1, level + 1)},
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
    """Products are compared, since a share of the length need not be whole."""
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
    parameters=lambda rng, level: {"share": whole(rng, 3, 2 + level)},
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
    palette = numbers(rng, whole(rng, 1, share), -4, 4)
    return [whole(rng, -4, 4) if rng.random() < 0.1 else pick(rng, palette) for _ in range(count)]


def divisible_parts(values: list[int], *, modulus: int, remainder: int) -> int:
    """A part has the right sum if the sums before it and up to its end differ by the remainder."""
    seen = {0: 1}
    total = found = 0
    for value in values:
        total = (total + value) % modulus
        found += seen.get((total - remainder) % modulus, 0)
        seen[total] = seen.get(total, 0) + 1
    return found


def _divisible_parts_parameters(rng: random.Random, level: int) -> dict[str, Any]:
    modulus = whole(rng, 3, 3 + 2 * level)
    return {"modulus": modulus, "remainder": whole(rng, 0, modulus - 1)}


DIVISIBLE_PARTS = Family(
    name="divisible_parts",
    idea="counts of earlier prefix sums, by their remainder",
    arguments=(Argument("values", Kind.INTS, "up to 28 whole numbers from -20 to 20"),),
    result=Kind.INT,
    solve=divisible_parts,
    parameters=_divisible_parts_parameters,
    statement=lambda parameters: (
        "How many contiguous parts of the list, of at least one value, have a sum that leaves the remainder "
        f"{parameters['remainder']} when divided by {parameters['modulus']}? Remainders are never negative: -1 "
        "divided by 5 leaves 4. Parts at different places count separately, also if their values are the same."
    ),
    draw=lambda rng, level, _: (numbers(rng, length(rng, level), -20, 20),),
    mutants=(
        Mutant("forgets the parts that begin with the first value", "{0: 1}", "{}"),
        Mutant("takes the difference the wrong way round", "(total - remainder)", "(remainder - total)"),
        Mutant("remembers that a sum was there, not how often", "seen.get(total, 0) + 1", "1"),
        Mutant("drops the sign of a sum", "(total + value) % modulus", "abs(total + value) % modulus"),
        Mutant("counts the parts that end with the last value only", "found += ", "found = "),
        Mutant("sums that start anew with each value", "(total + value)", "value"),
    ),
)


def value_chain(values: list[int], *, step: int, largest: bool) -> list[int]:
    """Chains are followed from values that no other leads to, so that each is followed once."""
    present = set(values)
    best: list[int] = []
    for value in sorted(present, reverse=largest):
        if value - step in present:
            continue
        size = 1
        while value + size * step in present:
            size += 1
        if not best or size > best[1]:
            best = [value, size]
    return best


VALUE_CHAIN = Family(
    name="value_chain",
    idea="a hash set of the values, in which chains are followed from their first value",
    arguments=(Argument("values", Kind.INTS, "up to 28 whole numbers from -20 to 20"),),
    result=Kind.INTS,
    solve=value_chain,
    parameters=lambda rng, level: {"step": whole(rng, 2, 2 + level), "largest": pick(rng, (False, True))},
    statement=lambda parameters: (
        f"A chain is a set of values of the list in which each next one is {parameters['step']} more than the one "
        "before; where they stand in the list does not matter, and one value alone is a chain. Find the longest chain "
        "and give its smallest value and how many values it has; of several longest take the one with the "
        f"{'largest' if parameters['largest'] else 'smallest'} smallest value. For an empty list give an empty list."
    ),
    draw=lambda rng, level, parameters: (_chained(rng, level, parameters["step"]),),
    mutants=(
        Mutant("the wrong one of two longest chains", "size > best[1]", "size >= best[1]"),
        Mutant("a chain of neighbouring values", "value + size * step in", "value + size in"),
        Mutant(
            "a value alone is no chain", "if not best or size > best[1]", "if size > 1 and size > (best or [0, 0])[1]"
        ),
        Mutant(
            "takes 0 for a value that is not there",
            "while value + size * step in",
            "while value + size * step != 0 and value + size * step in",
        ),
        Mutant("takes the first chain", "if not best or size > best[1]", "if not best"),
        Mutant("drops signs", "set(values)", "set(map(abs, values))"),
    ),
)


def _chained(rng: random.Random, level: int, step: int) -> list[int]:
    """Values among which some chains of this step are likely."""
    values: list[int] = []
    count = length(rng, level)
    while len(values) < count:
        first, size = whole(rng, -8, 8), whole(rng, 1, min(3, count - len(values)))
        values += [first + place * step for place in range(size)]
    return shuffled(rng, values)


def range_updates(size: int, updates: list[list[int]], *, growth: int) -> list[int]:
    """Only where an update begins and ends is anything written; one pass then adds up slopes and heights."""
    steps, slopes = [0] * (size + 1), [0] * (size + 2)
    for first, last, amount in updates:
        steps[first] += amount
        slopes[first + 1] += growth
        slopes[last + 1] -= growth
        steps[last + 1] -= amount + (last - first) * growth
    height = slope = 0
    cells = []
    for place in range(size):
        slope += slopes[place]
        height += steps[place] + slope
        cells.append(height)
    return cells


RANGE_UPDATES = Family(
    name="range_updates",
    idea="difference array: changes are noted at the ends of a range and added up once",
    arguments=(
        Argument("size", Kind.INT, "the number of cells, from 1 to 28"),
        Argument("updates", Kind.ROWS, "up to 28 rows `first last amount` with 0 <= first <= last < size"),
    ),
    result=Kind.INTS,
    solve=range_updates,
    parameters=lambda rng, level: {"growth": whole(rng, 1, level + 1)},
    statement=lambda parameters: (
        "All cells, numbered from 0, hold 0 at first. An update `first last amount` adds `amount` to cell `first` and "
        f"to each further cell up to and including cell `last` {parameters['growth']} more than to the cell before "
        "it. Give what the cells hold after all updates."
    ),
    draw=lambda rng, level, _: _updates(rng, level),
    mutants=(
        Mutant("leaves the last cell out", "steps[last + 1] -=", "steps[last] -="),
        Mutant("what is added goes on growing after the range", "slopes[last + 1] -= growth", "pass"),
        Mutant("takes the amount back without what it grew by", "amount + (last - first) * growth", "amount"),
        Mutant("grows once too often", "(last - first)", "(last - first + 1)"),
        Mutant(
            "a second update of the same first cell replaces the other",
            "steps[first] += amount",
            "steps[first] = amount",
        ),
        Mutant(
            "a second range that ends there replaces the other",
            "slopes[last + 1] -= growth",
            "slopes[last + 1] = -growth",
        ),
    ),
)


def _updates(rng: random.Random, level: int) -> tuple[int, list[list[int]]]:
    """Cells and ranges; many ranges begin or end with others, or reach the last cell."""
    size = max(1, length(rng, level, 1) // 2)
    rows = []
    for _ in range(whole(rng, 0, 3 + level)):
        first = whole(rng, 0, min(level, size - 1))
        rows.append([first, pick(rng, (first, whole(rng, first, size - 1), size - 1)), whole(rng, -9, 9)])
    return size, rows


FAMILIES = (LONGEST_RUN, CIRCULAR_SUM, FREQUENT_VALUES, DIVISIBLE_PARTS, VALUE_CHAIN, RANGE_UPDATES)

"""Families whose answers are built from those of smaller parts: loads, sums, chains and splits."""

import random
from typing import Any

from llm_envs.code.families.base import Family, Mutant
from llm_envs.code.families.shapes import size, words
from llm_envs.code.families.values import Argument, Kind
from llm_envs.core.draws import pick, sample, whole


def knapsack(items: list[list[int]], capacity: int, *, copies: int, heavy: bool) -> list[int]:
    """The best value for every exact weight; -1 where no choice has it."""
    best = [0] + [-1] * capacity
    for weight, value in items:
        for _ in range(copies):
            for load in range(capacity, weight - 1, -1):
                if best[load - weight] >= 0:
                    best[load] = max(best[load], best[load - weight] + value)
    loads = [load for load in range(capacity + 1) if best[load] == max(best)]
    return [max(best), loads[-1] if heavy else loads[0]]


def _knapsack_draw(rng: random.Random, level: int, parameters: dict[str, Any]) -> tuple[Any, ...]:
    heaviest = whole(rng, 3, 8)
    items = [[whole(rng, 1, heaviest), whole(rng, 1, 4)] for _ in range(size(rng, level, 0, (5, 6, 8)))]
    enough = parameters["copies"] * sum(weight for weight, _ in items)
    return items, min(30, whole(rng, 0, enough))


KNAPSACK = Family(
    name="knapsack",
    idea="knapsack: the best value for every weight",
    arguments=(
        Argument("items", Kind.ROWS, "up to 8 rows `w v` with weight 1 <= w <= 8 and value 1 <= v <= 4"),
        Argument("capacity", Kind.INT, "a whole number from 0 to 30"),
    ),
    result=Kind.INTS,
    solve=knapsack,
    parameters=lambda rng, level: {"copies": whole(rng, 1, level), "heavy": rng.random() < 0.5},
    statement=lambda parameters: (
        f"Of every item `w v` there are {parameters['copies']} pieces (rows that are alike are different items). "
        "Choose pieces with a total weight of at most `capacity` and the greatest total value; of several such choices "
        f"take one with the {'greatest' if parameters['heavy'] else 'least'} total weight. Give its value and weight. "
        "To choose nothing is a choice, with value 0 and weight 0."
    ),
    draw=_knapsack_draw,
    mutants=(
        Mutant(
            "takes every piece as often as it likes", "range(capacity, weight - 1, -1)", "range(weight, capacity + 1)"
        ),
        Mutant("one piece too many of every item", "range(copies)", "range(copies + 1)"),
        Mutant(
            "a later item overwrites a better choice",
            "max(best[load], best[load - weight] + value)",
            "best[load - weight] + value",
        ),
        Mutant("breaks the tie of weights the wrong way", "if heavy", "if not heavy"),
        Mutant("forgets the last item", "in items:", "in items[:-1]:"),
        Mutant(
            "never fills the whole capacity", "range(capacity, weight - 1, -1)", "range(capacity - 1, weight - 1, -1)"
        ),
    ),
)


def coin_ways(coins: list[int], amount: int, *, ordered: bool, modulus: int) -> int:
    """Coins outside, amounts inside: sets of coins; the other way round: sequences."""
    totals = range(1, amount + 1)
    if ordered:
        steps = [(coin, total) for total in totals for coin in coins]
    else:
        steps = [(coin, total) for coin in coins for total in totals]
    ways = [1] + [0] * amount
    for coin, total in steps:
        if total >= coin:
            ways[total] += ways[total - coin]
    return ways[amount] % modulus


def _coin_ways_draw(rng: random.Random, level: int, _parameters: dict[str, Any]) -> tuple[Any, ...]:
    coins = sample(rng, range(1, 3 + 3 * level), size(rng, level, 0, (3, 4, 5)))
    return coins, whole(rng, 0, 4) if rng.random() < 0.25 else whole(rng, 7, (16, 24, 32)[level - 1])


COIN_WAYS = Family(
    name="coin_ways",
    idea="number of ways to pay an amount, coin by coin",
    arguments=(
        Argument("coins", Kind.INTS, "up to 5 whole numbers from 1 to 11, all different"),
        Argument("amount", Kind.INT, "a whole number from 0 to 32"),
    ),
    result=Kind.INT,
    solve=coin_ways,
    parameters=lambda rng, level: {
        "ordered": rng.random() < 0.5,
        "modulus": pick(rng, ((5, 6, 7), (8, 9, 11), (13, 17, 19))[level - 1]),
    },
    statement=lambda parameters: (
        "There are coins of the given values, any number of each. In how many ways can exactly `amount` be paid? "
        + (
            "Coins are laid down one after the other, and ways that differ in the order are different. "
            if parameters["ordered"]
            else "Only how many coins of each value are used matters, not their order. "
        )
        + "An amount of 0 is paid in one way, with no coin. Give the remainder of the number of ways on division by "
        f"{parameters['modulus']}."
    ),
    draw=_coin_ways_draw,
    mutants=(
        Mutant("mixes up whether the order matters", "if ordered:", "if not ordered:"),
        Mutant("forgets the modulus", " % modulus", ""),
        Mutant("a coin never pays the whole amount", "if total >= coin:", "if total > coin:"),
        Mutant(
            "stops at the first coin that is greater than the total",
            "            ways[total] += ways[total - coin]\n",
            "            ways[total] += ways[total - coin]\n        else:\n            break\n",
        ),
        Mutant("starts with no way to pay nothing", "[1] + [0] * amount", "[0] + [0] * amount"),
        Mutant("adds a way for every coin", "+= ways[total - coin]", "+= min(1, ways[total - coin])"),
    ),
)


def product_order(sizes: list[int], *, fee: int, dearest: bool) -> int:
    """The best cost of every part of the chain, short parts first."""
    count = len(sizes) - 1
    choose = max if dearest else min
    cost = [[0] * count for _ in range(count)]
    for length in range(2, count + 1):
        for first in range(count - length + 1):
            last = first + length - 1
            cost[first][last] = choose(
                cost[first][cut] + cost[cut + 1][last] + sizes[first] * sizes[cut + 1] * sizes[last + 1] + fee * length
                for cut in range(first, last)
            )
    return cost[0][count - 1]


PRODUCT_ORDER = Family(
    name="product_order",
    idea="matrix chain: the best cost of every interval from its splits",
    arguments=(Argument("sizes", Kind.INTS, "2 to 9 whole numbers from 1 to 9"),),
    result=Kind.INT,
    solve=product_order,
    parameters=lambda rng, level: {"fee": whole(rng, 1, 2 + 2 * level), "dearest": rng.random() < 0.3},
    statement=lambda parameters: (
        "There is a chain of matrices, one less than there are sizes: matrix number i has as many rows as `sizes[i]` "
        "says and as many columns as `sizes[i + 1]` says, counted from 0. Two neighbours can be multiplied, which puts "
        "their product into their place. To multiply p x q by q x r costs p * q * r, and besides "
        f"{parameters['fee']} for each matrix of the given chain that the product is made of. What is the "
        f"{'greatest' if parameters['dearest'] else 'least'} cost of all multiplications until one matrix is left? A "
        "chain of one matrix costs 0."
    ),
    draw=lambda rng, level, _: ([whole(rng, 1, 9) for _ in range(whole(rng, 2, (6, 7, 9)[level - 1]))],),
    mutants=(
        Mutant("least and greatest mixed up", "max if dearest else min", "min if dearest else max"),
        Mutant(
            "only splits off the first or the last matrix",
            "for cut in range(first, last)",
            "for cut in (first, last - 1)",
        ),
        Mutant("multiplies from the left to the right", "for cut in range(first, last)", "for cut in [last - 1]"),
        Mutant("the fee does not grow with the product", "fee * length", "fee * 2"),
        Mutant("forgets what the right part costs", " + cost[cut + 1][last]", ""),
        Mutant("takes each split for the best one so far", "for cut in range(first, last)", "for cut in [first]"),
    ),
)


def number_splits(digits: str, *, most: int) -> int:
    """The ways to split each beginning of the text."""
    ways = [1]
    for end in range(1, len(digits) + 1):
        total = 0
        for start in range(end):
            if digits[start] != "0" and int(digits[start:end]) <= most:
                total += ways[start]
        ways.append(total)
    return ways[-1]


def _number_splits_draw(rng: random.Random, level: int, parameters: dict[str, Any]) -> tuple[Any, ...]:
    count = size(rng, level, 0, (7, 9, 12))
    text = words(rng, pick(rng, ("1234567890", "1112223456", "112230", "1234")), count)
    if count > 3 and rng.random() < 0.6:  # the bound itself, and a number just above
        place = whole(rng, 0, count - 3)
        text = (text[:place] + str(parameters["most"] + pick(rng, (0, 0, 1))) + text[place:])[:count]
    return (text,)


NUMBER_SPLITS = Family(
    name="number_splits",
    idea="number of ways to split a text into allowed pieces, end by end",
    arguments=(Argument("digits", Kind.TEXT, "a text of up to 12 digits"),),
    result=Kind.INT,
    solve=number_splits,
    parameters=lambda rng, level: {"most": whole(rng, 11, (35, 55, 135)[level - 1])},
    statement=lambda parameters: (
        "In how many ways can the text be split into pieces, one after the other, so that each piece is a whole number "
        f"from 1 to {parameters['most']} written without a leading 0? The empty text can be split in one way."
    ),
    draw=_number_splits_draw,
    mutants=(
        Mutant("leaves out the greatest number", "<= most", "< most"),
        Mutant("takes 0 for a number", 'digits[start] != "0" and', '(digits[start] != "0" or start + 1 == end) and'),
        Mutant("takes numbers with a leading 0", 'digits[start] != "0" and int', "int(digits[start:end]) > 0 and int"),
        Mutant(
            "allows one digit less than the greatest number has",
            "for start in range(end):",
            "for start in range(max(0, end - len(str(most)) + 1), end):",
        ),
        Mutant("a text that cannot be split goes on", "ways.append(total)", "ways.append(total or 1)"),
        Mutant(
            "stops at the first piece that fits",
            "                total += ways[start]\n",
            "                total += ways[start]\n                break\n",
        ),
    ),
)


def sum_rests(values: list[int], *, divisor: int, rest: int) -> int:
    """How many choices have each remainder, value by value."""
    counts = [1] + [0] * (divisor - 1)
    for value in values:
        before = counts[:]
        for old in range(divisor):
            counts[(old + value) % divisor] += before[old]
    return counts[rest]


SUM_RESTS = Family(
    name="sum_rests",
    idea="number of subsets by the remainder of their sum",
    arguments=(Argument("values", Kind.INTS, "up to 12 whole numbers from -9 to 9"),),
    result=Kind.INT,
    solve=sum_rests,
    parameters=lambda rng, level: {"divisor": 1 + 2 * whole(rng, level, level + 1), "rest": whole(rng, 1, 2)},
    statement=lambda parameters: (
        "In how many ways can values of the list be chosen (by their positions, so that equal values differ, "
        f"and not necessarily next to each other) such that their sum is {parameters['rest']} more than a multiple of "
        f"{parameters['divisor']}? Negative multiples and 0 are multiples too."
    ),
    draw=lambda rng, level, _: ([whole(rng, -9, 9) for _ in range(size(rng, level, 0, (6, 9, 12)))],),
    mutants=(
        Mutant("takes a value more than once", "before[old]", "counts[old]"),
        Mutant(
            "counts contiguous parts only",
            "counts[(old + value) % divisor] += before[old]",
            "counts[(old + value) % divisor] = before[old] + (old == 0)",
        ),
        Mutant("forgets the sign of a value", "(old + value)", "(old + abs(value))"),
        Mutant("subtracts values", "(old + value) % divisor", "(old - value) % divisor"),
        Mutant("takes all choices without a remainder for one", "before = counts[:]", "before = [1, *counts[1:]]"),
        Mutant("must take every value", "+= before[old]", "= before[old]"),
    ),
)

FAMILIES = (KNAPSACK, COIN_WAYS, PRODUCT_ORDER, NUMBER_SPLITS, SUM_RESTS)

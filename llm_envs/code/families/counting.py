"""Families about arrangements and counts that are too many to list."""

import random
from typing import Any

from llm_envs.code.families.base import Family, Mutant
from llm_envs.code.families.shapes import size, words
from llm_envs.code.families.values import Argument, Kind
from llm_envs.core.draws import pick, sample, whole


def arrangement_rank(word: str, *, first: int, backward: bool) -> int:
    """For every letter, the arrangements that go on with a smaller one in its place."""
    from math import factorial

    rank = first
    rest = sorted(word, reverse=backward)
    for letter in word:
        for smaller in dict.fromkeys(rest):
            if smaller == letter:
                break
            left = rest.copy()
            left.remove(smaller)
            ways = factorial(len(left))
            for other in set(left):
                ways //= factorial(left.count(other))
            rank += ways
        rest.remove(letter)
    return rank


def _arrangement_rank_draw(rng: random.Random, level: int, parameters: dict[str, Any]) -> tuple[Any, ...]:
    word = words(rng, pick(rng, ("ab", "abc", "abcd", "abcdef")), size(rng, level, 0, (5, 7, 9)))
    if rng.random() < 0.15:
        word = "".join(sorted(word, reverse=parameters["backward"]))
    return (word,)


ARRANGEMENT_RANK = Family(
    name="arrangement_rank",
    idea="rank of a permutation of a multiset",
    arguments=(Argument("word", Kind.TEXT, "a text of up to 9 letters, from a to f"),),
    result=Kind.INT,
    solve=arrangement_rank,
    parameters=lambda rng, level: {"first": whole(rng, 0, 3 * level), "backward": rng.random() < 0.5},
    statement=lambda parameters: (
        "All different texts that have the same letters as the given one, each as often, are listed in "
        f"{'reversed ' if parameters['backward'] else ''}alphabetical order and numbered from {parameters['first']}. "
        "Which number does the given text have? The empty text is the only one of its list."
    ),
    draw=_arrangement_rank_draw,
    mutants=(
        Mutant("counts equal letters several times", "in dict.fromkeys(rest):", "in rest:"),
        Mutant("takes equal letters for different ones", "ways //= factorial(left.count(other))", "ways //= 1"),
        Mutant("mixes up the direction of the list", "reverse=backward", "reverse=not backward"),
        Mutant("strikes out the smallest letter, not the one used", "rest.remove(letter)", "rest.pop(0)"),
        Mutant("divides by the repetitions of one letter only", "for other in set(left):", "for other in [smaller]:"),
        Mutant(
            "counts the repetitions before a letter is used",
            "factorial(left.count(other))",
            "factorial(rest.count(other))",
        ),
    ),
)


def multiples_count(divisors: list[int], limit: int, *, asked: str) -> int:
    """Inclusion and exclusion over the sets of divisors."""
    from math import lcm

    total = limit if asked == "none" else 0
    for chosen in range(1, 1 << len(divisors)):
        members = [divisor for place, divisor in enumerate(divisors) if chosen >> place & 1]
        sign = 1 if len(members) % 2 else -1
        weight = {"some": sign, "none": -sign, "one": sign * len(members)}[asked]
        total += weight * (limit // lcm(*members))
    return total


_ASKED = {"some": "at least one", "none": "none", "one": "exactly one"}


def _multiples_count_draw(rng: random.Random, level: int, _parameters: dict[str, Any]) -> tuple[Any, ...]:
    divisors = sample(rng, range(2, 16), size(rng, level, 0, (3, 4, 5)))
    if divisors and rng.random() < 0.4:
        divisors[-1] = divisors[0] * pick(rng, (2, 3)) if rng.random() < 0.7 else divisors[0]
    return divisors, whole(rng, 0, 10) if rng.random() < 0.2 else whole(rng, 10, 10 ** (2 + 2 * level))


MULTIPLES_COUNT = Family(
    name="multiples_count",
    idea="inclusion and exclusion over least common multiples",
    arguments=(
        Argument("divisors", Kind.INTS, "up to 5 whole numbers from 2 to 45; they may be equal"),
        Argument("limit", Kind.INT, "a whole number from 0 to 100000000"),
    ),
    result=Kind.INT,
    solve=multiples_count,
    parameters=lambda rng, level: {"asked": pick(rng, ("some", "none", "one")[: 1 + level])},
    statement=lambda parameters: (
        f"How many of the whole numbers from 1 to `limit` are divisible by {_ASKED[parameters['asked']]} of the "
        "divisors in the list (an equal divisor counts as another one)?"
    ),
    draw=_multiples_count_draw,
    mutants=(
        Mutant("multiplies the divisors", "lcm(*members)", "__import__('math').prod(members)"),
        Mutant("adds all sets", "sign = 1 if len(members) % 2 else -1", "sign = 1"),
        Mutant("leaves out the set of all divisors", "1 << len(divisors))", "(1 << len(divisors)) - 1)"),
        Mutant(
            "takes single divisors and pairs only",
            "        sign = 1",
            "        if len(members) > 2:\n            continue\n        sign = 1",
        ),
        Mutant("leaves out the limit", "(limit // lcm", "((limit - 1) // lcm"),
        Mutant("rounds up", "(limit // lcm(*members))", "-(-limit // lcm(*members))"),
        Mutant("takes the greatest divisor for the common multiple", "lcm(*members)", "max(members)"),
    ),
)


def later_arrangement(values: list[int], *, steps: int, backward: bool) -> list[int]:
    """Next permutation: raise the last value that can be raised by the least, and sort what follows."""
    keys = [-value if backward else value for value in values]
    for _ in range(steps):
        pivot = len(keys) - 2
        while pivot >= 0 and keys[pivot] >= keys[pivot + 1]:
            pivot -= 1
        if pivot >= 0:
            other = len(keys) - 1
            while keys[other] <= keys[pivot]:
                other -= 1
            keys[pivot], keys[other] = keys[other], keys[pivot]
        keys[pivot + 1 :] = keys[pivot + 1 :][::-1]
    return [abs(key) for key in keys]


def _later_arrangement_draw(rng: random.Random, level: int, parameters: dict[str, Any]) -> tuple[Any, ...]:
    count = size(rng, level, 0, (6, 7, 9))
    most = pick(rng, (3, 5, 9))
    values = [whole(rng, 1, most) for _ in range(count)]
    if rng.random() < 0.3:  # near the end of the list, where it starts again
        values.sort(reverse=not parameters["backward"])
        if count > 1 and rng.random() < 0.5:
            values[-2:] = values[:-3:-1]
    return (values,)


LATER_ARRANGEMENT = Family(
    name="later_arrangement",
    idea="next permutation in lexicographic order",
    arguments=(Argument("values", Kind.INTS, "up to 9 whole numbers from 1 to 9"),),
    result=Kind.INTS,
    solve=later_arrangement,
    parameters=lambda rng, level: {"steps": whole(rng, 2, 1 + level), "backward": rng.random() < 0.5},
    statement=lambda parameters: (
        "All different arrangements of the values are listed in lexicographic order (compared at the first position "
        "where they differ), and after the last one the list starts again with the first. Give the arrangement that "
        f"stands {parameters['steps']} places {'before' if parameters['backward'] else 'after'} the given one."
    ),
    draw=_later_arrangement_draw,
    mutants=(
        Mutant("goes one place only", "range(steps)", "range(1)"),
        Mutant("mixes up before and after", "if backward", "if not backward"),
        Mutant("takes equal neighbours for a rise", "keys[pivot] >= keys[pivot + 1]", "keys[pivot] > keys[pivot + 1]"),
        Mutant("swaps with an equal value", "keys[other] <= keys[pivot]", "keys[other] < keys[pivot]"),
        Mutant("leaves what follows as it is", "        keys[pivot + 1 :] = keys[pivot + 1 :][::-1]\n", ""),
        Mutant(
            "stops at the end of the list",
            "        if pivot >= 0:\n",
            "        if pivot < 0:\n            break\n        if pivot >= 0:\n",
        ),
        Mutant(
            "swaps with the next value, not with the smallest greater one",
            "            while keys[other] <= keys[pivot]:\n                other -= 1\n",
            "            other = pivot + 1\n",
        ),
    ),
)

FAMILIES = (ARRANGEMENT_RANK, MULTIPLES_COUNT, LATER_ARRANGEMENT)

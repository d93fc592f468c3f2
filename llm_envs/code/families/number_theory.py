"""Families about remainders, divisors, primes and digits."""

import random
from typing import Any

from llm_envs.code.families.base import Family, Mutant
from llm_envs.code.families.shapes import size
from llm_envs.code.families.values import Argument, Kind
from llm_envs.core.draws import pick, whole


def common_meeting(clocks: list[list[int]], *, least: int) -> int:
    """Chinese remainders by sieving; the moduli need not be coprime."""
    from math import lcm

    moment, period = 0, 1
    for rest, modulus in clocks:
        for _ in range(modulus):
            if (moment - rest) % modulus == 0:
                break
            moment += period
        else:
            return -1
        period = lcm(period, modulus)
    if moment < least:
        moment += -((moment - least) // period) * period
    return moment


def _common_meeting_draw(rng: random.Random, level: int, _parameters: dict[str, Any]) -> tuple[Any, ...]:
    moment = whole(rng, 0, 10**level)
    clocks = []
    for _ in range(size(rng, level, 0, (2, 3, 4))):
        modulus = pick(rng, (2, 3, 4, 6, 6, 8, 9, 10, 12, 7))
        clocks.append([moment % modulus + modulus * whole(rng, 0, 1), modulus])
    if clocks and rng.random() < 0.3:
        clocks[-1][0] += 1
    return (clocks,)


COMMON_MEETING = Family(
    name="common_meeting",
    idea="Chinese remainder theorem with moduli that may have common divisors",
    arguments=(Argument("clocks", Kind.ROWS, "up to 4 rows `r m` with 0 <= r <= 24 and 2 <= m <= 12"),),
    result=Kind.INT,
    solve=common_meeting,
    parameters=lambda rng, level: {"least": whole(rng, 6 * level, 12 * level)},
    statement=lambda parameters: (
        f"Find the least whole number that is at least {parameters['least']} and that, for every row `r m`, leaves the "
        "same remainder on division by `m` as `r` does. Give -1 if there is no such number."
    ),
    draw=_common_meeting_draw,
    mutants=(
        Mutant("multiplies the moduli", "period = lcm(period, modulus)", "period *= modulus"),
        Mutant("does not notice that there is no such number", "            return -1\n", "            pass\n"),
        Mutant(
            "asks for the remainder itself, not that of `r`",
            "(moment - rest) % modulus == 0",
            "moment % modulus == rest",
        ),
        Mutant("gives the least number of all", "    if moment < least:\n", "    if moment < 0:\n"),
        Mutant("goes on by one period only", "-((moment - least) // period) * period", "period"),
        Mutant(
            "asks for more than the bound",
            "if moment < least:\n        moment += -((moment - least)",
            "if moment <= least:\n        moment += -((moment - least - 1)",
        ),
    ),
)


def factor_count(low: int, high: int, *, factors: int, repeated: bool) -> list[int]:
    """A sieve: every prime counts itself into its multiples."""
    counts = [0] * (high + 1)
    for prime in range(2, high + 1):
        if counts[prime]:
            continue
        power = prime
        while power <= high:
            for multiple in range(power, high + 1, power):
                counts[multiple] += 1
            power = power * prime if repeated else high + 1
    return [number for number in range(low, high + 1) if counts[number] == factors]


def _factor_count_draw(rng: random.Random, level: int, _parameters: dict[str, Any]) -> tuple[Any, ...]:
    low = whole(rng, 1, (30, 90, 290)[level - 1]) if rng.random() < 0.8 else whole(rng, 1, 4)
    return low, low + whole(rng, 0, 6)


FACTOR_COUNT = Family(
    name="factor_count",
    idea="sieve that counts the prime factors of every number",
    arguments=(
        Argument("low", Kind.INT, "a whole number from 1 to 290"),
        Argument("high", Kind.INT, "a whole number from 1 to 296, not less than `low`"),
    ),
    result=Kind.INTS,
    solve=factor_count,
    parameters=lambda rng, _level: {"factors": whole(rng, 1, 2), "repeated": rng.random() < 0.5},
    statement=lambda parameters: (
        "Give in ascending order all whole numbers from `low` to `high`, both included, that have exactly "
        f"{parameters['factors']} prime factors, where a prime that divides a number several times counts "
        f"{'as often as it does' if parameters['repeated'] else 'once'}. There may be none; 1 has no prime factor."
    ),
    draw=_factor_count_draw,
    mutants=(
        Mutant("mixes up how often a prime counts", "if repeated", "if not repeated"),
        Mutant("leaves out the upper bound", "range(low, high + 1)", "range(low, high)"),
        Mutant("leaves out the lower bound", "range(low, high + 1)", "range(low + 1, high + 1)"),
        Mutant("forgets the prime 2", "for prime in range(2, high + 1):", "for prime in range(3, high + 1):"),
        Mutant("gives them in descending order", "range(low, high + 1)", "range(high, low - 1, -1)"),
        Mutant(
            "forgets the primes above the square root of the bound",
            "for prime in range(2, high + 1):",
            "for prime in range(2, int(high**0.5) + 1):",
        ),
    ),
)


def totients(numbers: list[int], *, times: int) -> list[int]:
    """Euler's function from the prime factors, again and again."""

    def totient(number: int) -> int:
        result, rest, prime = number, number, 2
        while prime * prime <= rest:
            if rest % prime == 0:
                result -= result // prime
                while rest % prime == 0:
                    rest //= prime
            prime += 1
        if rest > 1:
            result -= result // rest
        return result

    answers = []
    for number in numbers:
        share = number
        for _ in range(times):
            share = totient(share)
        answers.append(share)
    return answers


def _totients_draw(rng: random.Random, level: int, _parameters: dict[str, Any]) -> tuple[Any, ...]:
    count = whole(rng, 1, 1 + level) if rng.random() < 0.9 else 0
    special = (1, 2, 3, 4, 5, 6, 9, 12, 16, 25, 49)
    return ([pick(rng, special) if rng.random() < 0.6 else whole(rng, 1, 100**level // 3) for _ in range(count)],)


TOTIENTS = Family(
    name="totients",
    idea="Euler's totient from the prime factors",
    arguments=(Argument("numbers", Kind.INTS, "up to 4 whole numbers from 1 to 333333"),),
    result=Kind.INTS,
    solve=totients,
    parameters=lambda rng, level: {"times": whole(rng, 1, level)},
    statement=lambda parameters: (
        "The share of a number n is how many of the whole numbers from 1 to n have no common divisor with n but 1 (so "
        "the share of 1 is 1). Replace each number by its share, and do so "
        f"{parameters['times']} times in all. Give what the numbers have become, in the given order."
    ),
    draw=_totients_draw,
    mutants=(
        Mutant("forgets the prime that is left over", "        if rest > 1:\n", "        if rest > number:\n"),
        Mutant("misses a prime whose square is left over", "prime * prime <= rest", "prime * prime < rest"),
        Mutant(
            "takes a prime off as often as it divides",
            "                result -= result // prime\n                while rest % prime == 0:\n"
            "                    rest //= prime\n",
            "                while rest % prime == 0:\n                    rest //= prime\n"
            "                    result -= result // prime\n",
        ),
        Mutant("takes even candidates for the only primes", "prime += 1", "prime += 2"),
        Mutant("once too often", "range(times)", "range(times + 1)"),
        Mutant("takes 1 for a prime that is left over", "if rest > 1:", "if rest >= 1:"),
    ),
)


def negative_base(numbers: list[int], *, base: int) -> list[str]:
    """Divide again and again; a negative remainder is made positive by one more."""
    lines = []
    for number in numbers:
        digits = "0" if number == 0 else ""
        left = number
        while left != 0:
            left, digit = divmod(left, -base)
            if digit < 0:
                left, digit = left + 1, digit + base
            digits = str(digit) + digits
        lines.append(digits)
    return lines


def _negative_base_draw(rng: random.Random, level: int, parameters: dict[str, Any]) -> tuple[Any, ...]:
    base, most = parameters["base"], 10 ** (2 * level - 1)
    special = (-1, 0, 0, 1, base - 1, base, -base)
    count = whole(rng, 1, 3) if rng.random() < 0.9 else 0
    return ([pick(rng, special) if rng.random() < 0.5 else whole(rng, -most, most) for _ in range(count)],)


NEGATIVE_BASE = Family(
    name="negative_base",
    idea="digits in a negative base by division with remainder",
    arguments=(Argument("numbers", Kind.INTS, "up to 3 whole numbers from -100000 to 100000"),),
    result=Kind.LINES,
    solve=negative_base,
    parameters=lambda rng, level: {"base": whole(rng, 2, (4, 7, 10)[level - 1])},
    statement=lambda parameters: (
        f"Write each number in base minus {parameters['base']}: as digits from 0 to {parameters['base'] - 1} without a "
        f"sign and without leading zeros, where the last digit counts 1, the one before it -{parameters['base']}, the "
        f"one before that {parameters['base'] ** 2}, and so on by further powers of -{parameters['base']}. The number "
        "0 is written 0. Give a line for each number, in the given order."
    ),
    draw=_negative_base_draw,
    mutants=(
        Mutant("leaves out digits that are 0", "str(digit) + digits", "str(digit or '') + digits"),
        Mutant("carries also where nothing remains", "if digit < 0:", "if digit <= 0:"),
        Mutant("gives the digits backward", "str(digit) + digits", "digits + str(digit)"),
        Mutant("writes nothing for 0", '"0" if number == 0 else ""', '""'),
        Mutant("writes the number without its sign", "left = number", "left = abs(number)"),
        Mutant("stops at the last digit but one", "while left != 0:", "while abs(left) >= base:"),
    ),
)

FAMILIES = (COMMON_MEETING, FACTOR_COUNT, TOTIENTS, NEGATIVE_BASE)

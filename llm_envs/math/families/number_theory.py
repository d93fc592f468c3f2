"""Number theory: divisors, remainders, bases, factorials."""

import random
from math import gcd, lcm

from llm_envs.core.draws import pick, sample, whole
from llm_envs.math.families.base import Draft, Family, Form, Topic
from llm_envs.math.families.programs import program

_SMALL_PRIMES = (2, 3, 5, 7, 11, 13)

_FLASH = """
time, together = 0, 0
while time < 60 * minutes:
    time += 1
    together += all(time % period == 0 for period in periods)
print(together)
"""


def _common_periods(rng: random.Random, level: int) -> Draft:
    steps = sample(rng, range(2, 13), level + 1)
    factor = whole(rng, 1, 4)
    periods = tuple(sorted([factor * step for step in steps]))
    minutes = whole(rng, 30, 240)
    answer = 60 * minutes // lcm(*periods)
    told = f"{', '.join(map(str, periods[:-1]))} and {periods[-1]}"
    text = pick(
        rng,
        (
            (
                f"Lamps flash every {told} seconds. All of them flash at the start. How many times do all flash "
                f"together in the {minutes} minutes after that, the start not counted and the end counted?"
            ),
            (
                f"Bells ring at intervals of {told} seconds, and all ring now. Counting the last second but not this "
                f"very moment, how often do they all ring at once within the next {minutes} minutes?"
            ),
        ),
    )
    return Draft(text, str(answer), program(_FLASH, periods=periods, minutes=minutes))


_SEARCH_REMAINDERS = """
number = 1
while any(number % modulus != rest for modulus, rest in conditions):
    number += 1
print(number)
"""

_MODULI = {1: (range(7, 40), 2), 2: (range(5, 20), 3), 3: (range(4, 14), 4)}  # level -> choices, how many


def _remainders(rng: random.Random, level: int) -> Draft:
    choices, count = _MODULI[level]
    moduli = sorted(sample(rng, choices, count))
    answer = whole(rng, 1, lcm(*moduli))
    conditions = tuple([(modulus, answer % modulus) for modulus in moduli])
    told = ", ".join([f"{rest} when divided by {modulus}" for modulus, rest in conditions])
    text = pick(
        rng,
        (
            f"Find the least positive integer that leaves the remainders {told}.",
            f"What is the smallest positive integer with the following remainders: {told}?",
        ),
    )
    return Draft(text, str(answer), program(_SEARCH_REMAINDERS, conditions=conditions))


_MULTIPLY_ON = """
power = 1
for _ in range(exponent ** height):
    power = power * base % modulus
print(power)
"""


def _power_residue(rng: random.Random, level: int) -> Draft:
    base = whole(rng, 2, 20)
    modulus = whole(rng, 11, 60) if level == 1 else whole(rng, 61, 150)
    exponent, height = (whole(rng, 20, 200), 1) if level < 3 else (whole(rng, 3, 9), whole(rng, 3, 4))
    answer = pow(base, exponent**height, modulus)
    power = f"{base}^{{{exponent}}}" if level < 3 else f"{base}^{{{exponent}^{height}}}"
    tower = "" if level < 3 else f" (the exponent is ${exponent}^{height}$)"
    text = pick(
        rng,
        (
            f"What is the remainder when ${power}${tower} is divided by {modulus}?",
            f"Find the integer $r$ with $0 \\le r < {modulus}$ and ${power} \\equiv r \\pmod{{{modulus}}}${tower}.",
        ),
    )
    code = program(_MULTIPLY_ON, base=base, exponent=exponent, height=height, modulus=modulus)
    return Draft(text, str(answer), code)


_COUNT_DIVISORS = """
divisors = {1}
for prime, power in factors:
    for _ in range(power):
        divisors |= {divisor * prime for divisor in divisors}
print(sum(divisor % multiple == 0 for divisor in divisors))
"""


def _divisor_count(rng: random.Random, level: int) -> Draft:
    primes = sorted(sample(rng, _SMALL_PRIMES[: level + 3], level + 1))
    factors = tuple([(prime, whole(rng, 2, 15 - 3 * level)) for prime in primes])
    least = [whole(rng, 0, power - 1) for _, power in factors]
    answer, multiple = 1, 1
    for (prime, power), needed in zip(factors, least, strict=True):
        answer *= power - needed + 1
        multiple *= prime**needed
    product = r" \cdot ".join([f"{prime}^{{{power}}}" for prime, power in factors])
    condition = f" that are multiples of {multiple}" if multiple > 1 else ""
    text = pick(
        rng,
        (
            f"How many positive divisors of ${product}$ are there{condition}?",
            f"Count the positive divisors of $n = {product}${condition}.",
        ),
    )
    return Draft(text, str(answer), program(_COUNT_DIVISORS, factors=factors, multiple=multiple))


_ODOMETER = """
def read(digits, base):
    value = 0
    for digit in digits:
        value = value * base + int(digit)
    return value

value = sum(read(digits, base) for digits in given)
wheels = [0]  # counts up to the value in the new base
for _ in range(value):
    place = 0
    while wheels[place] == target - 1:
        wheels[place] = 0
        place += 1
        if place == len(wheels):
            wheels.append(0)
    wheels[place] += 1
print("".join(map(str, reversed(wheels))))
"""


def _digits(value: int, base: int) -> str:
    text = ""
    while value:
        value, digit = divmod(value, base)
        text = str(digit) + text
    return text


def _base_conversion(rng: random.Random, level: int) -> Draft:
    base = whole(rng, 4, 9) if level > 1 else 10
    target = pick(rng, [each for each in range(3, 10) if each != base])
    values = sorted([whole(rng, 50, 900) for _ in range(1 if level < 3 else 2)])
    given = tuple([_digits(value, base) for value in values])
    shown = " and ".join([f"${digits}_{{{base}}}$" for digits in given])
    if level < 3:
        ask = pick(rng, (f"Write {shown} in base {target}.", f"What is {shown} in base {target}?"))
    else:
        ask = pick(
            rng, (f"Write the sum of {shown} in base {target}.", f"Add {shown}. What is the sum in base {target}?")
        )
    text = f"{ask} A subscript, itself decimal, is the base a number is written in."
    code = program(_ODOMETER, given=given, base=base, target=target)
    return Draft(text, _digits(sum(values), target), code)


_TRY_RESIDUES = """
print(next(x for x in range(modulus) if (factor * x - rest) % modulus == 0))
"""


def _linear_congruence(rng: random.Random, level: int) -> Draft:
    common = 1 if level < 3 else whole(rng, 2, 12)
    modulus = whole(rng, 11, 50) if level == 1 else whole(rng, 51, 300)
    factor = whole(rng, 2, modulus - 1)
    while gcd(factor, modulus) > 1:
        factor = whole(rng, 2, modulus - 1)
    rest = 1 if level == 1 and rng.random() < 0.5 else whole(rng, 2, modulus - 1)
    answer = pow(factor, -1, modulus) * rest % modulus
    factor, rest, modulus = factor * common, rest * common, modulus * common
    text = pick(
        rng,
        (
            rf"Find the least integer $x \ge 0$ with ${factor}x \equiv {rest} \pmod{{{modulus}}}$.",
            (
                f"What is the smallest non-negative integer $x$ for which ${factor}x$ leaves the remainder {rest} when "
                f"divided by {modulus}?"
            ),
        ),
    )
    return Draft(text, str(answer), program(_TRY_RESIDUES, factor=factor, rest=rest, modulus=modulus))


_PAYABLE = """
payable = [True]
run = 1  # amounts in a row that can be paid
while run < min(coins):
    payable.append(any(coin <= len(payable) and payable[len(payable) - coin] for coin in coins))
    run = run + 1 if payable[-1] else 0
gaps = [amount for amount, can in enumerate(payable) if not can]
print(len(gaps) if count else gaps[-1])
"""


def _least_by_residue(coins: list[int]) -> list[int]:
    """The least payable amount of each remainder modulo the first coin (round robin of Böcker and Lipták, 2007)."""
    first = coins[0]
    least = [0] + [first * max(coins)] * (first - 1)
    for coin in coins[1:]:
        loops = gcd(first, coin)
        for start in range(loops):
            amount = min(least[start::loops])
            for _ in range(2 * (first // loops)):
                place = amount % first
                amount = least[place] = min(least[place], amount)
                amount += coin
    return least


def _frobenius(rng: random.Random, level: int) -> Draft:
    count = level == 2
    while True:
        coins = sorted([whole(rng, 4, 60 if level < 3 else 30) for _ in range(2 if level < 3 else 3)])
        if gcd(*coins) == 1 and len(set(coins)) == len(coins):
            break
    if level == 1:
        answer = coins[0] * coins[1] - coins[0] - coins[1]
    elif level == 2:
        answer = (coins[0] - 1) * (coins[1] - 1) // 2
    else:
        answer = max(_least_by_residue(coins)) - coins[0]
    told = f"{', '.join(map(str, coins[:-1]))} and {coins[-1]}"
    ask = "How many positive whole amounts cannot" if count else "What is the largest whole amount that cannot"
    text = pick(
        rng,
        (
            f"A land has coins of {told} units only, as many as one likes of each. {ask} be paid exactly?",
            f"Stamps come in values of {told} only. {ask} be made up exactly of such stamps, any number of each?",
        ),
    )
    return Draft(text, str(answer), program(_PAYABLE, coins=tuple(coins), count=int(count)))


_FACTOR_OUT = """
product = 1
for factor in range(low + 1, high + 1):
    product *= factor
zeros = 0
while product % base == 0:
    product //= base
    zeros += 1
print(zeros)
"""


def _legendre(number: int, prime: int) -> int:
    """The exponent of a prime in a factorial."""
    total = 0
    while number:
        number //= prime
        total += number
    return total


def _factorial_zeros(rng: random.Random, level: int) -> Draft:
    base = pick(rng, {1: (3, 5, 7, 10), 2: (6, 14, 15, 21, 22), 3: (12, 18, 20, 24, 45, 50)}[level])
    low = 0 if level == 1 else whole(rng, 5, 100)
    high = low + whole(rng, 30, 250)
    parts = {
        prime: next(k for k in range(9) if base % prime ** (k + 1)) for prime in _SMALL_PRIMES if base % prime == 0
    }
    answer = min([(_legendre(high, prime) - _legendre(low, prime)) // power for prime, power in parts.items()])
    product = f"{high}!" if low == 0 else rf"\frac{{{high}!}}{{{low}!}}"
    text = pick(
        rng,
        (
            f"What is the largest integer $k$ for which ${base}^k$ divides ${product}$?",
            f"With how many zeros does ${product}$ end when it is written in base {base}?",
        ),
    )
    return Draft(text, str(answer), program(_FACTOR_OUT, low=low, high=high, base=base))


FAMILIES = (
    Family(
        "common_periods",
        Topic.NUMBER_THEORY,
        "what recurs together does so every lcm",
        Form.INTEGER,
        ("two periods", "three periods", "four periods"),
        _common_periods,
    ),
    Family(
        "remainders",
        Topic.NUMBER_THEORY,
        "the Chinese remainder theorem",
        Form.INTEGER,
        ("two moduli", "three moduli", "four moduli"),
        _remainders,
    ),
    Family(
        "power_residue",
        Topic.NUMBER_THEORY,
        "powers repeat modulo a number",
        Form.INTEGER,
        ("modulus up to 60", "modulus up to 150", "a power in the exponent"),
        _power_residue,
    ),
    Family(
        "divisor_count",
        Topic.NUMBER_THEORY,
        "exponents of a divisor are free choices",
        Form.INTEGER,
        ("two primes", "three primes", "four primes"),
        _divisor_count,
    ),
    Family(
        "base_conversion",
        Topic.NUMBER_THEORY,
        "place value in other bases",
        Form.DIGITS,
        ("from base 10", "between bases", "the sum of two numbers"),
        _base_conversion,
    ),
    Family(
        "linear_congruence",
        Topic.NUMBER_THEORY,
        "an inverse modulo a number",
        Form.INTEGER,
        ("modulus up to 50", "modulus up to 300", "a common factor to take out"),
        _linear_congruence,
    ),
    Family(
        "unpayable_amounts",
        Topic.NUMBER_THEORY,
        "the Frobenius number of a set of coins",
        Form.INTEGER,
        ("the largest of two coins", "how many for two coins", "the largest of three coins"),
        _frobenius,
    ),
    Family(
        "factorial_zeros",
        Topic.NUMBER_THEORY,
        "Legendre's formula, prime by prime",
        Form.INTEGER,
        ("of a factorial", "of a quotient, several primes", "with powers of primes in the base"),
        _factorial_zeros,
    ),
)

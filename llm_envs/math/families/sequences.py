"""Sequences and series: arithmetic, geometric, recurrent, telescoping, periodic, polynomial, in blocks."""

import random
from fractions import Fraction

from llm_envs.core.draws import pick, whole
from llm_envs.math.families import latex
from llm_envs.math.families.base import Draft, Family, Form, Topic
from llm_envs.math.families.polynomials import evaluate, nonzero
from llm_envs.math.families.programs import program

_TRY_PROGRESSIONS = """
def term(first, step, place):
    value = first
    for _ in range(place - 1):
        value += step
    return value

(place, value), (other_place, other_value) = known
for step in range(-40, 41):
    if term(value, step, other_place - place + 1) == other_value:
        first = term(value, -step, place)
        print(sum(term(first, step, k) for k in range(begin, end + 1)))
"""


def _arithmetic_sum(rng: random.Random, level: int) -> Draft:
    first, step = whole(rng, -20, 30), nonzero(rng, 12)
    place = 1 if level == 1 else whole(rng, 2, 9)
    other = 2 if level == 1 else place + whole(rng, 2, 15)
    begin, end = 1 if level < 3 else whole(rng, 10, 20), whole(rng, 25, 80)
    known = tuple([(k, first + (k - 1) * step) for k in (place, other)])
    answer = (end - begin + 1) * (2 * first + (begin + end - 2) * step) // 2
    told = " and ".join([f"$a_{{{k}}} = {value}$" for k, value in known])
    text = pick(
        rng,
        (
            f"An arithmetic progression has {told}. Find $a_{{{begin}}} + a_{{{begin + 1}}} + \\dots + a_{{{end}}}$.",
            (
                f"The differences of successive terms of $a_1, a_2, \\dots$ are all equal, and {told}. What is the sum "
                f"of the terms $a_{{{begin}}}$ to $a_{{{end}}}$, both included?"
            ),
        ),
    )
    return Draft(text, str(answer), program(_TRY_PROGRESSIONS, known=known, begin=begin, end=end))


_ADD_TERMS = """
from fractions import Fraction

total, term = Fraction(0), Fraction(first)
for _ in range(count):
    total += term
    term = term * top / bottom
print(total)
"""

_EXTRAPOLATE = """
from fractions import Fraction

sums, term = [Fraction(0)], Fraction(first)
for _ in range(2):
    sums.append(sums[-1] + term)
    term = term * top / bottom
(a, b, c) = sums  # Aitken's extrapolation is exact for a geometric series
print(a - (b - a) ** 2 / (c - 2 * b + a))
"""

_BOUNCE = """
from fractions import Fraction

sums, fall = [], height
for _ in range(3):
    rise = Fraction(fall * top, bottom)
    sums.append((sums[-1] if sums else 0) + fall + rise)
    fall = rise
(a, b, c) = sums  # Aitken's extrapolation is exact for a geometric series
print(a - (b - a) ** 2 / (c - 2 * b + a))
"""


def _geometric_sum(rng: random.Random, level: int) -> Draft:
    if level == 3:
        return _bouncing_ball(rng)
    bottom, first = whole(rng, 2, 12), nonzero(rng, 30)
    if level == 1:
        ratio = Fraction(pick(rng, [top for top in range(1, bottom + 4) if top != bottom]), bottom)
        count = whole(rng, 4, 7)
        answer = first * (1 - ratio**count) / (1 - ratio)
        what, body, extent = f"first {count} terms", _ADD_TERMS, {"count": count}
    else:
        ratio = Fraction(nonzero(rng, bottom - 1), bottom)
        answer = first / (1 - ratio)
        what, body, extent = "whole infinite series", _EXTRAPOLATE, {}
    code = program(body, first=first, top=ratio.numerator, bottom=ratio.denominator, **extent)
    text = f"A geometric series begins with {first}; each further term is {ratio} times the one before it."
    text += pick(rng, (f" Find the sum of the {what}.", f" What does the {what} add up to?"))
    return Draft(text, latex.number(answer), code)


def _bouncing_ball(rng: random.Random) -> Draft:
    height, bottom = whole(rng, 2, 60), whole(rng, 2, 12)
    top, bottom = Fraction(whole(rng, 1, bottom - 1), bottom).as_integer_ratio()
    text = pick(
        rng,
        (
            (
                f"A ball falls from {height} m and rises after each bounce to {top}/{bottom} of the height it fell "
                "from. How many metres does it travel in all, up and down, if it bounces for ever?"
            ),
            (
                f"Dropped from a height of {height} m, a ball climbs back to {top}/{bottom} of its last height each "
                "time it hits the ground, without end. Find the total length of its way in metres."
            ),
        ),
    )
    answer = Fraction(height * (bottom + top), bottom - top)
    return Draft(text, latex.number(answer), program(_BOUNCE, height=height, top=top, bottom=bottom))


_STEP_ON = """
terms = list(begin)
while len(terms) <= place:
    terms.append(sum(factor * term for factor, term in zip(factors, terms[::-1])) + extra)
    if modulus:
        terms[-1] %= modulus
print(terms[place])
"""

Square = tuple[int, int, int, int]


def _times(a: Square, b: Square, modulus: int) -> Square:
    """The product of two 2x2 matrices, row by row."""
    return (
        (a[0] * b[0] + a[1] * b[2]) % modulus,
        (a[0] * b[1] + a[1] * b[3]) % modulus,
        (a[2] * b[0] + a[3] * b[2]) % modulus,
        (a[2] * b[1] + a[3] * b[3]) % modulus,
    )


def _recurrence(rng: random.Random, level: int) -> Draft:
    factors: tuple[int, ...]
    begin: tuple[int, ...]
    if level == 1:
        factor, extra, start, place = whole(rng, 2, 5), nonzero(rng, 9), whole(rng, 1, 9), whole(rng, 4, 8)
        fixed = Fraction(extra, 1 - factor)
        answer, modulus = int(fixed + (start - fixed) * factor**place), 0
        factors, begin = (factor,), (start,)
        rule, ask = latex.linear_combination(((factor, "a_n"), (extra, ""))), f"$a_{{{place}}}$"
    else:
        factors, begin = (nonzero(rng, 4), nonzero(rng, 4)), (whole(rng, 0, 6), whole(rng, 1, 6))
        extra, modulus = 0, 0 if level == 2 else whole(rng, 30, 200)
        place = whole(rng, 6, 12) if level == 2 else whole(rng, 100, 2000)
        size = modulus or 1 << 64  # without a modulus, one beyond twice any term
        power, step = (1, 0, 0, 1), (factors[0], factors[1], 1, 0)
        for bit in f"{place:b}":
            power = _times(power, power, size)
            power = _times(power, step, size) if bit == "1" else power
        answer = (power[2] * begin[1] + power[3] * begin[0]) % size
        answer -= size if not modulus and answer > size // 2 else 0
        rule = latex.linear_combination(((factors[0], "a_{n-1}"), (factors[1], "a_{n-2}")))
        ask = f"the remainder of $a_{{{place}}}$ when it is divided by {modulus}" if modulus else f"$a_{{{place}}}$"
    given = ", ".join([f"a_{k} = {value}" for k, value in enumerate(begin)])
    left, range_ = ("a_{n+1}", "0") if level == 1 else ("a_n", "2")
    text = f"A sequence has ${given}$ and ${left} = {rule}$ for all $n \\ge {range_}$. "
    text += pick(rng, (f"Find {ask}.", f"What is {ask}?"))
    code = program(_STEP_ON, begin=begin, factors=factors, extra=extra, modulus=modulus, place=place)
    return Draft(text, str(answer), code)


_ADD_FRACTIONS = """
from fractions import Fraction

print(sum(Fraction(over, (step * k + first) * (step * k + second)) for k in range(1, count + 1)))
"""


def _telescope(rng: random.Random, level: int) -> Draft:
    step = 1 if level == 1 else whole(rng, 2, 6)
    apart = whole(rng, 2, 3) if level == 3 else 1  # how many terms later the second half of a term cancels
    shift, over, count, gap = whole(rng, 0, 9), whole(rng, 1, 9), whole(rng, 10, 90), step * apart
    ends = [step * k + shift for k in (*range(1, apart + 1), *range(count + 1, count + apart + 1))]
    answer = Fraction(over, gap) * sum(
        [Fraction(1 if place < apart else -1, end) for place, end in enumerate(ends)], Fraction(0)
    )
    inner, outer = (latex.linear_combination(((step, "k"), (add, ""))) for add in (shift, shift + gap))
    below = f"{inner if shift == 0 else f'({inner})'}({outer})"
    text = pick(rng, ("Find the exact value of ${}$.", "What is ${}$?")).format(
        rf"\sum_{{k=1}}^{{{count}}} \frac{{{over}}}{{{below}}}"
    )
    code = program(_ADD_FRACTIONS, over=over, step=step, first=shift, second=shift + gap, count=count)
    return Draft(text, latex.number(answer), code)


_DIVIDE_ON = """
total, rest = 0, top % bottom
for _ in range(count):
    digit, rest = divmod(10 * rest, bottom)
    total += digit
print(total)
"""


def _digit_total(rng: random.Random, level: int) -> Draft:
    bottom = pick(rng, {1: (7, 11, 13), 2: (17, 19, 21, 23, 27, 29), 3: (14, 22, 26, 28, 31, 34, 35, 37, 41)}[level])
    top, count = whole(rng, 1, bottom - 1), whole(rng, 20, {1: 99, 2: 999, 3: 9999}[level])
    places: dict[int, int] = {}  # remainder -> how many digits were written before it came up
    sums, rest = [0], top
    while rest and rest not in places:
        places[rest] = len(sums) - 1
        digit, rest = divmod(10 * rest, bottom)
        sums.append(sums[-1] + digit)
    begin = places[rest] if rest else len(sums) - 1
    period = len(sums) - 1 - begin
    laps, over = divmod(count - begin, period) if period else (0, 0)
    answer = sums[begin + over] + laps * (sums[-1] - sums[begin])
    text = pick(
        rng,
        (
            f"What is the sum of the first {count} digits after the decimal point of ${top}/{bottom}$?",
            (
                f"Written as a decimal, ${top}/{bottom}$ goes on for ever or ends in zeros. Add up its first {count} "
                "digits after the decimal point. What is the sum?"
            ),
        ),
    )
    return Draft(text, str(answer), program(_DIVIDE_ON, top=top, bottom=bottom, count=count))


_DIFFERENCES = """
table = [list(terms)]
while len(table[-1]) > 1:
    table.append([b - a for a, b in zip(table[-1], table[-1][1:])])
ends = [row[-1] for row in table]
for _ in range(place - len(terms)):
    for k in range(len(ends) - 2, -1, -1):
        ends[k] += ends[k + 1]
print(ends[0])
"""


def _polynomial_terms(rng: random.Random, level: int) -> Draft:
    degree = level + 1
    coefficients = [nonzero(rng, 4 - level), *[whole(rng, -6, 6) for _ in range(degree)]]
    terms = tuple([int(evaluate(coefficients, k)) for k in range(1, degree + 2)])
    place = whole(rng, 10, 40 if level == 1 else 20)
    answer = evaluate(coefficients, place)
    shown = ", ".join(map(str, terms))
    names = {2: "quadratic", 3: "cubic", 4: "quartic"}
    text = pick(
        rng,
        (
            (
                f"The $n$-th term of a sequence is a {names[degree]} polynomial in $n$. It begins {shown} (for $n = 1, "
                f"2, \\dots$). Find the term with $n = {place}$."
            ),
            (
                f"A sequence begins {shown}, and a {names[degree]} polynomial in $n$ gives its $n$-th term, starting "
                f"from $n = 1$. What is its term with $n = {place}$?"
            ),
        ),
    )
    return Draft(text, str(answer), program(_DIFFERENCES, terms=terms, place=place))


_WRITE_BLOCKS = """
terms, number = [], 0
while len(terms) < place:
    number += 1
    terms += [number] * (more * number + extra)
print(sum(terms[:place]) if total else terms[place - 1])
"""


def _blocks(rng: random.Random, level: int) -> Draft:
    more, extra = (1, whole(rng, 0, 3)) if level == 1 else (whole(rng, 2, 7), whole(rng, 0, 9))
    place, total = whole(rng, 60, 900), level == 3
    number, written, added = 0, 0, 0
    while written < place:
        number += 1
        size = more * number + extra
        written, added = written + size, added + size * number
    answer = added - (written - place) * number if total else number
    times = latex.linear_combination(((more, "k"), (extra, "")))
    ask = f"sum of its first {place} terms" if total else f"term number {place}, counted from 1"
    text = pick(
        rng,
        (
            f"Each positive integer $k$ is written ${times}$ times, in ascending order. What is the {ask}?",
            f"In a non-decreasing sequence every positive integer $k$ stands exactly ${times}$ times. Find the {ask}.",
        ),
    )
    return Draft(text, str(answer), program(_WRITE_BLOCKS, more=more, extra=extra, place=place, total=int(total)))


FAMILIES = (
    Family(
        "arithmetic_sum",
        Topic.SEQUENCES,
        "an arithmetic progression from two of its terms",
        Form.INTEGER,
        ("from the first two terms", "from two terms apart", "and a part of the sum"),
        _arithmetic_sum,
    ),
    Family(
        "geometric_sum",
        Topic.SEQUENCES,
        "a geometric series is nearly a multiple of itself",
        Form.FRACTION,
        ("finitely many terms", "the whole series", "a ball that bounces for ever"),
        _geometric_sum,
    ),
    Family(
        "recurrence",
        Topic.SEQUENCES,
        "a linear recurrence, step by step or by powers",
        Form.INTEGER,
        ("one term back", "two terms back", "a far term modulo a number"),
        _recurrence,
    ),
    Family(
        "telescope",
        Topic.SEQUENCES,
        "partial fractions that cancel in a sum",
        Form.FRACTION,
        ("neighbours 1 apart", "neighbours 2 to 6 apart", "terms cancel 2 or 3 later"),
        _telescope,
    ),
    Family(
        "digit_total",
        Topic.SEQUENCES,
        "whole periods and what is left over",
        Form.INTEGER,
        ("denominator 7 to 13", "denominator 17 to 29", "a beginning before the period"),
        _digit_total,
    ),
    Family(
        "polynomial_terms",
        Topic.SEQUENCES,
        "differences of a polynomial sequence become constant",
        Form.INTEGER,
        ("quadratic", "cubic", "quartic"),
        _polynomial_terms,
    ),
    Family(
        "blocks",
        Topic.SEQUENCES,
        "triangular numbers say in which block a place lies",
        Form.INTEGER,
        ("blocks that grow by 1", "blocks that grow faster", "the sum of the terms"),
        _blocks,
    ),
)

"""Algebra: roots, symmetric functions, extremes, inequalities, absolute values, remainders, logarithms."""

import random
from fractions import Fraction

from llm_envs.core.draws import pick, sample, whole
from llm_envs.math.families import latex
from llm_envs.math.families.base import Draft, Family, Form, Topic
from llm_envs.math.families.polynomials import expand, nonzero
from llm_envs.math.families.programs import HORNER, program

_TRY_ROOTS = r"""
from fractions import Fraction

degree, bound = len(coefficients) - 1, 1 + max(map(abs, coefficients))  # Cauchy's bound of all roots
found = set()
for bottom in range(1, abs(coefficients[0]) + 1):
    if coefficients[0] % bottom == 0:
        for top in range(-bound * bottom, bound * bottom + 1):
            value = 0
            for place, coefficient in enumerate(coefficients):
                value = value * top + coefficient * bottom**place
            if value == 0:
                found.add(Fraction(top, bottom))
print(r"\{" + ", ".join(map(str, sorted(found))) + r"\}")
"""


def _polynomial_roots(rng: random.Random, level: int) -> Draft:
    if level == 2:
        first, second = (whole(rng, 2, 4), nonzero(rng, 9)), (whole(rng, 1, 3), nonzero(rng, 7))
        roots = [Fraction(top, bottom) for bottom, top in (first, second)]
        cross = first[0] * second[1] + first[1] * second[0]
        coefficients = [first[0] * second[0], -cross, first[1] * second[1]]
    else:
        numbers = sample(rng, range(-20, 21) if level == 1 else range(-9, 10), 2 if level == 1 else 3)
        coefficients, roots = expand(numbers), [Fraction(number) for number in numbers]
    moved = whole(rng, 0, 1)  # where the equation is not written with all on one side
    left = [*coefficients[:-1], 0] if moved else coefficients
    equation = f"${latex.polynomial(left)} = {-coefficients[-1] if moved else 0}$"
    text = pick(rng, (f"Find all real solutions of {equation}.", f"Which real numbers $x$ satisfy {equation}?"))
    return Draft(text, latex.finite_set(roots), program(_TRY_ROOTS, coefficients=tuple(coefficients)))


_TRACE = """
from fractions import Fraction

monic = [Fraction(each, coefficients[0]) for each in coefficients[1:]]
size = len(monic)
companion = [[-each for each in monic]] + [[int(row == column) for column in range(size)] for row in range(size - 1)]
matrix = [[int(row == column) for column in range(size)] for row in range(size)]
for _ in range(power):  # the eigenvalues of the matrix are the powers of the roots
    matrix = [[sum(row[k] * companion[k][j] for k in range(size)) for j in range(size)] for row in matrix]
print(sum(matrix[k][k] for k in range(size)))
"""

_REVERSE = """
coefficients = coefficients[::-1]  # a polynomial whose roots are the inverses
"""


def _symmetric_sums(rng: random.Random, level: int) -> Draft:
    names = ("r", "s", "t")[: 2 if level < 3 else 3]
    coefficients = [whole(rng, 1, 3) if level == 2 else 1, *[nonzero(rng, 15 if level < 3 else 8) for _ in names]]
    given = coefficients if level != 2 else coefficients[::-1]
    e1, e2 = Fraction(-given[1], given[0]), Fraction(given[2], given[0])
    e3 = -given[3] if level == 3 else 0
    power = whole(rng, 2, 3)
    answer = e1**2 - 2 * e2 if power == 2 else e1**3 - 3 * e1 * e2 + 3 * e3
    if level == 2:
        wanted = " + ".join([rf"\frac{{1}}{{{name}^{power}}}" for name in names])
    else:
        wanted = " + ".join([f"{name}^{power}" for name in names])
    listed = f"${', '.join(names[:-1])}$ and ${names[-1]}$"
    shown = latex.polynomial(coefficients)
    text = pick(
        rng,
        (
            f"Let {listed} be the complex roots of ${shown}$, with multiplicity. Find ${wanted}$.",
            (
                f"The complex solutions of ${shown} = 0$ are {listed}, each as often as its "
                f"multiplicity says. What is ${wanted}$?"
            ),
        ),
    )
    body = _REVERSE + _TRACE if level == 2 else _TRACE
    return Draft(text, latex.number(answer), program(body, coefficients=tuple(coefficients), power=power))


_STATIONARY = """
from fractions import Fraction

def f(x, y):
    return xx * x * x + xy * x * y + yy * y * y + x_ * x + y_ * y + one

# Central differences are exact for a quadratic function.
gradient = [Fraction(f(1, 0) - f(-1, 0), 2), Fraction(f(0, 1) - f(0, -1), 2)]
a, b, d = 2 * xx, xy, 2 * yy
x = (b * gradient[1] - d * gradient[0]) / (a * d - b * b)
y = (b * gradient[0] - a * gradient[1]) / (a * d - b * b)
print(f(x, y))
"""

_LEAST_ON_GRID = """
from fractions import Fraction

grid = [Fraction(k, 2 * square) for k in range(-abs(linear), abs(linear) + 1)]
print(min(square * x * x + linear * x + one for x in grid))
"""


def _least_value(rng: random.Random, level: int) -> Draft:
    ask = pick(rng, ("Find the least value of ${}$ over all real {}.", "What is the minimum of ${}$ for real {}?"))
    if level == 1:
        square, linear, one = whole(rng, 1, 6), nonzero(rng, 15), whole(rng, -20, 20)
        text = ask.format(latex.polynomial([square, linear, one]), "$x$")
        code = program(_LEAST_ON_GRID, square=square, linear=linear, one=one)
        return Draft(text, latex.number(one - Fraction(linear * linear, 4 * square)), code)
    xx, yy = whole(rng, 1, 5), whole(rng, 1, 5)
    if level == 2:
        xy, x_, y_, one = 0, nonzero(rng, 12), nonzero(rng, 12), whole(rng, -20, 20)
        answer = one - Fraction(x_ * x_, 4 * xx) - Fraction(y_ * y_, 4 * yy)
    else:
        xy = nonzero(rng, 1 if xx * yy == 1 else 2 * min(xx, yy) - 1)
        x, y, least = nonzero(rng, 5), nonzero(rng, 5), Fraction(whole(rng, -30, 30))
        x_, y_ = -2 * xx * x - xy * y, -2 * yy * y - xy * x
        one, answer = int(least) + xx * x * x + xy * x * y + yy * y * y, least
    terms = ((xx, "x^2"), (xy, "xy"), (yy, "y^2"), (x_, "x"), (y_, "y"), (one, ""))
    text = ask.format(latex.linear_combination(terms), "$x$ and $y$")
    return Draft(text, latex.number(answer), program(_STATIONARY, xx=xx, xy=xy, yy=yy, x_=x_, y_=y_, one=one))


_SIGNS = r"""
from operator import ge, gt, le, lt

def holds(x):
    compare = {"<": lt, "<=": le, ">": gt, ">=": ge}[sign]
    return value(below, x) != 0 and compare(value(difference, x) / value(below, x), 0)

difference = [a - limit * b for a, b in zip(above, [0] * (len(above) - len(below)) + [*below])]
lead, bound = abs(difference[0]), 1 + max(map(abs, [*difference, *below]))
grid = [Fraction(k, lead) for k in range(-bound * lead, bound * lead + 1)]
marks = [x for x in grid if value(difference, x) == 0 or value(below, x) == 0]  # two of them
middles = [marks[0] - 1, sum(marks) / 2, marks[1] + 1]
ends = [r"-\infty", *marks, r"\infty"]
parts = []
for k, middle in enumerate(middles):  # the sign changes at every mark, so that no two neighbours belong together
    if holds(middle):
        left = "[" if k > 0 and holds(marks[k - 1]) else "("
        right = "]" if k < len(marks) and holds(marks[k]) else ")"
        parts.append(f"{left}{ends[k]}, {ends[k + 1]}{right}")
print(r" \cup ".join(parts))
"""

_SIGN_TEX = {"<": "<", "<=": r"\le", ">": ">", ">=": r"\ge"}


def _inequality(rng: random.Random, level: int) -> Draft:
    low, high = sorted([Fraction(number) for number in sample(rng, range(-12, 13), 2)])
    sign = pick(rng, tuple(_SIGN_TEX))
    strict = len(sign) == 1
    closed = {low: not strict, high: not strict}
    if level < 3:
        lead = 1 if level == 1 else pick(rng, (-3, -2, -1, 2, 3))
        if level == 2:
            low -= Fraction(whole(rng, 0, abs(lead) - 1), abs(lead))
            closed = {low: not strict, high: not strict}
        above, below, limit = [lead, int(-lead * (low + high)), int(lead * low) * int(high)], [1], 0
        shown = f"{latex.polynomial(above)} {_SIGN_TEX[sign]} 0"
    else:
        lead, limit = nonzero(rng, 5), nonzero(rng, 6)
        root, pole = (low, high) if rng.random() < 0.5 else (high, low)
        closed[pole] = False
        above, below = [lead + limit, int(-lead * root - limit * pole)], [1, int(-pole)]
        shown = rf"\frac{{{latex.polynomial(above)}}}{{{latex.polynomial(below)}}} {_SIGN_TEX[sign]} {limit}"
    outside = (lead > 0) == (sign[0] == ">")
    left, right = latex.number(low), latex.number(high)
    if outside:
        answer = rf"(-\infty, {left}{')]'[closed[low]]} \cup {'(['[closed[high]]}{right}, \infty)"
    else:
        answer = f"{'(['[closed[low]]}{left}, {right}{')]'[closed[high]]}"
    text = pick(rng, (f"Solve ${shown}$ for real $x$.", f"For which real $x$ is ${shown}$?"))
    code = program(HORNER + _SIGNS, above=tuple(above), below=tuple(below), sign=sign, limit=limit)
    return Draft(text, answer, code)


_SCAN_LINES = r"""
from fractions import Fraction
from itertools import product
from math import lcm

slopes = {sum(weight * factor * way for (weight, factor, _), way in zip(terms, ways))
          for ways in product((1, -1), repeat=len(terms))}
fine = lcm(*[abs(slope) for slope in slopes if slope])  # every solution is a multiple of 1 / fine
reach = fine * (1 + abs(right) + sum(abs(weight * shift) for weight, _, shift in terms))
found = [Fraction(k, fine) for k in range(-reach, reach + 1)
         if sum(weight * abs(factor * k + shift * fine) for weight, factor, shift in terms) == right * fine]
print(r"\{" + ", ".join(map(str, found)) + r"\}")
"""


def _absolute_values(rng: random.Random, level: int) -> Draft:
    terms: tuple[tuple[int, int, int], ...]
    if level == 1:
        factor, shift, right = whole(rng, 1, 7), nonzero(rng, 15), whole(rng, 1, 20)
        roots = [Fraction(right - shift, factor), Fraction(-right - shift, factor)]
        terms, left = ((1, factor, shift),), f"|{latex.polynomial([factor, shift])}| = {right}"
    elif level == 2:
        (first, second), (shift, other), right = (
            sorted(sample(rng, range(1, 6), 2)),
            (nonzero(rng, 9), nonzero(rng, 9)),
            0,
        )
        roots = [Fraction(other - shift, first - second), Fraction(-other - shift, first + second)]
        terms = ((1, first, shift), (-1, second, other))
        left = f"|{latex.polynomial([first, shift])}| = |{latex.polynomial([second, other])}|"
    else:
        near, far = sample(rng, range(-9, 10), 2)
        weight = whole(rng, 2, 5)
        right = abs(near - far) + whole(rng, 1, 25)  # more than the least value, which is taken at `far`
        way = 1 if far > near else -1
        roots = [Fraction(way * right + near + weight * far, 1 + weight)]
        if right >= weight * abs(near - far):
            roots.append(Fraction(-way * right + near + weight * far, 1 + weight))
        else:  # the other one lies between the two
            roots.append(Fraction(-way * right - near + weight * far, weight - 1))
        terms = ((1, 1, -near), (weight, 1, -far))
        left = f"|{latex.polynomial([1, -near])}| + {weight}|{latex.polynomial([1, -far])}| = {right}"
    text = pick(rng, (f"Find all real solutions of ${left}$.", f"For which real numbers $x$ is ${left}$?"))
    return Draft(text, latex.finite_set(roots), program(_SCAN_LINES, terms=terms, right=right))


_LONG_DIVISION = """
rest = [0] * (degree + 1)  # the highest power first
for power, coefficient in terms:
    rest[degree - power] += coefficient
for place in range(degree - len(divisor) + 2):
    quotient = rest[place]
    for k, coefficient in enumerate(divisor):
        rest[place + k] -= quotient * coefficient
x, one = [0, *rest][-2:] if len(divisor) > 2 else [0, rest[-1]]
print(f"{x}x + {one}" if one >= 0 else f"{x}x - {-one}")
"""


def _remainder(rng: random.Random, level: int) -> Draft:
    degree = {1: 4, 2: 5, 3: whole(rng, 9, 20)}[level]
    powers = range(degree, -1, -1) if level < 3 else (degree, whole(rng, 5, 8), whole(rng, 2, 4), 1, 0)
    coefficients = {power: nonzero(rng, 9) for power in powers}
    roots = [nonzero(rng, 4)] if level == 1 else sample(rng, (-3, -2, -1, 1, 2, 3) if level == 2 else (-2, -1, 1, 2), 2)
    values = [sum([value * root**power for power, value in coefficients.items()]) for root in roots]
    slope = 0 if level == 1 else (values[0] - values[1]) // (roots[0] - roots[1])
    answer = latex.polynomial([slope, values[0] - slope * roots[0]])
    divisor = expand(roots)
    dividend = latex.polynomial([coefficients.get(power, 0) for power in range(degree, -1, -1)])
    by = latex.polynomial(divisor)
    text = pick(
        rng,
        (
            f"Find the remainder when ${dividend}$ is divided by ${by}$.",
            (f"${dividend}$ is divided by ${by}$, as polynomials. What is the remainder?"),
        ),
    )
    code = program(_LONG_DIVISION, degree=degree, terms=tuple(coefficients.items()), divisor=tuple(divisor))
    return Draft(text, answer, code)


_TRY_WHOLE_NUMBERS = """
x = max(positive) + 1  # where all logarithms exist
while not equal(x):
    x += 1
print(x)
"""
_ONE_LOGARITHM = """
positive = (-shift // factor,)

def equal(x):
    return factor * x + shift == base**right
"""
_TWO_LOGARITHMS = """
positive = (first, second)

def equal(x):
    return (x - first) * (x - second) == base**right
"""
_DOUBLE_LOGARITHM = """
positive = (first, second)

def equal(x):
    return (x - first) ** 2 == base**right * (x - second)
"""


def _logarithms(rng: random.Random, level: int) -> Draft:
    base = whole(rng, 2, 7)
    if level == 1:
        right, factor = whole(rng, 2, 4), whole(rng, 2, 9)
        answer = whole(rng, 2, 30)
        numbers = {"base": base, "factor": factor, "shift": base**right - factor * answer, "right": right}
        left, body = rf"\log_{{{base}}}({latex.polynomial([factor, numbers['shift']])})", _ONE_LOGARITHM
    elif level == 2:
        small, large = sorted(sample(rng, range(5), 2))
        first, right = nonzero(rng, 20), small + large
        answer = first + base**large
        numbers = {"base": base, "first": first, "second": answer - base**small, "right": right}
        shown = [rf"\log_{{{base}}}({latex.polynomial([1, -numbers[name]])})" for name in ("first", "second")]
        left, body = " + ".join(shown), _TWO_LOGARITHMS
    else:
        right, factor, first = whole(rng, 1, 2), whole(rng, 2, 6), nonzero(rng, 20)
        answer = first + base**right * factor
        second = answer - base**right * factor**2
        numbers = {"base": base, "first": first, "second": second, "right": right}
        shown = [rf"\log_{{{base}}}({latex.polynomial([1, -each])})" for each in (first, second)]
        left, body = rf"2{shown[0]} - {shown[1]}", _DOUBLE_LOGARITHM
    text = pick(rng, (f"Solve ${left} = {right}$ for real $x$.", f"Find the real number $x$ with ${left} = {right}$."))
    return Draft(text, str(answer), program(body + _TRY_WHOLE_NUMBERS, **numbers))


FAMILIES = (
    Family(
        "polynomial_roots",
        Topic.ALGEBRA,
        "a polynomial is a product over its roots",
        Form.SET,
        ("two whole roots", "rational roots", "three whole roots"),
        _polynomial_roots,
    ),
    Family(
        "symmetric_sums",
        Topic.ALGEBRA,
        "Vieta: power sums of roots from coefficients",
        Form.FRACTION,
        ("powers of two roots", "of their inverses", "powers of three roots"),
        _symmetric_sums,
    ),
    Family(
        "least_value",
        Topic.ALGEBRA,
        "completing the square",
        Form.FRACTION,
        ("one variable", "two variables", "two that are mixed"),
        _least_value,
    ),
    Family(
        "inequality",
        Topic.ALGEBRA,
        "a rational function keeps its sign between zeros and poles",
        Form.INTERVALS,
        ("leading coefficient 1", "any leading coefficient", "a quotient against a constant"),
        _inequality,
    ),
    Family(
        "absolute_values",
        Topic.ALGEBRA,
        "cases by the sign inside absolute values",
        Form.SET,
        ("one against a number", "one against another", "a weighted sum"),
        _absolute_values,
    ),
    Family(
        "remainder",
        Topic.ALGEBRA,
        "a remainder agrees with the polynomial at the divisor's roots",
        Form.POLYNOMIAL,
        ("by a linear polynomial", "by a quadratic one", "of degree 9 to 20"),
        _remainder,
    ),
    Family(
        "logarithms",
        Topic.ALGEBRA,
        "logarithms turn sums into products",
        Form.INTEGER,
        ("one logarithm", "a sum of two", "a difference with a double one"),
        _logarithms,
    ),
)

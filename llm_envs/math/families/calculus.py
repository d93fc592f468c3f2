"""Calculus: derivatives, integrals, limits, extremes, tangents, areas, series, curves, solids of revolution."""

import random
from fractions import Fraction
from math import comb

from llm_envs.core.draws import pick, sample, whole
from llm_envs.math.families import latex
from llm_envs.math.families.base import Draft, Family, Form, Topic
from llm_envs.math.families.polynomials import (
    derivative,
    draw_polynomial,
    evaluate,
    expand,
    nonzero,
    product,
)
from llm_envs.math.families.programs import HORNER, program

_DUAL_NUMBERS = """
from fractions import Fraction

def times(a, b):  # pairs of a value and a slope
    return a[0] * b[0], a[0] * b[1] + a[1] * b[0]

def value(polynomial):
    total = (Fraction(0), Fraction(0))
    for coefficient in polynomial:
        total = times(total, (Fraction(point), Fraction(1)))
        total = total[0] + coefficient, total[1]
    return total

u, v = value(first), value(second)
if shape == "product":
    result = times(u, v)
elif shape == "quotient":
    result = times(u, (1 / v[0], -v[1] / v[0] ** 2))
else:
    result = u
    for _ in range(power - 1):
        result = times(result, u)
    result = times(result, v)
print(result[1])
"""


def _derivative_at(rng: random.Random, level: int) -> Draft:
    point, power = nonzero(rng, 4), 1 if level < 3 else whole(rng, 3, 6)
    second_value: int | Fraction = 0
    while second_value == 0:
        first, second = draw_polynomial(rng, 2, 6), draw_polynomial(rng, 1 if level > 1 else 2, 6)
        second_value = evaluate(second, point)
    u, v = evaluate(first, point), second_value
    du, dv = evaluate(derivative(first), point), evaluate(derivative(second), point)
    top, below = latex.polynomial(first), latex.polynomial(second)
    if level == 1:
        answer, shown, shape = u * dv + du * v, f"({top})({below})", "product"
    elif level == 2:
        answer, shown, shape = Fraction(du * v - u * dv, v * v), rf"\frac{{{top}}}{{{below}}}", "quotient"
    else:
        answer, shown, shape = u ** (power - 1) * (power * du * v + u * dv), f"({top})^{power}({below})", "power"
    text = pick(
        rng,
        (
            f"Let $f(x) = {shown}$. Find $f'({point})$.",
            f"What is the slope of the graph of $y = {shown}$ at $x = {point}$?",
        ),
    )
    code = program(_DUAL_NUMBERS, first=tuple(first), second=tuple(second), point=point, power=power, shape=shape)
    return Draft(text, latex.number(answer), code)


_CANCEL = """
def divide(polynomial):  # by x - point, without a remainder
    result = [polynomial[0]]
    for coefficient in polynomial[1:-1]:
        result.append(coefficient + result[-1] * point)
    return result

while value(below, point) == 0:
    above, below = divide(above), divide(below)
print(value(above, point) / value(below, point))
"""


def _limit(rng: random.Random, level: int) -> Draft:
    point, times = whole(rng, -6, 6), 1 if level < 3 else 2
    factor = expand([point] * times)
    u = v = 0
    while v == 0:
        above, below = (draw_polynomial(rng, 1 if level == 1 else 2, 6) for _ in range(2))
        u, v = int(evaluate(above, point)), int(evaluate(below, point))
    top, bottom = product(above, factor), product(below, factor)
    shown = rf"\lim_{{x \to {point}}} \frac{{{latex.polynomial(top)}}}{{{latex.polynomial(bottom)}}}"
    text = pick(rng, (f"Find ${shown}$.", f"What is the limit ${shown}$?"))
    code = program(HORNER + _CANCEL, above=tuple(top), below=tuple(bottom), point=point)
    return Draft(text, latex.number(Fraction(u, v)), code)


_TRY_PLACES = """
fine = 2 * abs(polynomial[0]) if len(polynomial) == 3 else 1  # stationary points are multiples of 1 / fine
places = [Fraction(k, fine) for k in range(low * fine, high * fine + 1)]
values = [value(polynomial, x) for x in places]
print(max(values) if largest else min(values))
"""


def _extreme(rng: random.Random, level: int) -> Draft:
    stationary: list[int] | list[Fraction]
    low = whole(rng, -6, 0)
    high = low + whole(rng, 4, 9)
    lead, constant = nonzero(rng, 4 - level), whole(rng, -20, 20)
    if level == 1:
        linear = whole(rng, -12, 12)
        polynomial, stationary = [lead, linear, constant], [Fraction(-linear, 2 * lead)]
    else:
        stationary = sample(rng, range(low - 1, high + 2), level)
        slope = expand(stationary, lead * (6 if level == 2 else 12))
        polynomial = [*[coefficient // (level + 1 - place) for place, coefficient in enumerate(slope)], constant]
    largest = rng.random() < 0.5
    values = [evaluate(polynomial, x) for x in (low, high, *[x for x in stationary if low < x < high])]
    ask = "largest" if largest else "smallest"
    shown = latex.polynomial(polynomial)
    text = pick(
        rng,
        (
            f"Find the {ask} value of $f(x) = {shown}$ on the interval $[{low}, {high}]$.",
            f"What is the {ask} value that ${shown}$ takes for ${low} \\le x \\le {high}$?",
        ),
    )
    code = program(HORNER + _TRY_PLACES, polynomial=tuple(polynomial), low=low, high=high, largest=int(largest))
    return Draft(text, latex.number(max(values) if largest else min(values)), code)


_DIVIDE_TWICE = """
from fractions import Fraction

def divide(polynomial):  # by x - point: quotient and remainder
    result = [Fraction(polynomial[0])]
    for coefficient in polynomial[1:]:
        result.append(coefficient + result[-1] * Fraction(*point))
    return result[:-1], result[-1]

quotient, height = divide(polynomial)
_, slope = divide(quotient)  # what is left modulo the square of x - point is the tangent
one = height - slope * Fraction(*point)
print(f"({slope})x + ({one})")
"""


def _tangent(rng: random.Random, level: int) -> Draft:
    polynomial = draw_polynomial(rng, level + 1, 6)
    point = Fraction(nonzero(rng, 4)) if level < 3 else Fraction(nonzero(rng, 3), whole(rng, 1, 3))
    slope = evaluate(derivative(polynomial), point)
    answer = latex.polynomial([slope, evaluate(polynomial, point) - slope * point])
    shown, at = latex.polynomial(polynomial), latex.number(point)
    text = pick(
        rng,
        (
            f"The tangent to $y = {shown}$ at $x = {at}$ has an equation $y = mx + b$. What is its right-hand side?",
            f"Find the linear function whose graph touches $y = {shown}$ at $x = {at}$.",
        ),
    )
    ends = (point.numerator, point.denominator)
    return Draft(text, answer, program(_DIVIDE_TWICE, polynomial=tuple(polynomial), point=ends))


_MULTIPLY_SERIES = """
series = [1] + [0] * place
for factor, power in factors:
    for _ in range(power):  # times 1 + factor * x
        series = [series[k] + (factor * series[k - 1] if k else 0) for k in range(place + 1)]
    for _ in range(-power):  # over 1 + factor * x
        for k in range(1, place + 1):
            series[k] -= factor * series[k - 1]
print(series[place])
"""


def _series_coefficient(rng: random.Random, level: int) -> Draft:
    factors: tuple[tuple[int, int], ...]  # each a binomial 1 + number * x, and its power
    first, high = nonzero(rng, 9 if level == 1 else 5), whole(rng, 5, 12)
    place = whole(rng, 3, high - 1) if level == 1 else whole(rng, 2, 5)
    second, other = nonzero(rng, 4), whole(rng, 2, 6)
    if level == 1:
        factors, answer = ((first, high),), comb(high, place) * first**place
    elif level == 2:
        factors = tuple(sorted([(first, high), (second, other)]))
        terms = [comb(high, k) * first**k * comb(other, place - k) * second ** (place - k) for k in range(place + 1)]
        answer = sum(terms)
    else:
        factors = ((first, high), (second, -other))
        below = [comb(other + k - 1, k) * (-second) ** k for k in range(place + 1)]  # the binomial series
        answer = sum([comb(high, k) * first**k * below[place - k] for k in range(place + 1)])
    (top, *rest) = [f"({latex.linear_combination(((1, ''), (a, 'x')))})^{{{abs(power)}}}" for a, power in factors]
    shown = top + "".join(rest) if level < 3 else rf"\frac{{{top}}}{{{rest[0]}}}"
    text = pick(
        rng,
        (
            f"What is the coefficient of $x^{{{place}}}$ in the expansion of ${shown}$ in powers of $x$?",
            f"Find the coefficient of $x^{{{place}}}$ in the Taylor series of ${shown}$ at 0.",
        ),
    )
    return Draft(text, str(answer), program(_MULTIPLY_SERIES, factors=factors, place=place))


_DIFFERENCE_QUOTIENTS = """
from fractions import Fraction

def f(x, y):
    return xx * x * x + xy * x * y + yy * y * y + x_ * x + y_ * y

x, y = point  # central differences are exact for a quadratic function
print(Fraction(f(x - 1, y) - f(x + 1, y), f(x, y + 1) - f(x, y - 1)))
"""


def _implicit_slope(rng: random.Random, level: int) -> Draft:
    across = 0
    while across == 0:
        x, y = nonzero(rng, 6), nonzero(rng, 6)
        xx, yy, xy = nonzero(rng, 7), nonzero(rng, 7), nonzero(rng, 6) if level > 1 else 0
        x_, y_ = (nonzero(rng, 9), nonzero(rng, 9)) if level == 3 else (0, 0)
        across = xy * x + 2 * yy * y + y_
    right = xx * x * x + xy * x * y + yy * y * y + x_ * x + y_ * y
    answer = Fraction(-(2 * xx * x + xy * y + x_), across)
    terms = ((xx, "x^2"), (xy, "xy"), (yy, "y^2"), (x_, "x"), (y_, "y"))
    curve = f"${latex.linear_combination(terms)} = {right}$"
    text = pick(
        rng,
        (
            f"Find the slope of the curve {curve} at the point ({x}, {y}).",
            f"Near ({x}, {y}) the equation {curve} defines $y$ as a function of $x$. What is $dy/dx$ there?",
        ),
    )
    return Draft(
        text, latex.number(answer), program(_DIFFERENCE_QUOTIENTS, xx=xx, xy=xy, yy=yy, x_=x_, y_=y_, point=(x, y))
    )


FAMILIES = (
    Family(
        "derivative_at",
        Topic.CALCULUS,
        "product, quotient and chain rule",
        Form.FRACTION,
        ("a product", "a quotient", "a power times a factor"),
        _derivative_at,
    ),
    Family(
        "limit",
        Topic.CALCULUS,
        "a limit 0/0 after a common factor is cancelled",
        Form.FRACTION,
        ("degree 2", "degree 3", "a double zero"),
        _limit,
    ),
    Family(
        "extreme",
        Topic.CALCULUS,
        "extremes lie at stationary points or ends",
        Form.FRACTION,
        ("quadratic", "cubic", "quartic"),
        _extreme,
    ),
    Family(
        "tangent",
        Topic.CALCULUS,
        "the tangent as the best linear approximation",
        Form.POLYNOMIAL,
        ("quadratic", "cubic", "quartic, at a fraction"),
        _tangent,
    ),
    Family(
        "series_coefficient",
        Topic.CALCULUS,
        "the binomial series",
        Form.INTEGER,
        ("one binomial", "a product of two", "a quotient"),
        _series_coefficient,
    ),
    Family(
        "implicit_slope",
        Topic.CALCULUS,
        "implicit differentiation",
        Form.FRACTION,
        ("two squares", "a mixed term", "and linear terms"),
        _implicit_slope,
    ),
)

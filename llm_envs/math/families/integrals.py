"""Calculus: definite integrals, areas, solids of revolution."""

import random
from fractions import Fraction
from itertools import pairwise

from llm_envs.core.draws import pick, sample, whole
from llm_envs.math.families import latex
from llm_envs.math.families.base import Draft, Family, Form, Topic
from llm_envs.math.families.polynomials import draw_polynomial, expand, integral, nonzero, product
from llm_envs.math.families.programs import HORNER, program

_SIMPSON = """
def simpson(f, low, high):  # exact up to degree 3
    return (f(low) + 4 * f(Fraction(low + high) / 2) + f(high)) * Fraction(high - low) / 6
"""


_INTEGRATE = """
def f(x):
    return abs(value(polynomial, x)) if absolute else value(polynomial, x)

pieces = range(low, high) if absolute else (low,)  # the sign changes at whole numbers only
print(sum(simpson(f, x, x + 1 if absolute else high) for x in pieces))
"""


def _definite_integral(rng: random.Random, level: int) -> Draft:
    low = whole(rng, -4, 2)
    high = low + whole(rng, 2, 5)
    if level < 3:
        polynomial = draw_polynomial(rng, level + 1, 9)
        answer = integral(polynomial, low, high)
    else:
        roots = sorted(sample(rng, range(low - 1, high + 2), 2))
        polynomial = expand(roots, nonzero(rng, 6))
        marks = [low, *[root for root in roots if low < root < high], high]
        answer = sum([abs(integral(polynomial, a, b)) for a, b in pairwise(marks)], Fraction(0))
    shown = latex.polynomial(polynomial)
    inside = rf"\left| {shown} \right|" if level == 3 else f"({shown})"
    text = pick(rng, ("Work out ${}$.", "What is the exact value of ${}$?")).format(
        rf"\int_{{{low}}}^{{{high}}} {inside} \, dx"
    )
    numbers = {"low": low, "high": high, "absolute": int(level == 3)}
    return Draft(
        text, latex.number(answer), program(HORNER + _SIMPSON + _INTEGRATE, polynomial=tuple(polynomial), **numbers)
    )


_AREA = """
def gap(x):
    return value(upper, x) - value(lower, x)

crossings = [x for x in range(-30, 31) if gap(x) == 0]
print(sum(abs(simpson(gap, a, b)) for a, b in zip(crossings, crossings[1:])))
"""


def _area_between(rng: random.Random, level: int) -> Draft:
    roots = sorted(sample(rng, range(-8, 9) if level < 3 else range(-4, 5), 2 if level < 3 else 3))
    gap = expand(roots, nonzero(rng, 6 if level < 3 else 3))
    lower = [0] if level == 1 else [nonzero(rng, 6), whole(rng, -9, 9)]
    upper = list(gap)
    for place, coefficient in enumerate(reversed(lower), start=1):
        upper[-place] += coefficient
    answer = sum([abs(integral(gap, a, b)) for a, b in pairwise(roots)], Fraction(0))
    other = "the x-axis" if level == 1 else f"the line $y = {latex.polynomial(lower)}$"
    what = "total area of all bounded regions" if level == 3 else "area of the bounded region"
    text = pick(
        rng,
        (
            f"Find the {what} between $y = {latex.polynomial(upper)}$ and {other}.",
            f"What is the {what} that the graph of $y = {latex.polynomial(upper)}$ and {other} enclose?",
        ),
    )
    return Draft(text, latex.number(answer), program(HORNER + _SIMPSON + _AREA, upper=tuple(upper), lower=tuple(lower)))


_BOOLE = r"""
def ring(x):  # the area of a slice over pi
    return value(outer, x) ** 2 - value(inner, x) ** 2

step = Fraction(high - low, 4)
weights = (7, 32, 12, 32, 7)  # Boole's rule, exact up to degree 5
factor = sum(weight * ring(low + k * step) for k, weight in enumerate(weights)) * (high - low) / 90
print(rf"\frac{{{factor.numerator}}}{{{factor.denominator}}}\pi" if factor.denominator > 1 else rf"{factor}\pi")
"""


def _revolution(rng: random.Random, level: int) -> Draft:
    low = whole(rng, 0, 3)
    high = low + whole(rng, 1, 4)
    lead, one = whole(rng, 1, 5), whole(rng, 0, 9)
    inner = [0]
    if level == 1:
        outer = [lead, one]
    elif level == 2:
        outer = [lead, 0, one]
    else:  # the chord of the parabola from low to high
        inner, outer = [lead, 0, one], [lead * (low + high), one - lead * low * high]
    answer = integral(product(outer, outer), low, high) - integral(product(inner, inner), low, high)
    shown = f"$y = {latex.polynomial(outer)}$"
    if level == 3:
        region = f"The region between $y = {latex.polynomial(inner)}$ and {shown} from $x = {low}$ to $x = {high}$"
    else:
        region = f"The region between {shown} and the x-axis from $x = {low}$ to $x = {high}$"
    ask = pick(
        rng, ("What is the volume of the solid that it sweeps out?", "Find the volume of the solid that results.")
    )
    text = f"{region} is turned once about the x-axis. {ask}"
    return Draft(
        text,
        latex.scaled(answer, r"\pi"),
        program(HORNER + _BOOLE, outer=tuple(outer), inner=tuple(inner), low=low, high=high),
    )


FAMILIES = (
    Family(
        "definite_integral",
        Topic.CALCULUS,
        "an antiderivative at both ends",
        Form.FRACTION,
        ("degree 2", "degree 3", "an absolute value"),
        _definite_integral,
    ),
    Family(
        "area_between",
        Topic.CALCULUS,
        "areas between graphs from crossing to crossing",
        Form.FRACTION,
        ("parabola and axis", "parabola and line", "cubic and line"),
        _area_between,
    ),
    Family(
        "revolution",
        Topic.CALCULUS,
        "a solid of revolution in slices",
        Form.PI,
        ("under a line", "under a parabola", "between a parabola and a chord"),
        _revolution,
    ),
)

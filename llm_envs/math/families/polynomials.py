"""Polynomials as their coefficients, the highest power first."""

import random
from collections.abc import Sequence
from fractions import Fraction
from math import lcm

from llm_envs.core.draws import whole
from llm_envs.math.families.latex import Number


def nonzero(rng: random.Random, most: int) -> int:
    """A whole number from -most to most, but not 0."""
    return whole(rng, 1, most) * (1 if rng.random() < 0.5 else -1)


def draw_polynomial(rng: random.Random, degree: int, most: int) -> list[int]:
    """A polynomial of this degree with coefficients from -most to most."""
    return [nonzero(rng, most), *[whole(rng, -most, most) for _ in range(degree)]]


def expand(roots: Sequence[int], lead: int = 1) -> list[int]:
    """The polynomial with these roots and this leading coefficient."""
    coefficients = [lead]
    for root in roots:
        coefficients.append(0)
        for place in range(len(coefficients) - 1, 0, -1):
            coefficients[place] -= root * coefficients[place - 1]
    return coefficients


def evaluate(coefficients: Sequence[Number], x: Number) -> Number:
    """The value at x (Horner's scheme)."""
    value: Number = 0
    for coefficient in coefficients:
        value = value * x + coefficient
    return value


def derivative(coefficients: Sequence[int]) -> list[int]:
    """The derivative; [] of a constant."""
    degree = len(coefficients) - 1
    return [coefficient * (degree - place) for place, coefficient in enumerate(coefficients[:-1])]


def integral(coefficients: Sequence[int], low: int, high: int) -> Fraction:
    """The definite integral from low to high."""
    top = len(coefficients)
    common, total = lcm(*range(1, top + 1)), 0
    for place, coefficient in enumerate(coefficients):
        power = top - place
        total += coefficient * (high**power - low**power) * (common // power)
    return Fraction(total, common)


def product(first: Sequence[int], second: Sequence[int]) -> list[int]:
    """The product of two polynomials."""
    result = [0] * (len(first) + len(second) - 1)
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            result[i + j] += a * b
    return result

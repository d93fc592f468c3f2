"""Exact values as LaTeX, in the form in which a person would write them."""

from collections.abc import Iterable, Sequence
from fractions import Fraction

Number = int | Fraction

_POWERS = (*[f"x^{{{power}}}" for power in range(40, 9, -1)], *[f"x^{power}" for power in range(9, 1, -1)], "x", "")


def number(value: Number) -> str:
    r"""An integer, or a fraction in lowest terms with its sign in front: `-\frac{3}{4}`."""
    if value.denominator == 1:
        return str(value.numerator)
    sign = "-" if value < 0 else ""
    return rf"{sign}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"


def ordered(values: Iterable[Number]) -> str:
    """An ordered pair, triple or longer tuple: `(1, 2)`."""
    return f"({', '.join(map(number, values))})"


def finite_set(values: Iterable[Number]) -> str:
    r"""A set, its members in ascending order: `\{1, 2\}`."""
    return rf"\{{{', '.join(map(number, sorted(set(values))))}\}}"


def matrix(rows: Iterable[Iterable[Number]]) -> str:
    """A matrix, row by row."""
    inside = r" \\ ".join([" & ".join(map(number, row)) for row in rows])
    return rf"\begin{{pmatrix}} {inside} \end{{pmatrix}}"


def polynomial(coefficients: Sequence[Number]) -> str:
    """A polynomial in x from its coefficients, the highest power first: `x^2 - 3x + 1`."""
    return linear_combination(zip(coefficients, _POWERS[-len(coefficients) :], strict=True))


def linear_combination(terms: Iterable[tuple[Number, str]]) -> str:
    """A sum of (coefficient, symbol), the empty symbol standing for 1: `2x - y + 3`; zero terms are left out."""
    text = ""
    for value, symbol in terms:
        if value:
            size = value if value > 0 else -value
            text += (" + " if value > 0 else " - ") if text else ("" if value > 0 else "-")
            text += symbol if size == 1 and symbol else number(size) + symbol
    return text or "0"


def scaled(coefficient: Number, symbol: str) -> str:
    r"""A multiple of an irrational number, the symbol in the numerator: `\frac{3\pi}{2}`."""
    if coefficient == 0:
        return "0"
    top = abs(coefficient.numerator)
    sign, factor = "-" if coefficient < 0 else "", "" if top == 1 else str(top)
    if coefficient.denominator == 1:
        return f"{sign}{factor}{symbol}"
    return rf"{sign}\frac{{{factor}{symbol}}}{{{coefficient.denominator}}}"


def square_root(square: Number) -> str:
    r"""The root of a rational number >= 0 in simplest form: `3\sqrt{2}`, `\frac{\sqrt{6}}{3}`."""
    if square == 0:
        return "0"
    root, rest = _split_square(square.numerator * square.denominator)
    coefficient = Fraction(root, square.denominator)
    return number(coefficient) if rest == 1 else scaled(coefficient, rf"\sqrt{{{rest}}}")


def _split_square(value: int) -> tuple[int, int]:
    """(root, rest) with value = root^2 * rest, the rest without square factors."""
    root, rest, prime = 1, 1, 2
    while prime * prime <= value:
        power = 0
        while value % prime == 0:
            value //= prime
            power += 1
        root *= prime ** (power // 2)
        rest *= prime ** (power % 2)
        prime += 1
    return root, rest * value

"""Bounded exact arithmetic on polynomials in atoms: roots of primes, pi, e, i, symbols, functions.

Every operation raises `TooLargeError` before it does work that a hostile text could make long.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from llm_envs.math.judging.errors import TooLargeError

MOST_BITS = 1 << 15  # of a number that stands alone: 2006! has 19,120
MOST_BITS_IN_SUM = 1 << 11
MOST_TERMS = 40
MOST_PRODUCTS = 1 << 9  # of terms, in one multiplication
MOST_EXPONENT = 10**6


@dataclass(frozen=True, slots=True, order=True)
class Atom:
    """A factor that arithmetic does not look into.

    Attributes:
        key: its canonical text, by which atoms are told apart and put in order.
        kind: `prime`, `symbol`, `pi`, `e`, `i`, or a function's name.
        arguments: of the function; a prime's number.
    """

    key: str
    kind: str = field(compare=False)
    arguments: tuple[Any, ...] = field(default=(), compare=False)


Monomial = tuple[tuple[Atom, Fraction], ...]  # by atom; no exponent is 0
Polynomial = Mapping[Monomial, Fraction]  # no coefficient is 0

PI, EULER, IMAGINARY = Atom("pi", "pi"), Atom("e", "e"), Atom("i", "i")
ONE: Polynomial = {(): Fraction(1)}


def proves_difference(polynomial: Polynomial) -> bool:
    """Whether a polynomial that is not the zero polynomial has values other than zero, too.

    Roots of distinct primes are linearly independent over the rationals (Besicovitch 1940), and pi alone, or e alone,
    is transcendental; of both together, and of functions, too little is known.
    """
    kinds = {atom.kind for monomial in polynomial for atom, _ in monomial}
    return kinds <= {"prime", "symbol", "i", "pi"} or kinds <= {"prime", "symbol", "i", "e"}


def added(a: Polynomial, b: Polynomial) -> Polynomial:
    """The sum."""
    result = dict(a)
    for monomial, factor in b.items():
        total = result.get(monomial, Fraction(0)) + factor
        if total:
            result[monomial] = total
        else:
            del result[monomial]
    if len(result) > MOST_TERMS:
        raise TooLargeError(f"a sum of {len(result)} terms")
    return result


def negative(a: Polynomial) -> Polynomial:
    """The polynomial times −1."""
    return scaled(a, Fraction(-1))


def scaled(a: Polynomial, by: Fraction) -> Polynomial:
    """The polynomial times a number other than 0."""
    return {monomial: factor * by for monomial, factor in a.items()}


def multiplied(a: Polynomial, b: Polynomial, times: Monomial = ()) -> Polynomial:
    """The product of two polynomials and a monomial."""
    if b is ONE:
        return a
    if a is ONE and not times:
        return b
    if len(a) * len(b) > MOST_PRODUCTS:
        raise TooLargeError(f"a product of {len(a)} and {len(b)} terms")
    most_bits = MOST_BITS if len(a) * len(b) <= 1 else MOST_BITS_IN_SUM
    result: dict[Monomial, Fraction] = {}
    for left, p in a.items():
        for right, q in b.items():
            factor, monomial = p * q, left or right
            if (left and right) or times:
                exponents = dict(left)
                for atom, exponent in (*right, *times):
                    exponents[atom] = exponents.get(atom, Fraction(0)) + exponent
                extra, monomial = reduced(exponents)
                factor *= extra
            total = result.pop(monomial, Fraction(0)) + bounded(factor, most_bits)
            if total:
                result[monomial] = total
    if len(result) > MOST_TERMS:
        raise TooLargeError(f"a sum of {len(result)} terms")
    return result


def reduced(exponents: Mapping[Atom, Fraction]) -> tuple[Fraction, Monomial]:
    """A product of powers with exponents of primes in [0, 1) and of i in {0, 1}, and the number that this sets free."""
    factor = Fraction(1)
    kept: list[tuple[Atom, Fraction]] = []
    for atom, exponent in sorted(exponents.items()):
        rest = exponent
        if atom.kind in {"prime", "number"}:
            whole, rest = divmod(exponent, 1)
            if abs(whole) * atom.arguments[0].bit_length() > MOST_BITS:
                raise TooLargeError("a power of a prime")
            factor *= Fraction(atom.arguments[0]) ** whole
        elif atom.kind == "i":
            quarter = exponent % 4
            factor *= -1 if quarter >= 2 else 1
            rest = quarter % 2
        if max(abs(rest.numerator), rest.denominator) > MOST_EXPONENT:
            raise TooLargeError("a large exponent")
        if rest:
            kept.append((atom, rest))
    return factor, tuple(kept)


def bounded(value: Fraction, most_bits: int = MOST_BITS) -> Fraction:
    """The number, if it is not too long."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > most_bits:
        raise TooLargeError(f"a number of more than {most_bits} bits")
    return value


def canonical_text(polynomial: Polynomial) -> str:
    """The same text for equal polynomials. Hexadecimal, since Python writes no decimal of more than 4,300 digits."""
    terms = sorted((tuple((atom.key, e) for atom, e in monomial), factor) for monomial, factor in polynomial.items())
    return "+".join("*".join([f"{f.numerator:x}/{f.denominator:x}", *(f"{a}^{e}" for a, e in m)]) for m, f in terms)

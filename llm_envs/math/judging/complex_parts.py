"""Real and imaginary parts of expressions whose symbols are real."""

from fractions import Fraction

from llm_envs.math.judging.exact import Expression, quotient
from llm_envs.math.judging.polynomials import IMAGINARY, Polynomial, multiplied


def real_and_imaginary(value: Expression) -> tuple[Expression, Expression] | None:
    """Both parts; None where a power of i is broken. An i inside a function stays there. Raises TooLargeError."""
    top, bottom = value.top, value.bottom
    if _exponents(bottom) - {0}:
        conjugate = {monomial: -factor if _exponent(monomial) else factor for monomial, factor in bottom.items()}
        top, bottom = multiplied(top, conjugate), multiplied(bottom, conjugate)
    if not _exponents(top) | _exponents(bottom) <= {0, 1} or _exponents(bottom) - {0}:
        return None
    real = {monomial: factor for monomial, factor in top.items() if not _exponent(monomial)}
    imaginary = {
        tuple(power for power in monomial if power[0] != IMAGINARY): factor
        for monomial, factor in top.items()
        if _exponent(monomial)
    }
    return quotient(real, bottom), quotient(imaginary, bottom)


def mentions_i(value: Expression) -> bool:
    """Whether it has an i that is not inside a function."""
    return IMAGINARY in value.atoms


def _exponents(polynomial: Polynomial) -> set[Fraction]:
    return {_exponent(monomial) for monomial in polynomial}


def _exponent(monomial: tuple[tuple[object, Fraction], ...]) -> Fraction:
    return next((exponent for atom, exponent in monomial if atom == IMAGINARY), Fraction(0))

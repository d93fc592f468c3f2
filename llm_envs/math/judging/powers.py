"""Powers and roots of expressions, in a form in which equal powers look equal."""

from fractions import Fraction
from math import isqrt

from llm_envs.math.judging.complex_parts import mentions_i, real_and_imaginary
from llm_envs.math.judging.errors import AmbiguousError, TooLargeError
from llm_envs.math.judging.exact import Expression, opaque
from llm_envs.math.judging.polynomials import (
    EULER,
    IMAGINARY,
    MOST_BITS,
    MOST_BITS_IN_SUM,
    MOST_EXPONENT,
    MOST_TERMS,
    ONE,
    Atom,
    Polynomial,
    bounded,
    reduced,
)

_SMALL_PRIMES = [p for p in range(2, 2000) if all(p % d for d in range(2, isqrt(p) + 1))]
_POSITIVE = frozenset({"prime", "number", "pi", "e"})


def power(base: Expression, exponent: Expression) -> Expression:
    """A power. Raises UnreadError where it is undefined, TooLargeError where it is beyond the bounds."""
    by = exponent.rational
    if by is None:
        return _symbolic_power(base, exponent)
    if by.denominator == 1:
        return _whole_power(base, by.numerator)
    return _root_power(base, by)


def factored(number: int) -> dict[int, int] | None:
    """Prime -> exponent of a positive number, or None where trial division up to 2000 does not do."""
    found: dict[int, int] = {}
    for prime in _SMALL_PRIMES:
        while not number % prime:
            number //= prime
            found[prime] = found.get(prime, 0) + 1
        if number == 1:
            return found
    if number >= _SMALL_PRIMES[-1] ** 2:
        return None
    found[number] = 1
    return found


def _whole_power(base: Expression, by: int) -> Expression:
    if by == 0:
        if not base.top:
            raise AmbiguousError("0 to the power of 0")
        return Expression.number(1)
    if by < 0:
        return _whole_power(Expression.number(1) / base, -by)
    if len(base.top) <= 1 and len(base.bottom) == 1:
        if abs(by) > MOST_EXPONENT:
            raise TooLargeError("a large exponent")
        return Expression(_power_of_term(base.top, by))
    result = base
    if by > MOST_TERMS:
        raise TooLargeError("a high power of a sum")
    for _ in range(by - 1):
        result = result * base
    return result


def _power_of_term(term: Polynomial, by: int) -> Polynomial:
    if not term:
        return {}
    ((monomial, factor),) = term.items()
    if abs(factor) != 1 and by * max(factor.numerator.bit_length(), factor.denominator.bit_length()) > 2 * MOST_BITS:
        raise TooLargeError("a high power of a number")
    extra, monomial = reduced({atom: exponent * by for atom, exponent in monomial})
    return {monomial: bounded(factor**by * extra)}


def _root_power(base: Expression, by: Fraction) -> Expression:
    if not base.top:
        if by < 0:
            raise AmbiguousError("a division by zero")
        return base
    if len(base.top) > 1 or len(base.bottom) > 1:
        return Expression.atom(Atom(f"({base.key})", "sum", (base,)), by)
    ((monomial, factor),) = base.top.items()
    even = by.denominator % 2 == 0
    if any(even and exponent.numerator % 2 == 0 and atom.kind not in _POSITIVE for atom, exponent in monomial):
        return opaque("root", base, Expression.number(by))  # the root of x^2 is |x|
    if any(atom.kind == "i" for atom, _ in monomial) or (factor < 0 and by.denominator != 2 and even):
        return opaque("root", base, Expression.number(by))
    set_free, rest = reduced({atom: exponent * by for atom, exponent in monomial})
    result = Expression({rest: set_free})
    if factor < 0:
        sign = Expression.number(-1) if not even else Expression.atom(IMAGINARY)
        result = result * _whole_power(sign, by.numerator)
    return result * _root_of(abs(factor), by)


def _root_of(value: Fraction, by: Fraction) -> Expression:
    """A power of a positive rational number with a fraction for an exponent."""
    exponents: dict[Atom, Fraction] = {}
    for number, sign in ((value.numerator, 1), (value.denominator, -1)):
        if number.bit_length() > MOST_BITS_IN_SUM or abs(by.numerator) > MOST_TERMS:
            raise TooLargeError("a root of a long number")
        primes = factored(number)
        for prime, times in ({number: 1} if primes is None else primes).items():
            atom = Atom(f"{prime:#x}", "prime" if primes is not None else "number", (prime,))
            exponents[atom] = exponents.get(atom, Fraction(0)) + sign * times * by
    factor, monomial = reduced(exponents)
    return Expression({monomial: bounded(factor)})


def _turned(exponent: Expression) -> Expression:
    """e to the power of a + bi, by Euler's formula."""
    parts = real_and_imaginary(exponent)
    if parts is None:
        return opaque("power", Expression.atom(EULER), exponent)
    size, angle = parts
    turn = opaque("cos", angle) + Expression.atom(IMAGINARY) * opaque("sin", angle)
    return turn * power(Expression.atom(EULER), size)


def _symbolic_power(base: Expression, exponent: Expression) -> Expression:
    """2^(2n+1) becomes 2 (2^n)^2, so that equal powers look equal; what does not fit stays as it is written."""
    if base == Expression.atom(EULER) and mentions_i(exponent):
        return _turned(exponent)
    value = base.rational
    if exponent.bottom != ONE or not (base == Expression.atom(EULER) or (value is not None and value > 0)):
        return opaque("power", base, exponent)
    primes = {} if value is None else factored(value.numerator)
    under = {} if value is None else factored(value.denominator)
    if primes is None or under is None:
        return opaque("power", base, exponent)
    bases = [(Expression.atom(EULER), 1)] if value is None else []
    bases += [(Expression.number(p), k) for p, k in primes.items()]
    bases += [(Expression.number(p), -k) for p, k in under.items()]
    result = Expression.number(1)
    for monomial, factor in exponent.top.items():
        for prime, times in bases:
            if monomial:
                (part,) = opaque("power", prime, Expression({monomial: Fraction(1)})).atoms
                result = result * Expression.atom(part, factor * times)
            else:
                result = result * power(prime, Expression.number(factor * times))
    return result

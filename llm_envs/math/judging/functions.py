"""Functions of numbers that have exact values; of anything else they stay as they are written."""

import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction

from llm_envs.math.judging.complex_parts import mentions_i, real_and_imaginary
from llm_envs.math.judging.errors import AmbiguousError, TooLargeError, UnreadError
from llm_envs.math.judging.exact import Expression, opaque
from llm_envs.math.judging.polynomials import MOST_BITS
from llm_envs.math.judging.powers import power

_NUMBER = re.compile(r"(\d*)(?:\.(\d*))?(?:[eE]([-+]?\d+))?")
_LONGEST_NUMBER = 4000  # digits; Python's own limit is 4300
_LARGEST_FACTORIAL = 3000
_MOST_OPERANDS = {"log": 2, "gcd": 9, "lcm": 9, "min": 9, "max": 9}


def read_number(digits: str) -> Fraction:
    """The value of a decimal literal. Raises UnreadError, TooLargeError."""
    match = _NUMBER.fullmatch(digits)
    if match is None:
        raise UnreadError(f"{digits!r} is no number")
    whole, decimals, exponent = match.groups()
    if len(digits) > _LONGEST_NUMBER or (exponent and len(exponent) > 5):
        raise TooLargeError("a number of many digits")
    value = Fraction(int(whole + (decimals or "") or "0"), 10 ** len(decimals or ""))
    if not exponent:
        return value
    if abs(int(exponent)) * 4 > MOST_BITS:
        raise TooLargeError("a large power of ten")
    return value * Fraction(10) ** int(exponent)


def apply_function(name: str, arguments: Sequence[Expression]) -> Expression:
    """A function by its name, a base before its operand. Raises UnreadError for operands that it cannot have."""
    if not 1 <= len(arguments) <= _MOST_OPERANDS.get(name, 1):
        raise UnreadError(f"{name} of {len(arguments)} operands")
    numbers = [argument.rational for argument in arguments]
    exact = _OF_NUMBERS.get(name)
    if exact is not None and all(number is not None and number.denominator == 1 for number in numbers):
        return Expression.number(exact(*(int(number) for number in numbers if number is not None)))
    return opaque(name, *arguments)


def absolute(value: Expression) -> Expression:
    """The absolute value. Raises TooLargeError."""
    number = value.rational
    if number is not None:
        return Expression.number(abs(number))
    parts = real_and_imaginary(value) if mentions_i(value) else None
    if parts is None:
        return opaque("abs", value)
    real, imaginary = parts
    return power(real * real + imaginary * imaginary, Expression.number(Fraction(1, 2)))


def factorial(value: Expression, *, every: int = 1) -> Expression:
    """The factorial, or the product of every second number with `every=2`. Raises UnreadError, TooLargeError."""
    if every > 2:
        raise AmbiguousError("a factorial with more than two signs")
    number = value.rational
    if number is None:
        return opaque("factorial" if every == 1 else "double factorial", value)
    if number.denominator != 1 or number < 0:
        raise AmbiguousError("a factorial of something other than a natural number")
    if number > _LARGEST_FACTORIAL:
        raise TooLargeError("a large factorial")
    return Expression.number(math.prod(range(number.numerator, 0, -every)))


def binomial(n: Expression, k: Expression) -> Expression:
    """The binomial coefficient. Raises UnreadError, TooLargeError."""
    above, below = n.rational, k.rational
    if above is None or below is None:
        return opaque("binomial", n, k)
    if above.denominator != 1 or below.denominator != 1 or not 0 <= below <= above:
        raise AmbiguousError("a binomial coefficient outside 0 <= k <= n")
    if above > _LARGEST_FACTORIAL:
        raise TooLargeError("a large binomial coefficient")
    return Expression.number(math.comb(above.numerator, below.numerator))


_OF_NUMBERS: dict[str, Callable[..., int]] = {"gcd": math.gcd, "lcm": math.lcm}

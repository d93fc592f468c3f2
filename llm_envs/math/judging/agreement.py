"""Whether two scalars are equal: exactly first, then to many digits, decimals by their places."""

from fractions import Fraction

from llm_envs.math.judging.complex_parts import mentions_i, real_and_imaginary
from llm_envs.math.judging.errors import TooLargeError
from llm_envs.math.judging.exact import Expression, difference
from llm_envs.math.judging.numeric import compare_at_points, real_value
from llm_envs.math.judging.polynomials import proves_difference
from llm_envs.math.judging.values import Scalar
from llm_envs.math.judging.verdict import Verdict, all_right

LEAST_PLACES = 6  # and as many significant digits: what a decimal needs to stand for a number that has no finite one


def compare_scalars(gold: Scalar, answer: Scalar, *, rounded: bool) -> Verdict:
    """The verdict on two scalars with values; `UNDECIDED` where neither proof nor digits can tell.

    With `rounded` a decimal of enough places stands for a number that has no finite one.
    """
    if gold.value is None or answer.value is None:
        return Verdict.UNDECIDED
    verdict = compare_exactly(gold.value, answer.value)
    if verdict is Verdict.RIGHT or not rounded:
        return verdict
    return Verdict.RIGHT if _approximates(answer, gold) or _approximates(gold, answer) else verdict


def compare_exactly(a: Expression, b: Expression) -> Verdict:
    """Whether two expressions are equal wherever both are defined."""
    left, right = a.rational, b.rational
    if left is not None and right is not None:
        return Verdict.of(left == right)
    try:
        gap = difference(a, b)
    except TooLargeError:
        return compare_at_points(a, b)
    if not gap:
        return Verdict.RIGHT
    if proves_difference(gap):
        return Verdict.WRONG
    return _compare_parts(a, b) if mentions_i(a) or mentions_i(b) else compare_at_points(a, b)


def _compare_parts(a: Expression, b: Expression) -> Verdict:
    """Complex expressions, by their real and imaginary parts."""
    try:
        left, right = real_and_imaginary(a), real_and_imaginary(b)
    except TooLargeError:
        return Verdict.UNDECIDED
    if left is None or right is None:
        return Verdict.UNDECIDED
    return all_right([compare_at_points(mine, yours) for mine, yours in zip(left, right, strict=True)])


def _approximates(decimal: Scalar, other: Scalar) -> bool:
    """Whether a decimal of enough digits is less than one unit of its last place away."""
    if decimal.value is None or other.value is None or decimal.places is None or decimal.places < LEAST_PLACES:
        return False
    written, exact = decimal.value.rational, other.value.rational
    if written is None or abs(written) < Fraction(10) ** (LEAST_PLACES - 1 - decimal.places):
        return False
    value = real_value(other.value) if exact is None else exact
    return value is not None and abs(value - written) < Fraction(1, 10**decimal.places)

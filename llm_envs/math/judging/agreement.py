"""Whether two scalars are equal: exactly first, then to many digits, decimals by their places."""

from fractions import Fraction

from llm_envs.math.judging.errors import TooLargeError
from llm_envs.math.judging.exact import Expression, difference
from llm_envs.math.judging.numeric import compare_at_points, real_value
from llm_envs.math.judging.polynomials import proves_difference
from llm_envs.math.judging.values import Scalar
from llm_envs.math.judging.verdict import Verdict

LEAST_PLACES = 6  # and as many significant digits: what a decimal needs to stand for a number that has no finite one


def compare_scalars(gold: Scalar, answer: Scalar) -> Verdict:
    """The verdict on two scalars with values; `UNDECIDED` where neither proof nor digits can tell."""
    if gold.value is None or answer.value is None:
        return Verdict.UNDECIDED
    verdict = compare_exactly(gold.value, answer.value)
    if verdict is not Verdict.RIGHT and (_approximates(answer, gold) or _approximates(gold, answer)):
        return Verdict.RIGHT
    return verdict


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
    return Verdict.WRONG if proves_difference(gap) else compare_at_points(a, b)


def _approximates(decimal: Scalar, other: Scalar) -> bool:
    """Whether a decimal of enough digits is less than one unit of its last place away."""
    if decimal.value is None or other.value is None or decimal.places is None or decimal.places < LEAST_PLACES:
        return False
    written, exact = decimal.value.rational, other.value.rational
    if written is None or abs(written) < Fraction(10) ** (LEAST_PLACES - 1 - decimal.places):
        return False
    value = real_value(other.value) if exact is None else exact
    return value is not None and abs(value - written) < Fraction(1, 10**decimal.places)

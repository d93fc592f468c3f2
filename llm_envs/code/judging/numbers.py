"""Numbers in outputs: read as decimals, so that no digit is lost on the way, and compared with a tolerance."""

import re
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from typing import NamedTuple

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,9})?|[+-]?(inf|infinity|nan)", re.IGNORECASE | re.ASCII)
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
# Differences only have to be right to the tolerance; nothing overflows, and nothing raises.
_EXACT_ENOUGH = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])


class Number(NamedTuple):
    """A number as it was written.

    Attributes:
        value: exactly.
        whole: whether it was written without a point and without an exponent.
    """

    value: Decimal
    whole: bool


def read_number(text: str) -> Number | None:
    """The number that a word is, or None; ASCII digits, no separators."""
    if not _NUMBER.fullmatch(text):
        return None
    return Number(Decimal(text), _WHOLE.fullmatch(text) is not None)


def same_number(expected: Number, got: Number, tolerance: Decimal) -> bool:
    """Whether a number counts as the expected one.

    A whole number is met by its exact value only, `3` by `3.0`, too; any other one within the tolerance, absolute or
    relative. NaN is met by NaN, an infinity by the same infinity.
    """
    if expected.whole:
        return expected.value == got.value
    if expected.value.is_nan() or got.value.is_nan():
        return expected.value.is_nan() and got.value.is_nan()
    if expected.value.is_infinite() or got.value.is_infinite():
        return expected.value == got.value
    apart = _EXACT_ENOUGH.subtract(expected.value, got.value).copy_abs()
    allowed = _EXACT_ENOUGH.multiply(tolerance, max(Decimal(1), expected.value.copy_abs()))
    return apart <= allowed

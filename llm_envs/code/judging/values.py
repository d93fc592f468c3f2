"""When the result of a function counts as the expected one. Both come as JSON, so that types are JSON's."""

import json
from decimal import Decimal
from typing import Any

from llm_envs.code.judging.numbers import Number, read_number, same_number
from llm_envs.code.problem import Comparison


def read_json(text: str) -> Any:
    """A JSON value, with a `Number` for each number, whatever its size; NaN and Infinity are taken.

    Raises:
        ValueError: no JSON, or JSON nested too deeply to be read.
    """
    try:
        return json.loads(text, parse_int=_number, parse_float=_number, parse_constant=_number)
    except RecursionError:
        raise ValueError("JSON nested too deeply") from None


def _number(text: str) -> Number:
    number = read_number(text)
    if number is None:
        raise ValueError(f"a number out of range: {text[:40]}")
    return number


def same_value(expected: Any, got: Any, comparison: Comparison, tolerance: float) -> bool:
    """Compare a result with the expected one, as `read_json` gives them.

    EXACT admits no tolerance; the other comparisons do, for numbers that are not whole. UNORDERED takes the items of
    the outermost list in any order.
    """
    allowed = Decimal(0) if comparison is Comparison.EXACT else Decimal(repr(tolerance))
    if comparison is Comparison.UNORDERED and isinstance(expected, list) and isinstance(got, list):
        return _same_items(expected, got, allowed)
    return _same(expected, got, allowed)


def _same(expected: Any, got: Any, tolerance: Decimal) -> bool:
    """Lists item by item, objects key by key; true is no number, and a text is never one. As deep as `expected` is."""
    if isinstance(expected, Number):
        return isinstance(got, Number) and same_number(expected, got, tolerance)
    if type(expected) is not type(got):
        return False
    if isinstance(expected, list):
        return len(expected) == len(got) and all(
            _same(mine, yours, tolerance) for mine, yours in zip(expected, got, strict=True)
        )
    if isinstance(expected, dict):
        return expected.keys() == got.keys() and all(
            _same(value, got[key], tolerance) for key, value in expected.items()
        )
    return bool(expected == got)


def _same_items(expected: list[Any], got: list[Any], tolerance: Decimal) -> bool:
    """Whether each expected item has a partner of its own, the first that fits."""
    if len(expected) != len(got):
        return False
    left = list(got)
    for item in expected:
        place = next((place for place, other in enumerate(left) if _same(item, other, tolerance)), None)
        if place is None:
            return False
        del left[place]
    return True

"""When the result of a function counts as the expected one. Both come as JSON, so that types are JSON's."""

import json
from collections import Counter
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
    """Whether the items can be paired off: equal ones first, then what is left in order of size.

    To try every pairing would take the square of the time, and whoever writes long lists would hold up the judge.
    """
    if len(expected) != len(got):
        return False
    mine, yours = Counter(map(_key, expected)), Counter(map(_key, got))
    left = [sorted((one - other).elements()) for one, other in ((mine, yours), (yours, mine))]
    items = [{_key(item): item for item in side} for side in (expected, got)]
    return all(_same(items[0][one], items[1][other], tolerance) for one, other in zip(left[0], left[1], strict=True))


def _key(value: Any) -> tuple[Any, ...]:
    """Equal for equal values, and in an order of its own: by type, then by size."""
    if isinstance(value, Number):
        return (2, 0, value.value) if not value.value.is_nan() else (2, 1)
    if isinstance(value, list):
        return (4, len(value), *map(_key, value))
    if isinstance(value, dict):
        return (5, len(value), *(part for key in sorted(value) for part in (key, _key(value[key]))))
    if isinstance(value, str):
        return (3, value)
    return (0,) if value is None else (1, value)

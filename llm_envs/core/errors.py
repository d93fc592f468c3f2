"""Errors that tell a person what to change."""

import difflib
import operator
from collections.abc import Iterable
from typing import Any


class UsageError(ValueError):
    """A value that is not allowed. The message names the argument, the value, what is allowed and the fix."""


def unknown_choice(argument: str, value: object, allowed: Iterable[str]) -> UsageError:
    """The error for a value outside a closed set, with the nearest valid name where one is near."""
    names = sorted(map(str, allowed))
    near = difflib.get_close_matches(str(value), names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return UsageError(f"{argument}={value!r}: must be one of {', '.join(names)}.{hint}")


def unknown_option(owner: str, option: str, allowed: Iterable[str]) -> UsageError:
    """The error for an option that does not exist, with the nearest valid name where one is near."""
    names = sorted(map(str, allowed))
    near = difflib.get_close_matches(option, names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return UsageError(f"{owner} has no option {option!r}; it takes {', '.join(names)}.{hint}")


def require(condition: bool, argument: str, value: object, allowed: str) -> None:
    """Raise `UsageError` unless the condition holds."""
    if not condition:
        raise UsageError(f"{argument}={value!r}: must be {allowed}.")


def whole_number(argument: str, value: Any, *, least: int, most: int | None = None) -> int:
    """The value as an `int` (NumPy's integers are taken, booleans and floats are not) within its bounds."""
    allowed = f"a whole number >= {least}" if most is None else f"a whole number from {least} to {most}"
    number = None if isinstance(value, bool) or not hasattr(value, "__index__") else operator.index(value)
    if number is None or number < least or (most is not None and number > most):
        raise UsageError(f"{argument}={value!r}: must be {allowed}.")
    return number

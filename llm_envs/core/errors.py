"""Errors that tell a person what to change."""

import difflib
from collections.abc import Iterable


class UsageError(ValueError):
    """An argument has a value that is not allowed. The message names the argument, the value, what is allowed, the fix."""


def unknown_choice(argument: str, value: object, allowed: Iterable[str]) -> UsageError:
    """The error for a value outside a closed set, with the nearest valid name where one is near."""
    names = sorted(allowed)
    near = difflib.get_close_matches(str(value), names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return UsageError(f"{argument}={value!r}: must be one of {', '.join(names)}.{hint}")


def require(condition: bool, argument: str, value: object, allowed: str) -> None:
    """Raise `UsageError` unless the condition holds."""
    if not condition:
        raise UsageError(f"{argument}={value!r}: must be {allowed}.")

"""Values of Gymnasium spaces as text."""

from typing import Any

import numpy as np
from gymnasium import Space, spaces
from numpy.typing import NDArray

from llm_envs.core.errors import UsageError

DIGITS = 4  # significant ones of a float


def value_text(space: Space[Any], value: Any) -> str:
    """A value of a space in words and numbers; a `Dict` gives one entry a line, its `action_mask` left out.

    Raises:
        UsageError: a kind of space that has no printed form here.
    """
    if isinstance(space, spaces.Dict):
        entries = [(key, inner, value[key]) for key, inner in space.spaces.items() if key != "action_mask"]
        if len(entries) == 1:
            return value_text(entries[0][1], entries[0][2])
        return "\n".join(_entry(key, inner, item) for key, inner, item in entries)
    if isinstance(space, spaces.Tuple):
        return "\n".join(
            _entry(str(number), inner, item)
            for number, (inner, item) in enumerate(zip(space.spaces, value, strict=True), start=1)
        )
    if isinstance(space, spaces.Text):
        return str(value)
    if isinstance(space, (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)):
        return array_text(np.asarray(value))
    raise UsageError(
        f"observation space {type(space).__name__}: has no printed form; give textualize() a GameText with a show()."
    )


def _entry(key: str, space: Space[Any], value: Any) -> str:
    text = value_text(space, value)
    return f"{key}:\n{text}" if "\n" in text else f"{key}: {text}"


def array_text(array: NDArray[Any]) -> str:
    """A number, a row of numbers, rows of numbers, or numbered planes of rows; a third axis is the channel."""
    if array.ndim == 0:
        return number_text(array.item())
    if array.ndim == 1:
        return " ".join(map(number_text, array.tolist()))
    if array.ndim == 2:
        return "\n".join(" ".join(map(number_text, row)) for row in array.tolist())
    planes = np.moveaxis(array, -1, 0) if array.ndim == 3 else array
    return "\n".join(f"[{number}]\n{array_text(plane)}" for number, plane in enumerate(planes))


def number_text(number: float) -> str:
    """A whole number as it is, another one to four significant digits, a truth value as 0 or 1."""
    return f"{number:.{DIGITS}g}" if isinstance(number, float) else str(int(number))

"""One environment variable sets the size of every test: `LLM_ENVS_TEST_SCALE` = fast (default), system or long."""

import os
from typing import TypeVar

T = TypeVar("T")
SCALES = ("fast", "system", "long")


def scale() -> str:
    """The tier that runs now; an unknown name is refused, since a typo would quietly shrink the tests."""
    name = os.environ.get("LLM_ENVS_TEST_SCALE", "fast")
    if name not in SCALES:
        raise ValueError(f"LLM_ENVS_TEST_SCALE={name!r}: must be one of {', '.join(SCALES)}")
    return name


def scaled(*, fast: T, system: T | None = None, long: T | None = None) -> T:
    """The size for this tier; a tier without a size of its own takes the next smaller one's."""
    system = fast if system is None else system
    return {"fast": fast, "system": system, "long": system if long is None else long}[scale()]

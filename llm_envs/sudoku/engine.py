"""Which code solves and digs: pure Python, or the compiled code of the extra `fast`. Both give the same results."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.util import find_spec

from llm_envs.core.errors import UsageError, unknown_choice
from llm_envs.sudoku import digging, solver, techniques
from llm_envs.sudoku.rng import SplitMix64
from llm_envs.sudoku.techniques import Technique

logger = logging.getLogger(__name__)


class EngineName(StrEnum):
    """`auto` takes the compiled code where numba is installed and puzzles are large enough to gain by it."""

    AUTO = "auto"
    PYTHON = "python"
    NUMBA = "numba"


@dataclass(frozen=True, slots=True)
class Engine:
    """The operations that cost time; see the functions of `solver`, `digging` and `techniques` of these names."""

    name: str
    solve: Callable[[bytes], bytes | None]
    search: Callable[..., solver.Search]
    full_grid: Callable[[int, SplitMix64], bytes]
    dig: Callable[[bytes, bytes, SplitMix64, int, Technique], bytes]
    yields_to: Callable[[bytes, Technique], bool]


PYTHON = Engine("python", solver.solve, solver.search, digging.full_grid, digging.dig, techniques.yields_to)


SMALLEST_COMPILED = 9  # smaller puzzles take Python under a millisecond, which loading compiled code is not worth


@cache
def get_engine(name: str, size: int) -> Engine:
    """The engine of a name for puzzles of a size.

    Raises:
        UsageError: an unknown name, or `numba` where it is not installed.
    """
    if name not in set(EngineName):
        raise unknown_choice("engine", name, EngineName)
    automatic = name == EngineName.AUTO
    if name == EngineName.PYTHON or (automatic and (size < SMALLEST_COMPILED or find_spec("numba") is None)):
        return PYTHON
    try:
        from llm_envs.sudoku import fast
    except ImportError as error:
        if automatic:
            logger.warning("numba is installed but can't be imported (%s): taking pure Python", error)
            return PYTHON
        raise UsageError(
            f"engine={name!r}: numba can't be imported ({error}); install llm-envs[fast], or take 'python'."
        ) from error
    logger.info("Sudoku runs compiled; the first puzzle may wait some ten seconds for numba, later processes do not")
    return Engine("numba", fast.solve, fast.search, fast.full_grid, fast.dig, fast.yields_to)

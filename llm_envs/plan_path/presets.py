"""Difficulties by name, and the checks that make every instance of a set of dials possible."""

from dataclasses import dataclass

from llm_envs.core.errors import UsageError, require, unknown_choice, whole_number
from llm_envs.plan_path.board import HIGHEST_COST, MAX_SIZE, MIN_SIZE
from llm_envs.plan_path.generator import Dials

MOST_WALLS = 0.5


@dataclass(frozen=True, slots=True)
class Preset:
    """The dials that a difficulty stands for; see `Dials`."""

    size: int
    walls: float
    min_path: int


PRESETS = {
    "easy": Preset(size=8, walls=0.2, min_path=4),
    "medium": Preset(size=10, walls=0.3, min_path=10),
    "hard": Preset(size=14, walls=0.35, min_path=20),
}


def make_dials(
    *,
    difficulty: str = "easy",
    size: int | None = None,
    walls: float | None = None,
    min_path: int | None = None,
    weights: int = 1,
    diagonal: bool = False,
    within: int,
) -> Dials:
    """The dials of a difficulty, with those that are given in place of its own.

    Args:
        difficulty: its `min_path` is lowered to what a grid of another size has room for.
        size, walls, min_path: dials in place of the difficulty's.
        weights, diagonal: see `Dials`.
        within: moves that an episode has room for.

    Raises:
        UsageError: a dial outside what is allowed, or dials that no instance would meet.
    """
    if difficulty not in PRESETS:
        raise unknown_choice("difficulty", difficulty, PRESETS)
    preset = PRESETS[difficulty]
    size = whole_number("size", preset.size if size is None else size, least=MIN_SIZE, most=MAX_SIZE)
    walls = preset.walls if walls is None else walls
    require(isinstance(walls, (int, float)) and 0 <= walls <= MOST_WALLS, "walls", walls, f"0 to {MOST_WALLS}")
    weights = whole_number("weights", weights, least=1, most=HIGHEST_COST)
    require(isinstance(diagonal, bool), "diagonal", diagonal, "True or False")
    farthest = (size - 1) * (1 if diagonal else 2)  # from corner to corner of an empty grid
    if min_path is None:
        min_path = min(preset.min_path, farthest)
    min_path = whole_number("min_path", min_path, least=1, most=farthest)
    if min_path > within:
        raise UsageError(
            f"min_path={min_path}: must be at most max_moves * max_cycles = {within}, or none could arrive in time."
        )
    return Dials(size, float(walls), min_path, within, weights, diagonal)

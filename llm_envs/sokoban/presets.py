"""Difficulties by name, and the checks that make every room of a set of dials possible."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from llm_envs.core.errors import UsageError, require, unknown_choice, whole_number
from llm_envs.sokoban.board import MAX_BOXES, MAX_SIZE
from llm_envs.sokoban.generator import Dials
from llm_envs.sokoban.layouts import Shape

MIN_SIZE = 6
MOST_WALLS = 0.6
CELLS_PER_BOX = 6  # inner cells that a box needs, so that there is room to play


@dataclass(frozen=True, slots=True)
class Preset:
    """The dials that a difficulty stands for; see `Dials`."""

    size: int
    boxes: int
    shape: Shape
    walls: float
    min_pushes: int


PRESETS = {
    "easy": Preset(size=7, boxes=1, shape=Shape.CARVED, walls=0.3, min_pushes=3),
    "medium": Preset(size=8, boxes=2, shape=Shape.CARVED, walls=0.35, min_pushes=6),
    "hard": Preset(size=10, boxes=3, shape=Shape.CARVED, walls=0.4, min_pushes=9),
    "expert": Preset(size=10, boxes=4, shape=Shape.CARVED, walls=0.4, min_pushes=12),
}


def make_dials(
    *,
    difficulty: str = "easy",
    size: int | Sequence[int] | None = None,
    boxes: int | None = None,
    shape: str | None = None,
    walls: float | None = None,
    min_pushes: int | None = None,
    max_moves: int,
) -> Dials:
    """The dials of a difficulty, with those that are given in place of its own.

    Args:
        max_moves: moves that an episode has room for.

    Raises:
        UsageError: a dial outside what is allowed, or dials that no room, or hardly one, would meet.
    """
    if difficulty not in PRESETS:
        raise unknown_choice("difficulty", difficulty, PRESETS)
    preset = PRESETS[difficulty]
    rows, cols = _sides(preset.size if size is None else size)
    boxes = whole_number("boxes", preset.boxes if boxes is None else boxes, least=1, most=MAX_BOXES)
    room_for = (rows - 2) * (cols - 2) // CELLS_PER_BOX
    require(boxes <= room_for, "boxes", boxes, f"at most {room_for} in a room of {rows}x{cols}")
    shape = preset.shape if shape is None else shape
    if shape not in set(Shape):
        raise unknown_choice("shape", shape, Shape)
    walls = preset.walls if walls is None else walls
    require(isinstance(walls, (int, float)) and 0 <= walls <= MOST_WALLS, "walls", walls, f"0 to {MOST_WALLS}")
    # In an empty hall a box can be that far from a goal in the corner; further boxes make up for walls.
    farthest = rows + cols - 8 + (boxes - 1)
    if min_pushes is None:
        min_pushes = min(preset.min_pushes, farthest)
    min_pushes = whole_number("min_pushes", min_pushes, least=1, most=farthest)
    needed = 6 * min_pushes + 4 + (boxes - 1) * (rows + cols)  # so much that not most rooms are thrown away
    if max_moves < needed:
        raise UsageError(
            f"max_moves * max_cycles={max_moves}: must be at least {needed} for boxes={boxes}, min_pushes={min_pushes} "
            f"in a room of {rows}x{cols}; raise either, or ask for fewer pushes or boxes."
        )
    return Dials(rows, cols, boxes, Shape(shape), float(walls), min_pushes, max_moves)


def _sides(size: Any) -> tuple[int, int]:
    """Rows and columns of `size`, one number or two."""
    sides = (size, size) if hasattr(size, "__index__") else size
    if not isinstance(sides, Sequence) or isinstance(sides, str) or len(sides) != 2:
        raise UsageError(f"size={size!r}: must be a whole number, or a pair (rows, columns).")
    rows, cols = (whole_number("size", side, least=MIN_SIZE, most=MAX_SIZE) for side in sides)
    return rows, cols

"""Sudoku as a picture."""

from llm_envs.render.image import Canvas, Colour, Pixels, mix
from llm_envs.sudoku.geometry import SYMBOLS, clashes, geometry
from llm_envs.sudoku.state import State

TILE = 40  # pixels; even, as most video formats need
_FRAME = 2  # around the grid

_PAPER: Colour = (255, 254, 250)
_GIVEN: Colour = (240, 238, 231)
_HAIR: Colour = (190, 188, 182)
CLUE: Colour = (45, 52, 66)
FILLED: Colour = (37, 99, 196)
CLASH: Colour = (200, 40, 45)


def draw(state: State) -> Pixels:
    """The grid: clues dark on grey, filled digits blue, digits that repeat in a row, column or box red.

    Nothing shows whether a digit that breaks no rule is right.
    """
    size, grid, clues = state.puzzle.size, state.grid, state.puzzle.clues
    canvas = Canvas.plain(size * TILE + 2 * _FRAME, size * TILE + 2 * _FRAME, _PAPER)
    clashing = {cell for pair in clashes(grid, size) for cell in pair}
    for cell, digit in enumerate(grid):
        top, left = (_FRAME + place * TILE for place in divmod(cell, size))
        if cell in clashing:
            canvas.fill(top, left, TILE, TILE, mix(_PAPER, CLASH, 0.15))
        elif clues[cell]:
            canvas.fill(top, left, TILE, TILE, _GIVEN)
        if digit:
            colour = CLUE if clues[cell] else CLASH if cell in clashing else FILLED
            canvas.character((top + TILE / 2, left + TILE / 2), SYMBOLS[digit], 3, colour)
    _draw_lines(canvas, size)
    return canvas.pixels


def _draw_lines(canvas: Canvas, size: int) -> None:
    """Hair lines between cells, and strong ones around the boxes over them."""
    board, length = geometry(size), size * TILE + 2 * _FRAME
    for strong, colour, width in ((False, _HAIR, 1), (True, CLUE, 3)):
        for number in range(size + 1):
            at = _FRAME + number * TILE - width // 2
            if (number % board.box_rows == 0) is strong:
                canvas.fill(at, 0, width, length, colour)
            if (number % board.box_columns == 0) is strong:
                canvas.fill(0, at, length, width, colour)

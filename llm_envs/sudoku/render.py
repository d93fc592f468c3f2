"""Sudoku for people."""

import sys

from llm_envs.render.ansi import colour_wanted, paint
from llm_envs.sudoku.geometry import SYMBOLS
from llm_envs.sudoku.state import State, boxed, render

CLUE, FILLED, FRAME = "1", "36", "90"  # bold, cyan, grey


def show(state: State) -> None:
    """Write the grid to standard output, with clues in bold and filled digits in colour where it shows colour."""
    if not colour_wanted(sys.stdout):
        sys.stdout.write(render(state) + "\n")
        return
    cells = iter(zip(state.grid, state.puzzle.clues, strict=True))
    parts: list[str] = []
    for symbol in boxed(state.grid):
        if symbol not in SYMBOLS:
            parts.append(paint(symbol, {"|": FRAME, "-": FRAME, "+": FRAME}))
            continue
        digit, given = next(cells)
        parts.append(paint(symbol, {symbol: CLUE if given else FILLED if digit else FRAME}))
    sys.stdout.write("".join(parts) + "\n")

"""Sudoku for learners without language."""

from typing import Any

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from llm_envs.sudoku.geometry import geometry
from llm_envs.sudoku.puzzle import Placement
from llm_envs.sudoku.reading import Answer
from llm_envs.sudoku.state import State


class SudokuView:
    """Arrays and numbered actions; a `llm_envs.core.discrete.DiscreteView`.

    The array has shape (size, size, 2): the digit of each cell (0 for an empty one), and 1 where it is a clue. Action
    `cell * (size + 1) + digit` puts a digit into a cell, cells counted row by row from 0; digit 0 clears it.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        cells = geometry(size).cells
        high = np.broadcast_to(np.array([size, 1], np.int8), (size, size, 2)).copy()
        self.box: Box[Any] = Box(np.zeros_like(high), high, dtype=np.int8)
        self.actions = cells * (size + 1)

    def encode(self, state: State) -> NDArray[np.int8]:
        grid, clues = np.frombuffer(state.grid, np.int8), np.frombuffer(state.puzzle.clues, np.int8)
        planes = np.stack([grid, (clues > 0).astype(np.int8)], axis=-1)
        array: NDArray[np.int8] = planes.reshape(self._size, self._size, 2)
        return array

    def mask(self, state: State) -> NDArray[np.int8]:
        """Placements that the clues admit and that change the grid."""
        digits = np.arange(self._size + 1)
        barred = np.array(state.puzzle.barred, np.int64)[:, None] >> digits & 1
        held = np.frombuffer(state.grid, np.uint8)[:, None] == digits
        allowed: NDArray[np.int8] = ((barred == 0) & ~held).astype(np.int8).reshape(-1)
        return allowed

    def decode(self, state: State, action: int) -> Answer:
        cell, digit = divmod(action, self._size + 1)
        return Answer((Placement(cell, digit),))

"""Sokoban for learners without language."""

from typing import Any

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from llm_envs.core.errors import UsageError
from llm_envs.sokoban.board import MOVES, WALL, legal_moves
from llm_envs.sokoban.replies import Moves
from llm_envs.sokoban.state import State

SYMBOLS = " #.$*@+"  # a cell's code is the place of its XSB symbol here
_CODES = np.zeros(128, np.int8)
_CODES[list(SYMBOLS.encode())] = range(len(SYMBOLS))


class SokobanView:
    """Arrays and numbered actions; a `llm_envs.core.discrete.DiscreteView`.

    The array has shape (rows, cols): 0 floor, 1 wall, 2 goal, 3 box, 4 box on a goal, 5 player, 6 player on a goal.
    Action 0 goes up, 1 down, 2 left, 3 right. A room that is smaller than the array stands in its top left corner,
    with walls around.
    """

    def __init__(self, rows: int, cols: int) -> None:
        self.box: Box[Any] = Box(0, len(SYMBOLS) - 1, (rows, cols), np.int8)
        self.actions = len(MOVES)

    def encode(self, state: State) -> NDArray[np.int8]:
        room, (rows, cols) = state.board.room, self.box.shape
        if room.rows > rows or room.cols > cols:
            raise UsageError(f"room of {room.rows}x{room.cols}: must fit into {rows}x{cols}, the option `size`.")
        symbols = np.frombuffer(state.board.text.encode() + b"\n", np.uint8).reshape(room.rows, room.cols + 1)
        array = np.full((rows, cols), SYMBOLS.index(WALL), np.int8)
        array[: room.rows, : room.cols] = _CODES[symbols[:, :-1]]
        return array

    def mask(self, state: State) -> NDArray[np.int8]:
        """Moves that are not blocked."""
        legal = legal_moves(state.board)
        return np.array([move in legal for move in MOVES], np.int8)

    def decode(self, state: State, action: int) -> Moves:
        return (MOVES[action],)

"""Plan-Path for learners without language."""

from typing import Any

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from llm_envs.core.errors import UsageError
from llm_envs.plan_path.board import Board
from llm_envs.plan_path.moves import moves_of
from llm_envs.plan_path.replies import Moves
from llm_envs.plan_path.state import State

COST, AGENT, GOAL, START = range(4)  # the planes of an observation


class PlanPathView:
    """Arrays and numbered actions; a `llm_envs.core.discrete.DiscreteView`.

    The array has shape (size, size, 4): what entering each cell costs, 0 for a wall, and a 1 where the agent, the goal
    and the start are. Actions are the moves in the order up, down, left, right, up-left, up-right, down-left,
    down-right, the last four with diagonal moves only. A grid that is smaller than the array stands in its top left
    corner, with walls around.
    """

    def __init__(self, size: int, weights: int, *, diagonal: bool) -> None:
        self._size = size
        self._moves = moves_of(diagonal=diagonal)
        high = np.broadcast_to(np.array([weights, 1, 1, 1], np.int8), (size, size, 4)).copy()
        self.box: Box[Any] = Box(np.zeros_like(high), high, dtype=np.int8)
        self.actions = len(self._moves)

    def encode(self, state: State) -> NDArray[np.int8]:
        board = state.board
        if board.size > self._size:
            raise UsageError(f"grid of {board.size}x{board.size}: must fit into the option size={self._size}.")
        array = np.zeros((self._size, self._size, 4), np.int8)
        array[: board.size, : board.size, COST] = _entry_costs(board)
        for plane, cell in ((AGENT, state.position), (GOAL, board.goal), (START, board.start)):
            array[(*divmod(cell, board.size), plane)] = 1
        return array

    def mask(self, state: State) -> NDArray[np.int8]:
        """Moves that are not blocked."""
        ways, blocked = state.board.ways[state.position], state.board.blocked
        return np.array([ways[move] not in blocked for move in self._moves], np.int8)

    def decode(self, state: State, action: int) -> Moves:
        return (self._moves[action],)


def _entry_costs(board: Board) -> NDArray[np.int8]:
    costs = [0 if cell in board.blocked else cost for cell, cost in enumerate(board.costs)]
    return np.array(costs, np.int8).reshape(board.size, board.size)

"""A way to the solution from any position, for the oracle and for judging a tool's list."""

from functools import lru_cache

from llm_envs.sokoban.board import Board, Move, spread, walk, walk_to
from llm_envs.sokoban.deadlocks import assess
from llm_envs.sokoban.generator import Level
from llm_envs.sokoban.solver import moves_of, solve

PLAN_NODES = 2_000  # nodes of the solver off the level's own way: some 50 ms at most, since turns wait for it


@lru_cache(maxsize=4096)
def plan_from(board: Board, level: Level | None) -> tuple[Move, ...] | None:
    """Moves that solve the board, or None where none are known.

    On the way of the level's own plan it is the rest of that; elsewhere it is what the solver finds within
    `PLAN_NODES`, which has the fewest pushes.
    """
    if assess(board.room, board.boxes).deadlock is not None:
        return None
    if level is not None and level.moves is not None:
        rest = _rest(board, level.start, level.moves)
        if rest is not None:
            return rest
    pushes = solve(board, PLAN_NODES).pushes
    return None if pushes is None else tuple(moves_of(board, pushes))


def _rest(board: Board, start: Board, moves: tuple[Move, ...]) -> tuple[Move, ...] | None:
    """The rest of a plan from the last of its positions that the player can walk to, or None."""
    reach = spread(1 << board.player, board.room.floor & ~board.boxes, board.room.cols)
    found: tuple[int, int] | None = None
    position = start
    for number, move in enumerate(moves):
        if position.boxes == board.boxes and reach >> position.player & 1:
            found = number, position.player
        position = walk(position, (move,)).end
    if found is None:
        return None
    number, player = found
    return (*walk_to(board, player), *moves[number:])

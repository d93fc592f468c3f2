"""Reading grids from text."""

from llm_envs.core.errors import UsageError, require
from llm_envs.plan_path.board import (
    FREE,
    GOAL,
    HERE,
    HERE_AT_GOAL,
    HIGHEST_COST,
    MAX_SIZE,
    MIN_SIZE,
    START,
    WALL,
    Board,
)
from llm_envs.plan_path.distances import UNREACHABLE

COSTS = {str(cost): cost for cost in range(1, HIGHEST_COST + 1)}
_SYMBOLS = {WALL, FREE, START, GOAL, HERE, HERE_AT_GOAL}


def parse_grid(text: str, *, diagonal: bool = False, here: int = 1) -> tuple[Board, int]:
    """The board and the agent's cell in a grid as `Board.text_at` writes it; without an agent it stands on the start.

    Args:
        text: the grid.
        diagonal: whether moves may be diagonal.
        here: what entering the cell costs on which the agent stands, whose symbol hides it.

    Raises:
        UsageError: a text that is no such grid.
    """
    rows = [line.strip() for line in text.strip().splitlines()]
    size = len(rows)
    require(MIN_SIZE <= size <= MAX_SIZE, "grid rows", size, f"{MIN_SIZE} to {MAX_SIZE}")
    for number, row in enumerate(rows):
        require(len(row) == size, f"length of row {number}", len(row), f"{size}, since the grid is square")
    cells = "".join(rows)
    found = {symbol: [cell for cell, mark in enumerate(cells) if mark == symbol] for symbol in set(cells)}
    unknown = sorted(found.keys() - _SYMBOLS - COSTS.keys())
    known = f"among {WALL} {FREE} {START} {GOAL} {HERE} {HERE_AT_GOAL}, and 2 to {HIGHEST_COST} for cells that cost"
    require(not unknown, "grid symbols", unknown, known)
    agent, goal = (found.get(HERE, []) + found.get(HERE_AT_GOAL, []), found.get(GOAL, []) + found.get(HERE_AT_GOAL, []))
    start = found.get(START, []) or found.get(HERE, [])
    if not (len(agent) <= 1 and len(goal) == len(start) == 1):
        raise UsageError(f"grid: must hold one {GOAL}, at most one {HERE} and one {START} (or {HERE} on the start).")
    position = agent[0] if agent else start[0]
    costs = [COSTS.get(mark, 1) for mark in cells]
    if here != 1:
        hidden = position not in (start[0], goal[0])
        require(hidden, "here", here, f"1 where the agent stands on the start or on {GOAL}")
        costs[position] = here
    weighted = tuple(costs) if max(costs) > 1 else None
    board = Board.make(size, found.get(WALL, []), start[0], goal[0], costs=weighted, diagonal=diagonal)
    reachable = board.distances[position] != UNREACHABLE and board.length != UNREACHABLE
    require(reachable, "grid", "no path", f"such that {GOAL} can be reached from {START} and from {HERE}")
    return board, position

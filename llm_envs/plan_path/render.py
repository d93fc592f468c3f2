"""Plan-Path for people."""

from llm_envs.plan_path.board import FREE, GOAL, HERE, HERE_AT_GOAL, START, WALL
from llm_envs.plan_path.state import State, render
from llm_envs.render.ansi import write_board

PALETTE = {WALL: "90", FREE: "90", START: "36", GOAL: "1;32", HERE: "1;33", HERE_AT_GOAL: "1;32"}


def show(state: State) -> None:
    """Write the grid to standard output, in colour where it shows colour."""
    text = render(state)
    grid, mark, rest = text.partition("\n" + "candidate:")
    write_board(grid, PALETTE)
    if mark:
        write_board(f"candidate:{rest}", {})

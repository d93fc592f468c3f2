"""Plan-Path for people."""

from llm_envs.plan_path.board import FREE, GOAL, HERE, HERE_AT_GOAL, START, WALL
from llm_envs.plan_path.state import State, render
from llm_envs.render.ansi import write_board

PALETTE = {WALL: "90", FREE: "90", START: "36", GOAL: "1;32", HERE: "1;33", HERE_AT_GOAL: "1;32"}


def show(state: State) -> None:
    """Write the grid to standard output, in colour where it shows colour."""
    write_board(state.board.text_at(state.position), PALETTE)
    if state.candidate is not None:
        write_board(render(state).rpartition("\n")[2], {})

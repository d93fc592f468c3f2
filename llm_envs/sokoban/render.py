"""Sokoban for people."""

from llm_envs.render.ansi import write_board
from llm_envs.sokoban.board import BOX, BOX_ON_GOAL, GOAL, PLAYER, PLAYER_ON_GOAL, WALL
from llm_envs.sokoban.state import State

PALETTE = {WALL: "90", GOAL: "36", BOX: "1;33", BOX_ON_GOAL: "1;32", PLAYER: "1;35", PLAYER_ON_GOAL: "1;35"}


def show(state: State) -> None:
    """Write the room, and the candidate where there is one, to standard output, in colour where it shows colour."""
    write_board(state.board.text, PALETTE)
    if state.candidate is not None:
        write_board(f"candidate: {' '.join(state.candidate)}", {})

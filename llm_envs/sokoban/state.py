"""The state of a Sokoban episode and its text form."""

from typing import NamedTuple

from llm_envs.core.errors import UsageError
from llm_envs.sokoban.board import Board, Move
from llm_envs.sokoban.generator import Level
from llm_envs.sokoban.levels import parse_level
from llm_envs.sokoban.replies import parse_moves

_CANDIDATE = "candidate:"


class State(NamedTuple):
    """Where boxes and player are, and what is known of their plans.

    Attributes:
        level: where the episode started, with a plan from there.
        candidate: the move list that the latest program printed for this very position, if any.
        report: in words, what the latest program did; only its author sees it.
        last_moves, last_hits: the move list executed last, and how many of its moves were blocked.
    """

    board: Board
    level: Level | None = None
    candidate: tuple[Move, ...] | None = None
    report: str = ""
    last_moves: tuple[Move, ...] = ()
    last_hits: int = 0


def render(state: State) -> str:
    """The board in XSB, and a line with the candidate where there is one."""
    text = state.board.text
    return text if state.candidate is None else f"{text}\n{_CANDIDATE} {' '.join(state.candidate)}"


def parse(text: str) -> State:
    """The inverse of `render` (the level, reports and past moves are no part of the text).

    Raises:
        UsageError: a text that is no state.
    """
    board, mark, moves = text.partition(_CANDIDATE)
    if not mark:
        return State(parse_level(board))
    candidate = parse_moves(moves)
    if candidate is None:
        raise UsageError(f"{_CANDIDATE} {moves.strip()!r}: must be moves separated by spaces.")
    return State(parse_level(board), None, candidate)

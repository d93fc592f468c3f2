"""The state of a Plan-Path episode and its text form."""

from dataclasses import dataclass

from llm_envs.core.errors import UsageError
from llm_envs.plan_path.board import Board, Move, parse_grid
from llm_envs.plan_path.replies import parse_moves

_CANDIDATE = "candidate:"


@dataclass(frozen=True, slots=True)
class State:
    """Where the agent stands and what is known of its plans.

    Attributes:
        candidate: the move list that the latest program printed for this very position, if any.
        report: in words, what the latest program did; only its author sees it.
        last_moves, last_hits: the move list executed last, and how many of its moves were blocked.
    """

    board: Board
    position: int
    candidate: tuple[Move, ...] | None = None
    report: str = ""
    last_moves: tuple[Move, ...] = ()
    last_hits: int = 0

    @property
    def distance(self) -> int:
        """Moves on a shortest path from here to the goal."""
        return self.board.distances[self.position]

    @property
    def solved(self) -> bool:
        return self.position == self.board.goal


def render(state: State) -> str:
    """The grid, and a line with the candidate where there is one."""
    grid = state.board.text_at(state.position)
    return grid if state.candidate is None else f"{grid}\n{_CANDIDATE} {' '.join(state.candidate)}"


def parse(text: str) -> State:
    """The inverse of `render` (reports and past moves are no part of the text).

    Raises:
        UsageError: a text that is no state.
    """
    grid, mark, moves = text.partition(_CANDIDATE)
    board, position = parse_grid(grid)
    if not mark:
        return State(board, position)
    candidate = parse_moves(moves)
    if candidate is None:
        raise UsageError(f"{_CANDIDATE} {moves.strip()!r}: must be moves separated by spaces.")
    return State(board, position, candidate)

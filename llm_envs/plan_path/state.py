"""The state of a Plan-Path episode and its text form."""

import re
from typing import NamedTuple

from llm_envs.core.errors import UsageError, require
from llm_envs.plan_path.board import HIGHEST_COST, Board
from llm_envs.plan_path.grid_text import COSTS, parse_grid
from llm_envs.plan_path.moves import Move
from llm_envs.plan_path.replies import parse_moves

# What the grid itself can't show, one line each below it.
_DIAGONAL, _HERE, _CANDIDATE = "diagonal:", "here:", "candidate:"
_FIELDS = re.compile(rf"^[ \t]*({_DIAGONAL}|{_HERE}|{_CANDIDATE})", re.MULTILINE)


class State(NamedTuple):
    """Where the agent stands and what is known of its plans (a tuple, since one is made on every turn).

    Attributes:
        candidate: the move list that the latest program printed for this very position, if any.
        report: in words, what the latest program did; only its author sees it.
        last_moves, last_hits: the move list executed last, and how many of its moves were blocked.
        cost: what all moves of the episode cost so far.
        excess: how much of it no cheapest path would have cost.
    """

    board: Board
    position: int
    candidate: tuple[Move, ...] | None = None
    report: str = ""
    last_moves: tuple[Move, ...] = ()
    last_hits: int = 0
    cost: int = 0
    excess: int = 0

    @property
    def distance(self) -> int:
        """Cost of a cheapest path from here to the goal, on a plain board its number of moves."""
        return self.board.distances[self.position]

    @property
    def solved(self) -> bool:
        return self.position == self.board.goal


def render(state: State) -> str:
    """The grid, and lines for what it can't show: `diagonal: yes` where such moves are allowed, `here: 3` where the
    agent stands on a cell that costs more than 1, the candidate where there is one.
    """
    board, position, candidate = state.board, state.position, state.candidate
    text = board.text_at(position)
    if board.diagonal:
        text += f"\n{_DIAGONAL} yes"
    if board.costs[position] > 1:
        text += f"\n{_HERE} {board.costs[position]}"
    return text if candidate is None else f"{text}\n{_CANDIDATE} {' '.join(candidate)}"


def parse(text: str, *, diagonal: bool = False) -> State:
    """The inverse of `render` (reports, past moves and their costs are no part of the text).

    Args:
        text: the state.
        diagonal: allows diagonal moves where the text says nothing of them.

    Raises:
        UsageError: a text that is no state.
    """
    grid, *labelled = _FIELDS.split(text)
    fields = {label: value.strip() for label, value in zip(labelled[::2], labelled[1::2], strict=True)}
    allowed, here = fields.get(_DIAGONAL, "yes" if diagonal else "no"), fields.get(_HERE, "1")
    require(allowed in {"yes", "no"}, _DIAGONAL, allowed, "yes or no")
    require(here in COSTS, _HERE, here, f"what the cell costs on which the agent stands, 1 to {HIGHEST_COST}")
    board, position = parse_grid(grid, diagonal=allowed == "yes", here=COSTS[here])
    if _CANDIDATE not in fields:
        return State(board, position)
    candidate = parse_moves(fields[_CANDIDATE], diagonal=board.diagonal)
    if candidate is None:
        raise UsageError(f"{_CANDIDATE} {fields[_CANDIDATE]!r}: must be moves separated by spaces.")
    return State(board, position, candidate)

"""What the roles of a game of moves are told of the last turn, in the words of a full prompt."""

from collections.abc import Callable, Sequence
from typing import Protocol


class MovesPlayed(Protocol):
    """A state that remembers the last turn: the tool's list, its program's report, the moves made and blocked."""

    @property
    def candidate(self) -> Sequence[str] | None: ...
    @property
    def report(self) -> str: ...
    @property
    def last_moves(self) -> Sequence[str]: ...
    @property
    def last_hits(self) -> int: ...


def _tool(state: MovesPlayed) -> str:
    return state.report and f"\nThe last program {state.report}."


def _planner(state: MovesPlayed) -> str:
    if state.candidate is None:
        return f"\nThere is no list of the tool.{_alone(state)}"
    return f"\nThe tool's list: {' '.join(state.candidate)}.{_alone(state)}"


def _alone(state: MovesPlayed) -> str:
    if not state.last_moves:
        return ""
    blocked = f" ({state.last_hits} blocked)" if state.last_hits else ""
    return f"\nThe last moves: {' '.join(state.last_moves)}{blocked}."


def _solver(state: MovesPlayed) -> str:
    return _tool(state) + _alone(state)


# Name of a prompt -> what it tells; a planner without a tool is `alone`.
MOVE_NEWS: dict[str, Callable[[MovesPlayed], str]] = {
    "tool": _tool,
    "planner": _planner,
    "alone": _alone,
    "solver": _solver,
}

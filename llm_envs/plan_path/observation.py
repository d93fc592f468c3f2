"""What an agent of Plan-Path sees.

`full` is a prompt for a language model: rules, format, grid, news. Its rules are rendered once per role and size; a
turn only joins strings. `local` is one short line of fixed shape for tiny models.
"""

from collections.abc import Callable
from enum import StrEnum
from functools import lru_cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from llm_envs.plan_path.board import FREE, GOAL, HERE, START, WALL, targets
from llm_envs.plan_path.state import State


class View(StrEnum):
    """How much an observation says."""

    FULL = "full"
    LOCAL = "local"


@lru_cache(maxsize=128)
def rules(role: str, size: int, max_moves: int) -> str:
    """The part of a full observation that does not change during an episode."""
    # Prompts are text for a model: escaping them for HTML would spoil them.
    templates = Environment(  # noqa: S701
        loader=PackageLoader("llm_envs.plan_path", "prompts"), undefined=StrictUndefined
    )
    symbols = {"wall": WALL, "free": FREE, "start": START, "goal": GOAL, "here": HERE}
    return templates.get_template(f"{role}.jinja").render(size=size, max_moves=max_moves, **symbols).rstrip()


def observe_full(state: State, role: str, feedback: str, max_moves: int) -> str:
    """The prompt: rules and format, the grid as it is now, what the partner found, how the last reply went."""
    board, size = state.board, state.board.size
    grid = board.text_at(state.position)
    you, goal = divmod(state.position, size), divmod(board.goal, size)
    where = f"You stand at row {you[0]}, column {you[1]}; the goal is at row {goal[0]}, column {goal[1]}."
    parts = [f"{rules(role, size, max_moves)}\n\nThe grid now:\n{grid}\n\n{where}", _NEWS[role](state)]
    if feedback:
        parts.append(f"\nYour last reply was not valid and had no effect: {feedback}.")
    return "".join(parts)


def _tool_news(state: State) -> str:
    return state.report and f"\nThe last program {state.report}."


def _planner_news(state: State) -> str:
    if state.candidate is None:
        return f"\nThere is no list of the tool.{_executed(state)}"
    return f"\nThe tool's list: {' '.join(state.candidate)}.{_executed(state)}"


def _solver_news(state: State) -> str:
    return _tool_news(state) + _executed(state)


def _executed(state: State) -> str:
    if not state.last_moves:
        return ""
    blocked = f" ({state.last_hits} blocked)" if state.last_hits else ""
    return f"\nThe last moves: {' '.join(state.last_moves)}{blocked}."


_NEWS: dict[str, Callable[[State], str]] = {"tool": _tool_news, "planner": _planner_news, "solver": _solver_news}


def observe_local(state: State, role: str, feedback: str) -> str:
    """One line: role, own row and column, the way to the goal as the crow flies, which of up, down, left and right are
    blocked, the candidate.

    For example `planner at 3 4 goal up 2 right 1 blocked 0 1 0 0 tool up right`; `invalid` at the end says that the
    last reply was not.
    """
    board, position = state.board, state.position
    size, goal, blocked = board.size, board.goal, board.blocked
    up, down, left, right = targets(size)[position].values()
    row, column = divmod(position, size)
    goal_row, goal_column = divmod(goal, size)
    line = (
        f"{role} at {row} {column} "
        f"goal {_way(goal_row - row, 'up', 'down')} {_way(goal_column - column, 'left', 'right')} "
        f"blocked {up in blocked:d} {down in blocked:d} {left in blocked:d} {right in blocked:d}"
    )
    if role != "tool":
        line += " tool none" if state.candidate is None else f" tool {' '.join(state.candidate)}"
    return f"{line} invalid" if feedback else line


def _way(offset: int, back: str, forth: str) -> str:
    """How far to go and where, always two words: a fixed place for each is what a tiny model learns from."""
    return f"{back if offset < 0 else forth if offset else 'level'} {abs(offset)}"

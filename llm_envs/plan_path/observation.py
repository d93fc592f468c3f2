"""What an agent of Plan-Path sees.

`full` is a prompt for a language model: rules, format, grid, news. Its rules are rendered once per role and size; a
turn only joins strings. `local` is one short line of fixed shape for tiny models.
"""

from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from llm_envs.core.move_news import MOVE_NEWS
from llm_envs.core.prompts import prompt_template
from llm_envs.plan_path.board import FREE, GOAL, HERE, START, WALL
from llm_envs.plan_path.state import State


class View(StrEnum):
    """How much an observation says."""

    FULL = "full"
    LOCAL = "local"


class Rules(NamedTuple):
    """What the prompts of a game say beside the grid (a tuple, since each turn looks a prompt up by it)."""

    max_moves: int
    weights: int = 1
    diagonal: bool = False


@lru_cache(maxsize=128)
def rules(role: str, size: int, game: Rules) -> str:
    """The part of a full observation that does not change during an episode."""
    symbols = {"wall": WALL, "free": FREE, "start": START, "goal": GOAL, "here": HERE}
    template = prompt_template("llm_envs.plan_path", f"{role}.jinja")
    return template.render(size=size, game=game, **symbols).rstrip()


def observe_full(state: State, role: str, feedback: str, game: Rules) -> str:
    """The prompt: rules and format, the grid as it is now, what the partner found, how the last reply went.

    `role` is the name of the prompt: a planner without a tool has that of `alone`.
    """
    board, position = state.board, state.position
    size = board.size
    row, column = divmod(position, size)
    goal_row, goal_column = divmod(board.goal, size)
    paid = f" (cost {board.costs[position]})" if game.weights > 1 else ""
    text = (
        f"{rules(role, size, game)}\n\nThe grid now:\n{board.text_at(position)}\n\n"
        f"You stand at row {row}, column {column}{paid}; the goal is at row {goal_row}, column {goal_column}."
        f"{MOVE_NEWS[role](state)}"
    )
    return f"{text}\nYour last reply was not valid and had no effect: {feedback}." if feedback else text


def observe_local(state: State, role: str, feedback: str, *, weighted: bool = False) -> str:
    """One line: role, own row and column, the way to the goal as the crow flies, what each move meets, the candidate.

    For example `planner at 3 4 goal up 2 right 1 blocked 0 1 0 0 tool up right`: of up, down, left and right, then of
    the diagonal moves where there are any, 1 is blocked. With weights it is `costs 3 0 1 1` instead, 0 where a move is
    blocked. `invalid` at the end says that the last reply was not valid.
    """
    board, position = state.board, state.position
    size, goal, blocked = board.size, board.goal, board.blocked
    nearby = board.ways[position].values()
    row, column = divmod(position, size)
    goal_row, goal_column = divmod(goal, size)
    if weighted:
        met = "costs " + " ".join(["0" if cell in blocked else str(board.costs[cell]) for cell in nearby])
    else:
        met = "blocked " + " ".join(["1" if cell in blocked else "0" for cell in nearby])
    line = (
        f"{'planner' if role == 'alone' else role} at {row} {column} "
        f"goal {_way(goal_row - row, 'up', 'down')} {_way(goal_column - column, 'left', 'right')} {met}"
    )
    if role in {"planner", "solver"}:
        line += " tool none" if state.candidate is None else f" tool {' '.join(state.candidate)}"
    return f"{line} invalid" if feedback else line


def _way(offset: int, back: str, forth: str) -> str:
    """How far to go and where, always two words: a fixed place for each is what a tiny model learns from."""
    return f"{back if offset < 0 else forth if offset else 'level'} {abs(offset)}"

"""What an agent of Sokoban sees: rules, format of the reply, the room as it is now, and what happened last.

The part that does not change is rendered once per role and limit; a turn only joins strings.
"""

from collections.abc import Callable
from functools import lru_cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from llm_envs.sokoban.board import BOX, BOX_ON_GOAL, GOAL, PLAYER, PLAYER_ON_GOAL, WALL
from llm_envs.sokoban.state import State


@lru_cache(maxsize=128)
def rules(role: str, max_moves: int) -> str:
    """The part of an observation that is the same in every room."""
    # Prompts are text for a model: escaping them for HTML would spoil them.
    templates = Environment(  # noqa: S701
        loader=PackageLoader("llm_envs.sokoban", "prompts"), undefined=StrictUndefined
    )
    return (
        templates.get_template(f"{role}.jinja")
        .render(
            max_moves=max_moves,
            wall=WALL,
            player=PLAYER,
            player_on_goal=PLAYER_ON_GOAL,
            box=BOX,
            box_on_goal=BOX_ON_GOAL,
            goal=GOAL,
        )
        .rstrip()
    )


def observe(state: State, role: str, feedback: str, max_moves: int, *, alone: bool = False) -> str:
    """The prompt of a role; a planner may be `alone`, without a tool."""
    name = "alone" if alone else role
    text = f"{rules(name, max_moves)}\n\nThe room now:\n{state.board.text}{_NEWS[name](state)}"
    return f"{text}\nYour last reply was not valid and had no effect: {feedback}." if feedback else text


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


_NEWS: dict[str, Callable[[State], str]] = {
    "tool": _tool_news,
    "planner": _planner_news,
    "alone": _executed,
    "solver": _solver_news,
}

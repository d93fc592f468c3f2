"""What an agent of Sokoban sees: rules, format of the reply, the room as it is now, and what happened last.

The part that does not change is rendered once per role and limit; a turn only joins strings.
"""

from functools import lru_cache

from llm_envs.core.move_news import MOVE_NEWS
from llm_envs.core.prompts import prompt_template
from llm_envs.sokoban.board import BOX, BOX_ON_GOAL, GOAL, PLAYER, PLAYER_ON_GOAL, WALL
from llm_envs.sokoban.state import State


@lru_cache(maxsize=128)
def rules(role: str, max_moves: int) -> str:
    """The part of an observation that is the same in every room."""
    return (
        prompt_template("llm_envs.sokoban", f"{role}.jinja")
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
    text = f"{rules(name, max_moves)}\n\nThe room now:\n{state.board.text}{MOVE_NEWS[name](state)}"
    return f"{text}\nYour last reply was not valid and had no effect: {feedback}." if feedback else text

"""What an agent's reply says: a move list, or a program whose output is one."""

from llm_envs.core.move_lists import parse_list, read_list, read_list_or_program
from llm_envs.core.parsing import Unparsed, strip_thinking
from llm_envs.core.tool_use import Script, read_program
from llm_envs.sokoban.board import MOVES, Move

Moves = tuple[Move, ...]
# `up`, `down`, `left`, `right`, or their first letters
WORDS: dict[str, Move] = {move: move for move in MOVES} | {move[0]: move for move in MOVES}


def parse_moves(text: str) -> Moves | None:
    """The moves of a text that holds nothing but moves, or None."""
    return parse_list(text, WORDS)


def read_reply(role: str, text: str, limit: int) -> Moves | Script | Unparsed:
    """The action in a reply of the role `tool`, `planner` or `solver`."""
    text = strip_thinking(text)
    if role == "tool":
        return read_program(text)
    return read_list(text, WORDS, limit) if role == "planner" else read_list_or_program(text, WORDS, limit)

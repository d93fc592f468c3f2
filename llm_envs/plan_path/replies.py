"""What an agent's reply says: a move list, or a program whose output is one."""

from llm_envs.core.move_lists import parse_list, read_list, read_list_or_program
from llm_envs.core.parsing import Unparsed, strip_thinking
from llm_envs.core.tool_use import Script, read_program
from llm_envs.plan_path.moves import Move, moves_of

Moves = tuple[Move, ...]


def _words(*, diagonal: bool) -> dict[str, Move]:
    """Each move by its name and by the first letters of its parts: `up-left` and `ul`."""
    moves = moves_of(diagonal=diagonal)
    return {move: move for move in moves} | {"".join(part[0] for part in move.split("-")): move for move in moves}


_STRAIGHT_WORDS, _ALL_WORDS = _words(diagonal=False), _words(diagonal=True)


def words_of(*, diagonal: bool) -> dict[str, Move]:
    """Word -> move: `up`, `down`, `left`, `right`, and with `diagonal` `up-left`, `up-right`, `down-left`,
    `down-right`, or their first letters.
    """
    return _ALL_WORDS if diagonal else _STRAIGHT_WORDS


def parse_moves(text: str, diagonal: bool = False) -> Moves | None:
    """The moves of a text that holds nothing but moves, or None."""
    return parse_list(text, words_of(diagonal=diagonal))


def read_reply(role: str, text: str, limit: int, diagonal: bool = False) -> Moves | Script | Unparsed:
    """The action in a reply of the role `tool`, `planner` or `solver`."""
    text = strip_thinking(text)
    if role == "tool":
        return read_program(text, bare=True)
    words = words_of(diagonal=diagonal)
    return read_list(text, words, limit) if role == "planner" else read_list_or_program(text, words, limit, bare=True)

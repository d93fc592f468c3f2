"""What an agent's reply says: a move list, or a program whose output is one."""

import ast
import warnings
from dataclasses import dataclass
from functools import lru_cache

from llm_envs.core.parsing import Unparsed, last_answer, last_code_block, strip_thinking
from llm_envs.plan_path.moves import Move, moves_of

Moves = tuple[Move, ...]
LONGEST_BARE_PROGRAM = 1000  # characters; a longer program must stand in a fenced block


def _words(*, diagonal: bool) -> dict[str, Move]:
    """Each move by its name and by the first letters of its parts: `up-left` and `ul`."""
    moves = moves_of(diagonal=diagonal)
    return {move: move for move in moves} | {"".join(part[0] for part in move.split("-")): move for move in moves}


_STRAIGHT_WORDS, _ALL_WORDS = _words(diagonal=False), _words(diagonal=True)


@dataclass(frozen=True, slots=True)
class Script:
    """A Python program to run in the sandbox."""

    code: str


def parse_moves(text: str, diagonal: bool = False) -> Moves | None:
    """The moves of a text that holds nothing but moves, or None.

    Moves are `up`, `down`, `left`, `right`, and with `diagonal` `up-left`, `up-right`, `down-left`, `down-right`, or
    their first letters, in any case, separated by spaces, commas or line breaks.
    """
    known = _ALL_WORDS if diagonal else _STRAIGHT_WORDS
    words = text.replace(",", " ").split()
    if not words:
        return None
    try:
        return tuple([known[word] for word in words])
    except KeyError:
        pass
    try:
        return tuple([known[word.lower()] for word in words])
    except KeyError:
        return None


def read_moves(text: str, limit: int, diagonal: bool = False) -> Moves | Unparsed:
    """The move list in a reply: its last `<answer>` block, or the whole reply where that is nothing but moves."""
    answer = last_answer(text) if "<" in text else None
    moves = parse_moves(text if answer is None else answer, diagonal)
    if moves is None:
        where = "your reply" if answer is None else "your answer"
        return Unparsed(f"{where} is not a list of moves")
    if len(moves) > limit:
        return Unparsed(f"your list has {len(moves)} moves, at most {limit} are allowed")
    return moves


def read_program(text: str) -> Script | Unparsed:
    """The program in a reply: its last fenced Python block, else its last fenced block, else the bare reply."""
    code = last_code_block(text)
    if code is None and is_bare_program(text):
        code = text
    if code is None or not code.strip():
        return Unparsed("your reply holds no Python program")
    return Script(code)


def read_either(text: str, limit: int, diagonal: bool = False) -> Moves | Script | Unparsed:
    """A single agent's reply: an `<answer>` or a bare move list is executed, a program without an answer is run."""
    moves = read_moves(text, limit, diagonal)
    if not isinstance(moves, Unparsed) or last_answer(text) is not None:
        return moves
    program = read_program(text)
    if isinstance(program, Unparsed) and parse_moves(text, diagonal) is None:
        return Unparsed("your reply holds neither moves nor a Python program")
    return moves if isinstance(program, Unparsed) else program


@lru_cache(maxsize=4096)  # small models repeat a few programs; the parser costs more than all the rest of a turn
def is_bare_program(text: str) -> bool:
    """Whether a reply without a fence is a short Python program; prose that happens to parse calls nothing."""
    if len(text) > LONGEST_BARE_PROGRAM or "(" not in text:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's remarks on the style of noise concern nobody
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # all four are how Python refuses a source text
        return False
    return True


def read_reply(role: str, text: str, limit: int, diagonal: bool = False) -> Moves | Script | Unparsed:
    """The action in a reply of the role `tool`, `planner` or `solver`."""
    text = strip_thinking(text)
    if role == "planner":
        return read_moves(text, limit, diagonal)
    return read_program(text) if role == "tool" else read_either(text, limit, diagonal)

"""What an agent's reply says: a move list, or a program whose output is one."""

from dataclasses import dataclass

from llm_envs.core.parsing import Unparsed, last_answer, last_code_block, strip_thinking
from llm_envs.sokoban.board import MOVES, Move

Moves = tuple[Move, ...]
_WORDS: dict[str, Move] = {move: move for move in MOVES} | {move[0]: move for move in MOVES}


@dataclass(frozen=True, slots=True)
class Script:
    """A Python program to run in the sandbox."""

    code: str


def parse_moves(text: str) -> Moves | None:
    """The moves of a text that holds nothing but moves, or None.

    Moves are `up`, `down`, `left`, `right`, or their first letters, in any case, separated by spaces, commas or line
    breaks.
    """
    words = text.replace(",", " ").split()
    if not words:
        return None
    try:
        return tuple([_WORDS[word] for word in words])
    except KeyError:
        pass
    try:
        return tuple([_WORDS[word.lower()] for word in words])
    except KeyError:
        return None


def read_moves(text: str, limit: int) -> Moves | Unparsed:
    """The move list in a reply: its last `<answer>` block, or the whole reply where that is nothing but moves."""
    answer = last_answer(text) if "<" in text else None
    moves = parse_moves(text if answer is None else answer)
    if moves is None:
        return Unparsed(f"{'your reply' if answer is None else 'your answer'} is not a list of moves")
    if len(moves) > limit:
        return Unparsed(f"your list has {len(moves)} moves, at most {limit} are allowed")
    return moves


def read_program(text: str) -> Script | Unparsed:
    """The program in a reply: its last fenced Python block, else its last fenced block."""
    code = last_code_block(text)
    if code is None or not code.strip():
        return Unparsed("your reply holds no fenced block with a Python program")
    return Script(code)


def read_either(text: str, limit: int) -> Moves | Script | Unparsed:
    """A single agent's reply: an `<answer>` or a bare move list is executed, a program without an answer is run."""
    moves = read_moves(text, limit)
    if not isinstance(moves, Unparsed) or last_answer(text) is not None or parse_moves(text) is not None:
        return moves
    program = read_program(text)
    return Unparsed("your reply holds neither moves nor a program") if isinstance(program, Unparsed) else program


def read_reply(role: str, text: str, limit: int) -> Moves | Script | Unparsed:
    """The action in a reply of the role `tool`, `planner` or `solver`."""
    text = strip_thinking(text)
    if role == "planner":
        return read_moves(text, limit)
    return read_program(text) if role == "tool" else read_either(text, limit)

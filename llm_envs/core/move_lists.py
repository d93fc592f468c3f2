"""Lists of moves in replies and in what programs print."""

from collections.abc import Mapping
from typing import TypeVar

from llm_envs.core.parsing import Unparsed, last_answer
from llm_envs.core.task import Result
from llm_envs.core.tool_use import Script, failure, output, read_program

MoveT = TypeVar("MoveT", bound=str)


def parse_list(text: str, words: Mapping[str, MoveT]) -> tuple[MoveT, ...] | None:
    """The moves of a text that holds nothing but `words`, in any case, separated by spaces, commas or line breaks;
    else None.
    """
    found = text.replace(",", " ").split()
    if not found:
        return None
    try:
        return tuple([words[word] for word in found])
    except KeyError:
        pass
    try:
        return tuple([words[word.lower()] for word in found])
    except KeyError:
        return None


def read_list(text: str, words: Mapping[str, MoveT], limit: int) -> tuple[MoveT, ...] | Unparsed:
    """The list in a reply: its last `<answer>` block, or the whole reply where that is nothing but moves."""
    answer = last_answer(text) if "<" in text else None
    moves = parse_list(text if answer is None else answer, words)
    if moves is None:
        return Unparsed(f"{'your reply' if answer is None else 'your answer'} is not a list of moves")
    if len(moves) > limit:
        return Unparsed(f"your list has {len(moves)} moves, at most {limit} are allowed")
    return moves


def read_list_or_program(
    text: str, words: Mapping[str, MoveT], limit: int, *, bare: bool = False
) -> tuple[MoveT, ...] | Script | Unparsed:
    """A single agent's reply: an `<answer>` or a bare list is executed, a program without an answer is run."""
    moves = read_list(text, words, limit)
    if not isinstance(moves, Unparsed) or last_answer(text) is not None or parse_list(text, words) is not None:
        return moves
    program = read_program(text, bare=bare)
    return Unparsed("your reply holds neither moves nor a program") if isinstance(program, Unparsed) else program


def list_report(result: Result, words: Mapping[str, MoveT], limit: int) -> str:
    """What a program that should print a list did, in words for its author."""
    if failed := failure(result):
        return failed
    moves = parse_list(result.stdout, words)
    if moves is None:
        return f"printed no list of moves but {output(result)}"
    many = f", which are more than the {limit} allowed" if len(moves) > limit else ""
    return f"printed {' '.join(moves[:limit])}{many}"

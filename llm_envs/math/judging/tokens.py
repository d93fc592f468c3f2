"""Tokens of a normal form, and where its brackets are."""

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from llm_envs.math.judging.errors import UnreadError
from llm_envs.math.judging.values import Value

Tokens: TypeAlias = Sequence[str]
Read: TypeAlias = Callable[[Tokens], Value]  # the reader of a part inside another

DEEPEST = 40
OPENING = frozenset({"(", "[", "{", r"\{", r"\langle", r"\begin", r"\lfloor", r"\lceil"})
CLOSING = frozenset({")", "]", "}", r"\}", r"\rangle", r"\end", r"\rfloor", r"\rceil"})
_TOKEN = re.compile(
    r"\\text\{[^{}]*\}|\\[a-zA-Z]+|\\.|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+|[a-zA-Z]+|<=|>=|!=|==| |.", re.DOTALL
)
_SAME = {"<=": r"\le", ">=": r"\ge", "!=": r"\ne", "==": "="}


def tokenized(text: str) -> list[str]:
    """The tokens, blanks among them. Raises UnreadError where brackets do not close or nest too deep."""
    tokens = [_SAME.get(token, token) for token in _TOKEN.findall(text)]
    depth = 0
    for token in tokens:
        depth += (token in OPENING) - (token in CLOSING)
        if not 0 <= depth <= DEEPEST:
            raise UnreadError("brackets nest too deep" if depth > 0 else "a bracket closes that was not opened")
    if depth:
        raise UnreadError("a bracket does not close")
    return tokens


def stripped(tokens: Tokens) -> Tokens:
    """Without blanks at both ends."""
    begin, end = 0, len(tokens)
    while begin < end and tokens[begin] == " ":
        begin += 1
    while end > begin and tokens[end - 1] == " ":
        end -= 1
    return tokens[begin:end]


def positions(tokens: Tokens, wanted: Callable[[str], bool]) -> list[int]:
    """Where tokens of a kind stand outside all brackets."""
    found, depth = [], 0
    for index, token in enumerate(tokens):
        if token in OPENING:
            depth += 1
        elif token in CLOSING:
            depth -= 1
        elif not depth and wanted(token):
            found.append(index)
    return found


def split(tokens: Tokens, wanted: Callable[[str], bool]) -> list[Tokens]:
    """The parts between tokens of a kind that stand outside all brackets."""
    parts, begin = [], 0
    for index in positions(tokens, wanted):
        parts.append(stripped(tokens[begin:index]))
        begin = index + 1
    return [*parts, stripped(tokens[begin:])]


def partner(tokens: Tokens, begin: int) -> int:
    """Where the bracket that opens at `begin` closes."""
    depth = 0
    for index in range(begin, len(tokens)):
        depth += (tokens[index] in OPENING) - (tokens[index] in CLOSING)
        if not depth:
            return index
    raise UnreadError("a bracket does not close")

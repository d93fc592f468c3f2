"""Which inputs are the same one, however they are written, and which are none of a problem.

A tester that copies an example and adds a line that nobody reads, or writes 7 as 07, has not thought of another case.
"""

import json
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, TypeAlias

from llm_envs.code.families.values import Kind, read_json, read_stdin
from llm_envs.code.judging.numbers import read_number
from llm_envs.code.problem import Case, Problem

Essence: TypeAlias = tuple[Any, ...]
_WHOLE = re.compile(r"[+-]?\d{1,4000}", re.ASCII)


def are_new(problem: Problem, cases: Sequence[Case]) -> tuple[bool, ...]:
    """For each case whether its input is one of the problem's, and that of no visible test and no case before it."""
    seen = [essence(problem, case) for case in problem.visible]
    news = []
    for case in cases:
        found = essence(problem, case)
        news.append(found is not None and not any(_is_copy(problem, found, other) for other in seen))
        seen.append(found)
    return tuple(news)


def essence(problem: Problem, case: Case) -> Essence | None:
    """What a program can make of an input; None where the input has not the form that the problem says.

    Where the form is known, the arguments; else the values of a function's arguments, or the words of each line, with
    numbers by their value.
    """
    function = problem.entry_point is not None
    if problem.form:
        kinds = tuple(map(Kind, problem.form))
        arguments = read_json(kinds, case.stdin) if function else read_stdin(kinds, case.stdin)
        return None if arguments is None else tuple(map(_frozen, arguments))
    if function:
        try:
            return tuple(_frozen(json.loads(line)) for line in filter(None, case.stdin.split("\n")))
        except (ValueError, RecursionError):  # no JSON, or too deep to be read: the reference refuses it as well
            pass
    lines = (tuple(map(_number_or_word, line.split())) for line in case.stdin.split("\n"))
    return tuple(line for line in lines if line)


def _is_copy(problem: Problem, found: Essence, other: Essence | None) -> bool:
    """Whether it is the other one; where the form is not known, also with further lines, which nobody may read."""
    if other is None:
        return False
    if problem.form or problem.entry_point is not None:
        return found == other
    return bool(other) and found[: len(other)] == other


def _frozen(value: Any) -> Any:
    """Lists as tuples, objects as pairs, whole floats and truth values as the numbers that they equal."""
    if isinstance(value, (list, tuple)):
        return tuple(map(_frozen, value))
    if isinstance(value, dict):
        return tuple(sorted((key, _frozen(item)) for key, item in value.items()))
    if isinstance(value, str):
        return " ".join(value.split())
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _number_or_word(word: str) -> Any:
    if _WHOLE.fullmatch(word):
        return int(word)
    number = read_number(word) if len(word) <= 40 else None
    return word if number is None or not number.value.is_finite() else _plain(number.value)


def _plain(value: Decimal) -> Any:
    return int(value) if abs(value) < 10**30 and value == value.to_integral_value() else value

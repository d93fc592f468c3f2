"""Tests as data sets write them, as cases."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from llm_envs.code.problem import Case
from llm_envs.data.errors import RowError
from llm_envs.data.fields import shown, to_json


class Tests(NamedTuple):
    """The tests of a problem."""

    visible: tuple[Case, ...]
    hidden: tuple[Case, ...]


def program_cases(inputs: Sequence[Any], outputs: Sequence[Any]) -> tuple[Case, ...]:
    """Tests of a program, each a text or a list of lines."""
    return tuple(Case(_lines(given), _lines(expected)) for given, expected in _pairs(inputs, outputs))


def call_cases(inputs: Sequence[Any], outputs: Sequence[Any]) -> tuple[Case, ...]:
    """Tests of a function, each the list of its arguments and its result."""
    cases = []
    for arguments, result in _pairs(inputs, outputs):
        if not isinstance(arguments, list):
            raise RowError(f"the input of a test is {shown(arguments)}, not a list of arguments")
        cases.append(Case(arguments_text(arguments), to_json(result, "the output of a test")))
    return tuple(cases)


def arguments_text(arguments: Sequence[Any]) -> str:
    """The input of a test of a function: each argument as JSON on a line."""
    return "".join(f"{to_json(argument, 'an argument')}\n" for argument in arguments)


def first_shown(cases: Sequence[Case]) -> Tests:
    """The tests of a data set that does not say which may be seen: the first, unless it is the only one."""
    seen = 1 if len(cases) > 1 else 0
    return Tests(tuple(cases[:seen]), tuple(cases[seen:]))


def _pairs(inputs: Sequence[Any], outputs: Sequence[Any]) -> list[tuple[Any, Any]]:
    if len(inputs) != len(outputs):
        raise RowError(f"{len(inputs)} inputs and {len(outputs)} outputs of tests")
    if not inputs:
        raise RowError("no tests: an empty list is passed by every program")
    return list(zip(inputs, outputs, strict=True))


def _lines(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "\n".join(value)
    if not isinstance(value, str):
        raise RowError(f"the input or output of a test is {shown(value)}, neither text nor a list of lines")
    return value

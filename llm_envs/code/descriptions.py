"""A problem as plain values: what `reset(options={"task": ...})` takes, and a line of a file may hold."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from llm_envs.code.problem import Case, Comparison, Problem
from llm_envs.core.errors import UsageError, require, unknown_choice

_FIELDS = {field.name: field for field in fields(Problem)}
_CASE_LISTS = frozenset(field.name for field in fields(Problem) if "Case" in str(field.type))
_CASE = '{"stdin": text, "expected": text}'


def problem_of(description: Any, argument: str = "options['task']") -> Problem:
    """The problem that a mapping of the fields of `Problem` describes; the name may be left out.

    Tests are given as a list of `{"stdin": ..., "expected": ...}`. A `Problem` is taken as it is.

    Raises:
        UsageError: a field that does not exist, is missing or holds another kind of value, or a problem that can't be
            judged; the message begins with `argument`.
    """
    if isinstance(description, Problem):
        return description
    require(isinstance(description, Mapping), argument, description, "a mapping with the fields of a Problem")
    for name in description:
        if name not in _FIELDS:
            raise unknown_choice(argument, name, _FIELDS)
    for name in ("statement", "hidden"):
        if name not in description:
            raise UsageError(f"{argument}: {name!r} is missing; a problem is a statement and hidden tests, at least.")
    given = {"name": "given", "visible": (), **description}
    return Problem(**{name: _value(f"{argument}[{name!r}]", name, value) for name, value in given.items()})


def _value(argument: str, name: str, value: Any) -> Any:
    if name in _CASE_LISTS:
        require(_is_list(value), argument, value, f"a list of {_CASE}")
        return tuple(_case(f"{argument}[{place}]", case) for place, case in enumerate(value))
    if name in {"mutants", "form"}:
        right = _is_list(value) and all(isinstance(item, str) for item in value)
        require(right, argument, value, "a list of programs" if name == "mutants" else "a list of kinds of arguments")
        return tuple(value)
    if name == "comparison":
        if value not in set(Comparison):
            raise unknown_choice(argument, value, Comparison)
        return Comparison(value)
    if name in {"tolerance", "cpu_s", "memory_mb"}:
        whole = name == "memory_mb"
        numeric = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
        require(numeric, argument, value, "a whole number" if whole else "a number")
        return value
    require(isinstance(value, str) or (name == "entry_point" and value is None), argument, value, "text")
    return value


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _case(argument: str, value: Any) -> Case:
    if isinstance(value, Case):
        return value
    right = isinstance(value, Mapping) and value.keys() == {"stdin", "expected"}
    require(right and all(isinstance(text, str) for text in value.values()), argument, value, _CASE)
    return Case(**value)

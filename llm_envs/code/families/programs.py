"""A family's reference and its mutants: as functions that run here, and as programs for the sandbox.

They are source of this package, trusted like the rest of it; programs that a model wrote never run here.
"""

import inspect
import textwrap
from collections.abc import Callable
from enum import StrEnum
from functools import cache
from typing import Any

from llm_envs.code.families.base import Family
from llm_envs.code.families.values import driver, signature

ENTRY_POINT = "solution"  # which gives the parameters to the family's own function; none has this name


class Style(StrEnum):
    """What a problem asks for: a program from standard input to standard output, or a function."""

    STDIO = "stdio"
    FUNCTION = "function"


@cache
def source(family: Family) -> str:
    """The definition of the family's own function."""
    return textwrap.dedent(inspect.getsource(family.solve))


@cache
def mutated(family: Family) -> tuple[str, ...]:
    """The same with the mistake of each mutant."""
    return tuple(source(family).replace(mutant.old, mutant.new) for mutant in family.mutants)


@cache
def mutant_functions(family: Family) -> tuple[Callable[..., Any], ...]:
    """The mutants, compiled."""
    return tuple(_function(text, family.solve.__name__) for text in mutated(family))


def _function(text: str, name: str) -> Callable[..., Any]:
    names: dict[str, Any] = {}
    exec(text, names)  # noqa: S102 - source of this package, with one of its own changes
    function: Callable[..., Any] = names[name]
    return function


def program(family: Family, text: str, parameters: dict[str, Any], style: Style) -> str:
    """A whole program of a definition: it reads and prints, or it defines `ENTRY_POINT`."""
    name = family.solve.__name__
    bound = ", ".join(f"{key}={value!r}" for key, value in parameters.items())
    if style == Style.STDIO:
        return f"{text}\n\n{driver(name, family.arguments, family.result, bound)}\n"
    given = ", ".join([*(argument.name for argument in family.arguments), *filter(None, [bound])])
    return f"{text}\n\n{definition(family)}\n    return {name}({given})\n"


def definition(family: Family) -> str:
    """The `def` line of the function that a problem asks for."""
    return f"def {signature(ENTRY_POINT, family.arguments, family.result)}:"

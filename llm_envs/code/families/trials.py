"""Inputs that tests are chosen from, and which mutants fail on them."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_
from typing import Any

from llm_envs.code.families.base import Family
from llm_envs.code.families.programs import mutant_functions
from llm_envs.code.families.values import to_stdin, to_text
from llm_envs.code.judging.texts import same_text
from llm_envs.code.problem import Comparison

POOL, LARGEST_POOL = 20, 80  # inputs drawn; more than the first while these do not tell all mutants apart
OTHERS = 6  # inputs of a pool, at least, whose result is not the most frequent one
TOKENS = Comparison.TOKENS


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """An input, and who fails on it.

    Attributes:
        arguments: of the family's function.
        stdin: the same as text; inputs with the same text are one.
        result: the right one.
        output: the right result as text.
        failed: a bit for each mutant that gives another result, or none.
    """

    arguments: tuple[Any, ...]
    stdin: str
    result: Any
    output: str
    failed: int


def draw_trials(family: Family, level: int, parameters: dict[str, Any], rng: random.Random) -> list[Trial]:
    """Different inputs, so many that every mutant fails on some and passes some; none where that takes too many.

    Inputs on which it depends on the style of the problem whether a mutant fails are left out: 3.0 is 3 as a value,
    but not as a text.
    """
    pool: dict[str, Trial] = {}
    for drawn in range(1, LARGEST_POOL + 1):
        trial = try_arguments(family, parameters, family.draw(rng, level, parameters))
        if trial is not None:
            pool[trial.stdin] = trial
        if drawn >= POOL and len(pool) >= POOL and _rich([*pool.values()], len(family.mutants)):
            return [*pool.values()]
    return []


def _rich(pool: list[Trial], mutants: int) -> bool:
    failed = [trial.failed for trial in pool]
    most = max(Counter(trial.output for trial in pool).values())
    return reduce(or_, failed) == (1 << mutants) - 1 and not reduce(and_, failed) and len(pool) - most >= OTHERS


def try_arguments(family: Family, parameters: dict[str, Any], arguments: tuple[Any, ...]) -> Trial | None:
    """The input as a trial, or None where it depends on the style of the problem whether a mutant fails."""
    result = family.solve(*_copies(arguments), **parameters)
    output = to_text(family.result, result)
    failed = 0
    for place, mutant in enumerate(mutant_functions(family)):
        got = _run(mutant, arguments, parameters)
        same = bool(got == result)
        if same != (type(got) is type(result) and same_text(output, to_text(family.result, got), TOKENS, 0.0)):
            return None
        failed |= (not same) << place
    kinds = tuple(argument.kind for argument in family.arguments)
    return Trial(arguments, to_stdin(kinds, arguments), result, output, failed)


def _run(mutant: Callable[..., Any], arguments: tuple[Any, ...], parameters: dict[str, Any]) -> Any:
    """What a wrong program gives; the error where it fails, which equals no result."""
    try:
        return mutant(*_copies(arguments), **parameters)
    except Exception as error:  # noqa: BLE001 - a wrong program may fail in any way
        return error


def _copies(arguments: tuple[Any, ...]) -> list[Any]:
    """The arguments, such that changes to their lists and rows stay in them."""
    return [_copy(value) for value in arguments]


def _copy(value: Any) -> Any:
    return [_copy(item) for item in value] if isinstance(value, list) else value

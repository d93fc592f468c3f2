"""Generated problems as a function of (families, level, style, split, index)."""

import json
import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_
from typing import Any, NamedTuple

from llm_envs.code.families.base import Family
from llm_envs.code.families.programs import (
    ENTRY_POINT,
    Style,
    definition,
    mutant_functions,
    mutated,
    program,
    source,
)
from llm_envs.code.families.table import FAMILIES
from llm_envs.code.families.values import describe, to_json, to_stdin, to_text
from llm_envs.code.problem import Case, Comparison, Problem
from llm_envs.core.draws import pick, shuffled
from llm_envs.core.instances import split_of_content
from llm_envs.core.task import Split

VISIBLE, HIDDEN = 3, 10
MOST_ALIKE = 6  # hidden tests with the same result, so that a program that always prints it earns little
POOL, LARGEST_POOL = 20, 80  # inputs that tests are chosen from; more are drawn while these do not tell mutants apart
CHOICES = 200  # of tests from one pool; of eight choices one belongs to each of the smaller splits
POOLS = 20
TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class _Trial:
    """An input, and who fails on it.

    Attributes:
        arguments: of `solve`.
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


class _Tests(NamedTuple):
    visible: list[_Trial]
    hidden: list[_Trial]


def generate(families: tuple[str, ...], level: int, style: Style, split: Split, index: int) -> Problem:
    """Problem `index` of a split, of one of the families, in either style with the same tests.

    Its family, parameters and inputs decide the split. Every mutant passes a visible test and fails a hidden one, and
    the visible tests leave some mutant alive.

    Raises:
        RuntimeError: the family draws no such tests; a family for which that happens is at fault.
    """
    rng = random.Random(f"code-v0:{','.join(families)}:{level}:{split}:{index}")
    family = FAMILIES[pick(rng, families)]
    for _ in range(POOLS):
        parameters = family.parameters(rng, level)
        pool = _draw_pool(family, level, parameters, rng)
        for _ in range(CHOICES):
            tests = _choose(pool, len(family.mutants), rng)
            if tests is not None and _split_of(family, parameters, tests) == split:
                return _problem(family, style, parameters, tests)
    raise RuntimeError(
        f"family {family.name!r} at level {level}: {POOLS} pools of inputs hold no tests of split {split} that every "
        f"mutant passes and fails as it should; its `draw` must reach the mistakes of its mutants more often."
    )


def _split_of(family: Family, parameters: dict[str, Any], tests: _Tests) -> Split:
    inputs = sorted(trial.stdin for trial in [*tests.visible, *tests.hidden])
    return split_of_content(json.dumps([family.name, parameters, inputs], sort_keys=True).encode())


def _problem(family: Family, style: Style, parameters: dict[str, Any], tests: _Tests) -> Problem:
    asks_function = style == Style.FUNCTION
    form = describe(family.arguments, family.result, function=ENTRY_POINT if asks_function else None)

    def case(trial: _Trial) -> Case:
        if asks_function:
            return Case(to_json(trial.arguments), json.dumps(trial.result, ensure_ascii=False))
        return Case(trial.stdin, trial.output)

    return Problem(
        name=family.name,
        statement=f"{family.statement(parameters)}\n\n{form}",
        visible=tuple(map(case, tests.visible)),
        hidden=tuple(map(case, tests.hidden)),
        reference=program(family, source(family), parameters, style),
        mutants=tuple(program(family, text, parameters, style) for text in mutated(family)),
        entry_point=ENTRY_POINT if asks_function else None,
        signature=definition(family) if asks_function else "",
        comparison=family.comparison,
        tolerance=TOLERANCE,
    )


def _draw_pool(family: Family, level: int, parameters: dict[str, Any], rng: random.Random) -> list[_Trial]:
    """Different inputs, as many as it takes for tests to be chosen from them."""
    pool: dict[str, _Trial] = {}
    for drawn in range(1, LARGEST_POOL + 1):
        trial = _try(family, parameters, family.draw(rng, level, parameters))
        if trial is not None:
            pool[trial.stdin] = trial
        if drawn >= POOL and len(pool) >= POOL and _rich(list(pool.values()), len(family.mutants)):
            break
    return list(pool.values())


def _rich(pool: Sequence[_Trial], mutants: int) -> bool:
    """Whether every mutant fails on some and passes some, and enough results differ from the most frequent one."""
    failed = [trial.failed for trial in pool]
    most = max(Counter(trial.output for trial in pool).values())
    others = len(failed) - most
    return reduce(or_, failed) == (1 << mutants) - 1 and not reduce(and_, failed) and others > HIDDEN - MOST_ALIKE


def _try(family: Family, parameters: dict[str, Any], arguments: tuple[Any, ...]) -> _Trial | None:
    """The input, or None where it depends on the style of the problem whether a mutant fails: 3.0 is 3 as a value, but
    not as a text.
    """
    result = family.solve(*_copies(arguments), **parameters)
    output = to_text(family.result, result)
    failed = 0
    for place, mutant in enumerate(mutant_functions(family)):
        got = _run(mutant, arguments, parameters)
        same = _same_value(family, got, result)
        if same != (type(got) is type(result) and _same_text(family, got, output)):
            return None
        failed |= (not same) << place
    kinds = tuple(argument.kind for argument in family.arguments)
    return _Trial(arguments, to_stdin(kinds, arguments), result, output, failed)


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


def _same_value(family: Family, got: Any, result: Any) -> bool:
    if family.comparison is Comparison.FLOATS:
        return isinstance(got, int | float) and math.isclose(got, result, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return bool(got == result)


def _same_text(family: Family, got: Any, output: str) -> bool:
    if family.comparison is Comparison.FLOATS:
        return _same_value(family, got, float(output))
    return to_text(family.result, got).split() == output.split()


def _choose(pool: Sequence[_Trial], mutants: int, rng: random.Random) -> _Tests | None:
    """One choice of tests, or None where it is not as `generate` promises."""
    order = shuffled(rng, pool)
    visible = order[:VISIBLE]
    everyone = (1 << mutants) - 1
    failed = [trial.failed for trial in visible]
    if reduce(and_, failed, everyone) or reduce(or_, failed, 0) == everyone:
        return None
    hidden = _hidden(order[VISIBLE:], everyone)
    return None if hidden is None else _Tests(visible, hidden)


def _hidden(rest: list[_Trial], everyone: int) -> list[_Trial] | None:
    """The first tests that find all mutants out, then others, none of their results too often."""
    killers, others, found = [], [], 0
    for trial in rest:
        news = trial.failed & ~found
        (killers if news else others).append(trial)
        found |= news
    if found != everyone:
        return None
    chosen: list[_Trial] = []
    alike: Counter[str] = Counter()
    for trial in [*killers, *others]:
        if alike[trial.output] < MOST_ALIKE:
            alike[trial.output] += 1
            chosen.append(trial)
    if len(chosen) < HIDDEN or reduce(or_, (trial.failed for trial in chosen[:HIDDEN])) != everyone:
        return None
    return chosen[:HIDDEN]

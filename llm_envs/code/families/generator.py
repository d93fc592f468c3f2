"""Generated problems as a function of (families, level, style, split, index)."""

import json
import random
from collections import Counter
from collections.abc import Sequence
from functools import reduce
from operator import and_, or_
from typing import Any, NamedTuple

from llm_envs.code.families.base import Family
from llm_envs.code.families.programs import ENTRY_POINT, Style, definition, mutated, program, source
from llm_envs.code.families.spares import spare_trials
from llm_envs.code.families.table import FAMILIES
from llm_envs.code.families.trials import Trial, draw_trials
from llm_envs.code.families.values import describe, to_json
from llm_envs.code.problem import Case, Problem
from llm_envs.core.draws import pick, shuffled, whole
from llm_envs.core.instances import split_of_content
from llm_envs.core.task import Split

VISIBLE, HIDDEN = 3, 10
MOST_ALIKE = 6  # hidden tests with the same result, so that a program that always prints it earns little
POOLS = 40  # of inputs, each with parameters of its own
CHOICES = 200  # of tests from one pool; of eight choices one belongs to each of the smaller splits


class _Tests(NamedTuple):
    visible: list[Trial]
    hidden: list[Trial]


def generate(families: tuple[str, ...], level: int, style: Style, split: Split, index: int) -> Problem:
    """Problem `index` of a split, of one of the families, in either style with the same tests.

    Its family, parameters and inputs decide the split. Every mutant passes a visible test and fails a hidden one, and
    some mutant passes all visible tests.

    Raises:
        RuntimeError: the family draws no such tests; a family for which that happens is at fault.
    """
    rng = random.Random(f"code-v0:{','.join(families)}:{level}:{split}:{index}")
    family = FAMILIES[pick(rng, families)]
    for _ in range(POOLS):
        parameters = family.parameters(rng, level)
        pool = draw_trials(family, level, parameters, rng)
        for _ in range(CHOICES if pool else 0):
            tests = _choose(pool, len(family.mutants), rng)
            if tests is not None and _split_of(family, parameters, tests) == split:
                taken = [*tests.visible, *tests.hidden]
                left = [trial for trial in pool if trial not in taken]
                spare = spare_trials(family, level, parameters, rng, left=left, taken=taken)
                return _problem(family, style, parameters, tests, spare)
    raise RuntimeError(
        f"family {family.name!r} at level {level}: {POOLS} pools of inputs hold no tests of split {split} that every "
        f"mutant passes and fails as it should; its `draw` must reach the mistakes of its mutants more often."
    )


def _split_of(family: Family, parameters: dict[str, Any], tests: _Tests) -> Split:
    inputs = sorted(trial.stdin for trial in [*tests.visible, *tests.hidden])
    return split_of_content(json.dumps([family.name, parameters, inputs], sort_keys=True).encode())


def _problem(
    family: Family, style: Style, parameters: dict[str, Any], tests: _Tests, spare: Sequence[Trial]
) -> Problem:
    asks_function = style == Style.FUNCTION
    form = describe(family.arguments, family.result, function=ENTRY_POINT if asks_function else None)

    def case(trial: Trial) -> Case:
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
        spare=tuple(map(case, spare)),
        form=tuple(str(argument.kind) for argument in family.arguments),
    )


def _choose(pool: Sequence[Trial], mutants: int, rng: random.Random) -> _Tests | None:
    """One choice of tests, or None where it is not as `generate` promises.

    A mutant drawn at random passes all visible tests; the last of them is one that those pass who failed the others.
    """
    alive, everyone = 1 << whole(rng, 0, mutants - 1), (1 << mutants) - 1
    order = shuffled(rng, pool)
    visible = [trial for trial in order if not trial.failed & alive]
    stuck = reduce(and_, (trial.failed for trial in visible[: VISIBLE - 1]), everyone)
    visible[VISIBLE - 1 :] = [trial for trial in visible[VISIBLE - 1 :] if not trial.failed & stuck][:1]
    if len(visible) < VISIBLE or len({trial.output for trial in visible}) == 1:
        return None
    hidden = _hidden([trial for trial in order if trial not in visible], everyone)
    return None if hidden is None else _Tests(visible, hidden)


def _hidden(rest: list[Trial], everyone: int) -> list[Trial] | None:
    """The first tests that find all mutants out, then others, none of their results too often."""
    killers: list[Trial] = []
    others: list[Trial] = []
    found = 0
    for trial in rest:
        news = trial.failed & ~found
        (killers if news else others).append(trial)
        found |= news
    alike: Counter[str] = Counter()
    chosen: list[Trial] = []
    for trial in [*killers, *others]:
        alike[trial.output] += 1
        if alike[trial.output] <= MOST_ALIKE and len(chosen) < HIDDEN:
            chosen.append(trial)
    complete = len(chosen) == HIDDEN and reduce(or_, (trial.failed for trial in chosen)) == everyone
    return chosen if complete else None

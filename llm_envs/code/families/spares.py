"""Tests for reference testers: neither shown nor hidden, and few enough for one reply."""

import random
from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import Any

from llm_envs.code.families.base import Family
from llm_envs.code.families.trials import Trial, try_arguments

DRAWS = 40  # inputs to choose from, beside those that a pool has left
MOST_DRAWS = 600  # while these do not find every mutant out


def spare_trials(
    family: Family,
    level: int,
    parameters: dict[str, Any],
    rng: random.Random,
    *,
    left: Iterable[Trial],
    taken: Iterable[Trial],
) -> list[Trial]:
    """Few trials that find every mutant out, none of them with the input of a test.

    Args:
        family, level, parameters, rng: as for the tests.
        left: trials that are no tests.
        taken: those that are.

    Returns:
        The one that finds most mutants out, then always the one that finds most of the others. A mutant that very few
        inputs find out may be missing.
    """
    tests = {trial.stdin for trial in taken}
    found = {trial.stdin: trial for trial in left}
    everyone = (1 << len(family.mutants)) - 1
    seen = reduce(or_, (trial.failed for trial in found.values()), 0)
    for drawn in range(MOST_DRAWS):
        if drawn >= DRAWS and seen == everyone:
            break
        trial = try_arguments(family, parameters, family.draw(rng, level, parameters))
        if trial is not None and trial.stdin not in tests:
            found[trial.stdin] = trial
            seen |= trial.failed
    return _cover([*found.values()], everyone)


def _cover(trials: list[Trial], everyone: int) -> list[Trial]:
    chosen: list[Trial] = []
    alive = everyone
    while alive:
        best = max(trials, key=lambda trial: (trial.failed & alive).bit_count())
        if not best.failed & alive:
            break
        chosen.append(best)
        alive &= ~best.failed
    return chosen

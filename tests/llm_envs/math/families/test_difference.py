"""Families differ in what has to be done, not in numbers or words."""

import itertools
import random
from typing import Any

from llm_envs.core.draws import sample
from llm_envs.math.families.base import LEVELS
from llm_envs.math.families.table import FAMILIES
from llm_envs.math.judging import Verdict, judge
from llm_envs.sandbox.base import Program, Sandbox, Status
from tests.llm_envs.math.families.drafts import Parts, drafts, drafts_of_all_levels, put_together, take_apart
from tests.scale import scaled

MOST_SHARED = 0.1  # share of equal answers


def test_no_two_families_have_a_program_in_common() -> None:
    bodies = {
        name: {take_apart(draft.program).body for draft in drafts_of_all_levels(family, 20)}
        for name, family in FAMILIES.items()
    }
    for (first, of_first), (second, of_second) in itertools.combinations(bodies.items(), 2):
        assert not of_first & of_second, (first, second)
    assert all(1 <= len(found) <= len(LEVELS) for found in bodies.values()), "numbers stand in the head alone"


def test_answers_of_different_families_agree_by_chance_only() -> None:
    count = scaled(fast=60, long=600)
    answers = {
        name: [draft.answer for draft in drafts_of_all_levels(family, count // 3)] for name, family in FAMILIES.items()
    }
    shares = {
        (first, second): sum(a == b for a, b in zip(answers[first], answers[second], strict=True)) / count
        for first, second in itertools.combinations(FAMILIES, 2)
    }
    assert {pair: share for pair, share in shares.items() if share > MOST_SHARED} == {}


def test_the_program_of_one_family_does_not_answer_questions_of_another(sandbox: Sandbox) -> None:
    """The numbers of a question go, in their order, into each program that takes as many of the same kinds."""
    pairs = _crossed(level=2)
    rng = random.Random(0)
    chosen = sample(rng, pairs, scaled(fast=24, system=100, long=len(pairs)))
    own = [(draft.program, draft.answer) for family in FAMILIES.values() for draft in drafts(family, 2, 1)][:10]
    outcomes = sandbox.run([Program(code, cpu_s=1.0, wall_s=3.0) for code, _ in [*own, *chosen]])
    verdicts = [
        outcome.status is Status.OK and judge(gold=gold, answer=outcome.stdout.strip()) is Verdict.RIGHT
        for outcome, (_, gold) in zip(outcomes, [*own, *chosen], strict=True)
    ]
    assert all(verdicts[: len(own)]), "negative control: each answers its own"
    assert sum(verdicts[len(own) :]) <= MOST_SHARED * len(chosen)


def _crossed(level: int) -> list[tuple[str, str]]:
    """Programs with the numbers of another family's question, and the answer to that question."""
    found = {name: drafts(family, level, 1)[0] for name, family in FAMILIES.items()}
    crossed = []
    for (_, solver), (_, asked) in itertools.permutations(found.items(), 2):
        (names, body), (given, _) = take_apart(solver.program), take_apart(asked.program)
        if list(map(_kind, names.values())) == list(map(_kind, given.values())):
            code = put_together(Parts(dict(zip(names, given.values(), strict=True)), body))
            crossed.append((code, asked.answer))
    return crossed


def _kind(value: Any) -> str:
    if isinstance(value, tuple):
        return f"tuple of {' or '.join(sorted(set(map(_kind, value))))}"
    return type(value).__name__

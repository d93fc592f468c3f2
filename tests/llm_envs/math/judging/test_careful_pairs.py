"""The judge beside a careful person, who gave each pair a verdict before the judge saw it.

It may leave a pair undecided; it may not say the opposite.
"""

from collections import Counter

import pytest

from llm_envs.math.judging import Verdict, judge
from tests.llm_envs.math.judging.careful import pairs


def test_the_judge_never_says_the_opposite_of_a_careful_person() -> None:
    """UC-040, UC-041, UC-043, UC-046, UC-047, UC-049, UC-052, UC-056."""
    counts = Counter((pair.person, pair.judge) for pair in pairs())
    assert counts[Verdict.RIGHT, Verdict.WRONG] == counts[Verdict.WRONG, Verdict.RIGHT] == 0
    decided = counts[Verdict.RIGHT, Verdict.RIGHT] + counts[Verdict.WRONG, Verdict.WRONG]
    assert decided > 0.95 * len(pairs()) > 900
    assert min(counts[Verdict.RIGHT, Verdict.RIGHT], counts[Verdict.WRONG, Verdict.WRONG]) > 200


@pytest.mark.needs("math")
@pytest.mark.usefixtures("math_verify")
def test_every_pair_gets_the_verdict_that_stands_beside_it() -> None:
    verdicts = {pair[:2]: judge(gold=pair.gold, answer=pair.answer) for pair in pairs()}
    assert verdicts == {pair[:2]: pair.judge for pair in pairs()}


@pytest.mark.usefixtures("no_math_verify")
def test_without_the_library_nothing_turns_into_its_opposite() -> None:
    """The library may only decide what would else stay open."""
    opposite = {Verdict.RIGHT: Verdict.WRONG, Verdict.WRONG: Verdict.RIGHT}
    found = [pair for pair in pairs() if judge(gold=pair.gold, answer=pair.answer) is opposite[pair.person]]
    assert found == []

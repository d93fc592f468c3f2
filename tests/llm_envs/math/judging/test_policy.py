"""Every row of the written policy holds."""

import pytest

from llm_envs.math.judging import Verdict, judge
from tests.llm_envs.math.judging.tables import Row, rows


def parameters(heading: str) -> list[pytest.ParameterSet]:
    return [pytest.param(row, id=f"{row.gold} <- {row.answer}") for row in rows(heading)]


@pytest.mark.parametrize("row", parameters("The policy"))
@pytest.mark.usefixtures("no_math_verify")
def test_a_row_of_the_policy_holds_without_any_library(row: Row) -> None:
    """UC-040, UC-043, UC-046, UC-047, UC-049, UC-056: whatever the library says of such a pair is never asked."""
    assert judge(gold=row.gold, answer=row.answer) is row.verdict


@pytest.mark.needs("math")
@pytest.mark.usefixtures("math_verify")
def test_the_rows_hold_with_the_library_too() -> None:
    both = rows("The policy") + rows("Left to math-verify") + rows("Known misses")
    assert {row: judge(gold=row.gold, answer=row.answer) for row in both} == {row: row.verdict for row in both}


@pytest.mark.parametrize("row", parameters("Left to math-verify"))
@pytest.mark.usefixtures("no_math_verify")
def test_what_is_left_to_the_library_is_undecided_without_it(row: Row) -> None:
    assert judge(gold=row.gold, answer=row.answer) is Verdict.UNDECIDED


@pytest.mark.parametrize("row", parameters("Known misses"))
@pytest.mark.usefixtures("no_math_verify")
def test_the_list_of_known_misses_is_true(row: Row) -> None:
    """UC-049: a published list; a miss that is mended leaves it."""
    assert judge(gold=row.gold, answer=row.answer) is row.verdict
    assert row.verdict is not Verdict.RIGHT


@pytest.mark.usefixtures("no_math_verify")
def test_every_gold_answer_of_the_page_is_right_for_itself_and_verdicts_are_mixed() -> None:
    """A control: a judge that always says the same would fail here."""
    policy = rows("The policy")
    assert {row.gold for row in policy if judge(gold=row.gold, answer=row.gold) is not Verdict.RIGHT} == set()
    assert {row.verdict for row in policy} == set(Verdict)

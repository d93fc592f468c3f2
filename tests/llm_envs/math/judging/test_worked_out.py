"""An answer that leaves to the reader what was asked for is none, and whatever else is right stays right."""

import pytest

from llm_envs.core.task import Split
from llm_envs.math.families.generator import generate
from llm_envs.math.families.table import FAMILIES
from llm_envs.math.judging import Verdict, is_worked_out, judge
from tests.llm_envs.math.judging.careful import pairs
from tests.llm_envs.math.judging.tables import Work, work_rows
from tests.scale import scaled


@pytest.mark.parametrize("row", work_rows(), ids=lambda row: f"{row.gold} <- {row.answer}")
def test_a_row_of_the_page_holds(row: Work) -> None:
    assert is_worked_out(gold=row.gold, answer=row.answer, question=row.question) is row.done


@pytest.mark.needs("math")
@pytest.mark.usefixtures("math_verify")
def test_every_answer_of_the_table_has_the_right_value() -> None:
    """Else it would say nothing: a wrong answer is not paid whether it is worked out or not."""
    wrong = [row for row in work_rows() if judge(gold=row.gold, answer=row.answer) is Verdict.WRONG]
    assert wrong == []
    assert {row.done for row in work_rows()} == {True, False}


def test_every_gold_answer_is_worked_out_for_itself() -> None:
    for name in FAMILIES:
        for level in (1, 2, 3):
            for index in range(scaled(fast=2, long=30)):
                question = generate((name,), level, Split.TRAIN, index)
                assert is_worked_out(gold=question.answer, answer=question.answer, question=question.text)


def test_few_of_the_careful_pairs_leave_work_and_those_that_do_say_so() -> None:
    """Where a person and the judge agree that it is right, and the gold answer is a number that is written down."""
    numbers = [pair for pair in pairs() if pair.judge is Verdict.RIGHT and pair.gold.lstrip("-").isdecimal()]
    left = [pair.answer for pair in numbers if not is_worked_out(gold=pair.gold, answer=pair.answer, question="")]
    assert len(left) < len(numbers) / 3
    assert {"2+3", r"\sqrt{25}", r"\binom52", "4^{1/2}", r"\log_2 8"} & {*left} >= {"2+3", r"\sqrt{25}"}
    assert {"72", "1,000", "10^3", "5 dollars", "x=5", r"\{5\}"}.isdisjoint(left)

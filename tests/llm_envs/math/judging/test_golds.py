"""Gold answers that cannot be judged are found when a data set is loaded."""

import pytest

from llm_envs.math.judging import Verdict, check_gold, judge


@pytest.mark.parametrize("gold", [r"\sqrt{17}", r"\left( 3, \frac{\pi}{2} \right)", r"\dfrac{9}{7}", r"1 - \sqrt2"])
@pytest.mark.usefixtures("no_math_verify")
def test_a_gold_answer_without_dollars_is_read_whole(gold: str) -> None:
    """UC-052: no part of it is taken for the whole, as the first number of a pair would be."""
    assert check_gold(gold) is None
    assert judge(gold=gold, answer=f"${gold}$") is Verdict.RIGHT
    assert judge(gold=gold, answer=gold[-1:].strip("}") or "3") is not Verdict.RIGHT
    for part in ("1", "3", "9", "17"):
        assert judge(gold=gold, answer=part) is Verdict.WRONG


@pytest.mark.parametrize(
    ("gold", "reason"),
    [
        ("", "empty"),
        ("  $ $ ", "empty"),
        (r"\frac{1}{", "does not close"),
        ("x" * 2000, "2000 characters"),
        ("This holds for every number that is odd, but never for one that is even, as one easily sees.", "prose"),
        (r"4 10/3", "not less than 1"),
        (r"1, 2, \ldots", "dots"),
    ],
)
@pytest.mark.usefixtures("no_math_verify")
def test_a_gold_answer_that_cannot_be_judged_is_named_with_its_reason(gold: str, reason: str) -> None:
    """UC-052, UC-053."""
    assert reason in (check_gold(gold) or "")


@pytest.mark.usefixtures("no_math_verify")
@pytest.mark.parametrize("answer", ["7", "", "anything", r"\text{anything}", None])
def test_an_empty_gold_answer_pays_nobody_and_blames_nobody(answer: str | None) -> None:
    """UC-053: never a constant reward for all."""
    assert judge(gold="", answer=answer) is (Verdict.WRONG if answer is None else Verdict.UNDECIDED)


@pytest.mark.needs("math")
@pytest.mark.usefixtures("math_verify")
def test_the_library_is_asked_whether_it_reads_what_the_exact_reader_does_not() -> None:
    assert check_gold(r"\lfloor x \rfloor") is None
    assert "neither" in (check_gold(r"\nonsense{3}") or "")

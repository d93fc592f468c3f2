"""Which answer of a reply counts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.math.judging import Verdict, extract_answer, judge


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (r"so \boxed{7}", "7"),
        (r"First \boxed{5}. Wrong; so \boxed{7}.", "7"),
        (r"\boxed{\text{E}}", r"\text{E}"),
        (r"$\boxed{\frac{1}{1+\frac{1}{2}}}$", r"\frac{1}{1+\frac{1}{2}}"),
        (r"\boxed{\{1, 2\}}", r"\{1, 2\}"),
        (r"\boxed{\boxed{7}}", "7"),
        (r"\boxed 7$ is it", "7"),
        (r"\boxed {7}", "7"),
        (r"\fbox{7}", "7"),
        ("\\boxed{\n 7 \n}", "7"),
        (r"\boxed{}", ""),
        (r"\boxed{7", None),
        (r"\boxed{5} and then \boxed{7", None),
        (r"\boxed{\frac{7}{2}", None),
        (r"\boxed", None),
        (r"\boxedness{7}", None),
        ("the answer is 7", None),
        ("", None),
    ],
)
def test_the_last_box_is_the_answer(reply: str, answer: str | None) -> None:
    """UC-044."""
    assert extract_answer(reply) == answer


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (r"<think>\boxed{7}", None),
        (r"<think>is it \boxed{5}?</think> No, \boxed{7}", "7"),
        (r"perhaps \boxed{5}</think> \boxed{7}", "7"),
        (r"\boxed{5}</think> nothing", None),
        (r"\boxed{7}<think>or \boxed{5}", "7"),
    ],
)
def test_reasoning_holds_no_answer(reply: str, answer: str | None) -> None:
    """UC-059."""
    assert extract_answer(reply) == answer


def test_hedging_with_many_boxes_earns_no_more_than_the_last_one() -> None:
    """UC-044: two boxes with a comma between them are no list either, so a gold answer of both is not met."""
    hedge = " ".join(rf"\boxed{{{number}}}" for number in range(1, 10))
    assert judge(gold="7", answer=extract_answer(hedge)) is Verdict.WRONG
    assert judge(gold="9", answer=extract_answer(hedge)) is Verdict.RIGHT
    assert judge(gold=r"\{5, 7\}", answer=extract_answer(r"\boxed{5}, \boxed{7}")) is Verdict.WRONG
    assert judge(gold=r"\{5, 7\}", answer=extract_answer(r"\boxed{5, 7}")) is Verdict.RIGHT


def test_a_reply_without_a_box_is_wrong_whatever_it_says() -> None:
    assert judge(gold="7", answer=extract_answer("The answer is 7.")) is Verdict.WRONG


@given(st.text(alphabet="ab7 ${}\\<>/boxedthink", max_size=80))
def test_no_text_breaks_the_extraction(text: str) -> None:
    answer = extract_answer(text)
    assert answer is None or answer in text


def test_a_long_reply_is_read_in_one_pass() -> None:
    """A reply of nothing but openings: quadratic work would not end."""
    assert extract_answer(r"\boxed{" * 100_000) is None
    assert extract_answer(r"\boxed{7} " * 100_000) == "7"

"""No text that a model may write breaks the judge or keeps it busy."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm_envs.math.judging import Verdict, check_gold, judge
from tests.llm_envs.math.judging.tables import rows
from tests.scale import scaled

GOOD = sorted({text for row in rows("The policy") for text in (row.gold, row.answer)})
COMMANDS = (
    r"\frac \sqrt \sin \text{a} \pm \le \pi \cup \infty \{ \} \\ \binom \overline ^\circ \log \begin{pmatrix} "
    r"\end{pmatrix} { } ( ) [ ] 1 2 9 3.5 ^ _ x e i + - * / ! , = < % | & . ; : $ cm and U \ldots"
)
PIECES = (*COMMANDS.split(), " ")

pytestmark = pytest.mark.usefixtures("no_math_verify")


def test_a_truncated_answer_has_a_verdict() -> None:
    """UC-055."""
    rng = random.Random(0)
    for _ in range(scaled(fast=2_000, system=5_000, long=10_000)):
        whole = GOOD[int(rng.random() * len(GOOD))]
        gold = GOOD[int(rng.random() * len(GOOD))]
        cut = whole[: int(rng.random() * len(whole))]
        assert judge(gold=gold, answer=cut) in Verdict
        assert judge(gold=cut, answer=gold) in Verdict


@settings(max_examples=scaled(fast=300, long=5_000))
@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join), st.sampled_from(GOOD))
def test_any_heap_of_commands_has_a_verdict(heap: str, gold: str) -> None:
    """UC-055; and it is right for itself, unless it is empty."""
    assert judge(gold=gold, answer=heap) in Verdict
    assert judge(gold=heap, answer=gold) in Verdict
    assert judge(gold=heap, answer=heap) is not Verdict.WRONG
    assert check_gold(heap) is None or isinstance(check_gold(heap), str)


@settings(max_examples=scaled(fast=300, long=5_000))
@given(st.text(max_size=60), st.sampled_from(GOOD))
def test_any_text_has_a_verdict(text: str, gold: str) -> None:
    assert judge(gold=gold, answer=text) in Verdict


HOSTILE = {
    "tower": "9^{9^{9^9}}",
    "factorial": "10000000!",
    "factorials": "5!!!!!!!!",
    "tiny": "1/9^{9^9}",
    "exponent of a sum": "(x+1)^{2^{30000}}",
    "long exponent": "x^{1/2^{30000}}",
    "huge root": r"\sqrt[2^{30000}]{3}",
    "powers": "(2^{30000} + 3^{15000})" * 40,
    "terms": "(a+b+c+d+f+g)^{40}",
    "factors": "(a+b+c+d)(f+g+h+j)" * 50,
    "denominators": "+".join(f"1/(x+{k})" for k in range(90)),
    "digits": "9" * 100_000,
    "terms in a row": "1+" * 50_000 + "1",
    "parentheses": "(" * 450 + "1" + ")" * 450,
    "open brackets": "(" * 100_000,
    "fractions": r"\frac" * 200,
    "roots": r"\sqrt" * 190 + "2",
    "sines": r"\sin " * 190 + "1",
    "minus signs": "-" * 900 + "1",
    "percent signs": "5" + "%" * 900,
    "units": "5" + " m" * 480,
    "powers of ten": "1e99999",
    "equations": "x=" * 300 + "5",
    "unions": "U".join(["(1,2)"] * 100),
    "lists": ",".join("x" * 400),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_answer_is_bounded_and_never_right(name: str) -> None:
    """UC-051: by bounds, not by a clock; the watchdog of the tests would see a judge that computes it."""
    for gold in ("7", r"\sqrt2 + x", r"\{1, 2\}", "(1,2)"):
        assert judge(gold=gold, answer=HOSTILE[name]) is not Verdict.RIGHT
    assert judge(gold=HOSTILE[name], answer="7") is not Verdict.RIGHT


@pytest.mark.parametrize("name", ["tower", "factorial", "exponent of a sum", "powers"])
def test_an_answer_beyond_the_bounds_is_undecided(name: str) -> None:
    """Negative control of the bounds: the largest numbers within them are decided."""
    assert judge(gold="7", answer=HOSTILE[name]) is Verdict.UNDECIDED
    assert judge(gold="7", answer="2006!") is Verdict.WRONG
    assert judge(gold=r"2^{9999}", answer=r"2 \cdot 2^{9998}") is Verdict.RIGHT

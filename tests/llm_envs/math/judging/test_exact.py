"""What the exact reader works out is what arithmetic says."""

import math
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from llm_envs.math.judging import Verdict, judge
from tests.scale import scaled

pytestmark = pytest.mark.usefixtures("no_math_verify")

Written = tuple[str, Fraction]
SIZE = settings(max_examples=scaled(fast=200, long=5_000))


def decimals(number: int, places: int) -> Written:
    return f"{number / 10**places:.{places}f}", Fraction(number, 10**places)


def mixed(whole: int, above: int, below: int) -> Written:
    return rf"{whole}\frac{{{above}}}{{{below}}}", whole + Fraction(above, below)


leaves: st.SearchStrategy[Written] = st.one_of(
    st.integers(0, 10**6).map(lambda n: (str(n), Fraction(n))),
    st.builds(decimals, st.integers(0, 10**6), st.integers(1, 4)),
    st.builds(mixed, st.integers(1, 20), st.integers(1, 6), st.integers(7, 30)),
    st.integers(1, 9).map(lambda n: (rf"\frac{n}8", Fraction(n, 8))),
)


def combined(children: st.SearchStrategy[Written]) -> st.SearchStrategy[Written]:
    return st.one_of(
        st.builds(lambda a, b: (f"({a[0]}) + ({b[0]})", a[1] + b[1]), children, children),
        st.builds(lambda a, b: (f"({a[0]}) - ({b[0]})", a[1] - b[1]), children, children),
        st.builds(lambda a, b: (rf"\left({a[0]}\right) \cdot ({b[0]})", a[1] * b[1]), children, children),
        st.builds(lambda a, b: (f"({a[0]})({b[0]})", a[1] * b[1]), children, children),
        st.builds(
            lambda a, b: (rf"\dfrac{{{a[0]}}}{{{b[0]}}}", a[1] / b[1]), children, children.filter(lambda w: w[1] != 0)
        ),
        st.builds(lambda a: (f"-({a[0]})", -a[1]), children),
        st.builds(lambda a: (f"({a[0]})^{{2}}", a[1] ** 2), children),
    )


@SIZE
@given(st.recursive(leaves, combined, max_leaves=6))
def test_a_number_is_what_arithmetic_says_however_it_is_written(written: Written) -> None:
    text, value = written
    gold = f"{value.numerator}/{value.denominator}"
    assert judge(gold=gold, answer=text) is Verdict.RIGHT
    assert judge(gold=text, answer=gold) is Verdict.RIGHT
    near = value + Fraction(1, 10**12)  # negative control
    assert judge(gold=f"{near.numerator}/{near.denominator}", answer=text) is Verdict.WRONG


roots: st.SearchStrategy[tuple[str, float]] = st.one_of(
    st.integers(1, 60).map(lambda n: (rf"\sqrt{{{n}}}", math.sqrt(n))),
    st.integers(1, 60).map(lambda n: (rf"\sqrt[3]{{{n}}}", n ** (1 / 3))),
    st.integers(1, 9).map(lambda n: (rf"\frac{{\pi}}{{{n}}}", math.pi / n)),
    st.integers(1, 9).map(lambda n: (rf"\sin {n}", math.sin(n))),
    st.integers(1, 9).map(lambda n: (f"e^{{{n}/4}}", math.exp(n / 4))),
    st.integers(1, 9).map(lambda n: (str(n), float(n))),
)


def sums(children: st.SearchStrategy[tuple[str, float]]) -> st.SearchStrategy[tuple[str, float]]:
    above = children.filter(lambda written: written[1] > -1.9)  # so that roots and quotients are real
    return st.one_of(
        st.builds(lambda a, b: (f"{a[0]} + {b[0]}", a[1] + b[1]), children, children),
        st.builds(lambda a, b: (f"({a[0]})({b[0]})", a[1] * b[1]), children, children),
        st.builds(lambda a, b: (rf"\frac{{{a[0]}}}{{{b[0]} + 3}}", a[1] / (b[1] + 3)), children, above),
        st.builds(lambda a: (rf"\sqrt{{{a[0]} + 2}}", math.sqrt(a[1] + 2)), above),
    )


@SIZE
@given(st.recursive(roots, sums, max_leaves=4), st.recursive(roots, sums, max_leaves=4))
def test_formulas_that_differ_in_floating_point_are_wrong_and_others_are_right(
    a: tuple[str, float], b: tuple[str, float]
) -> None:
    assume(abs(a[1] - b[1]) > 1e-9 or abs(a[1] - b[1]) < 1e-12)
    expected = Verdict.of(abs(a[1] - b[1]) < 1e-12)
    assert judge(gold=a[0], answer=b[0]) is expected
    assert judge(gold=b[0], answer=a[0]) is expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (r"\sin^2 x + \cos^2 x", "1"),
        ("x^2 - 1", "(x-1)(x+1)"),
        (r"\sqrt{1/n}", r"1/\sqrt{n}"),
        (r"\frac{x^2-1}{x-1}", "x + 1"),
        ("(a+b)^3", "a^3 + 3a^2b + 3ab^2 + b^3"),
        (r"\frac{1}{x} + \frac{1}{y}", r"\frac{x+y}{xy}"),
        (r"\sqrt{8}", r"2\sqrt{2}"),
        (r"\sqrt[3]{16}", r"2\sqrt[3]{2}"),
        (r"\frac{2}{\sqrt3 - 1}", r"\sqrt3 + 1"),
        ("4^n", "2^{2n}"),
        ("e^{x+1}", r"e \cdot e^x"),
        (r"\sqrt{x^2}", "|x|"),
        (r"\ln 8", r"3 \ln 2"),
        (r"\log_2 8", "3"),
        (r"\sin 2x", r"2 \sin x \cos x"),
        (r"\tan x", r"\frac{\sin x}{\cos x}"),
        (r"\cos 60^\circ", r"\frac12"),
        (r"\sqrt{2+\sqrt3}", r"\frac{\sqrt6+\sqrt2}{2}"),
        ("n!/2", r"\frac{1}{2} n!"),
        (r"\gcd(12, 18)", "6"),
        (r"\binom{7}{3}", "35"),
        ("(2i)^2", "-4"),
        (r"x^{1/2} x^{3/2}", "x^2"),
    ],
)
def test_equal_formulas_are_right_in_both_directions(one: str, other: str) -> None:
    """UC-049; `0` more is the same formula, `1` more is another."""
    assert judge(gold=one, answer=other) is Verdict.RIGHT
    assert judge(gold=other, answer=one) is Verdict.RIGHT
    assert judge(gold=one, answer=f"{other} + 0") is Verdict.RIGHT
    assert judge(gold=one, answer=f"{other} + 1") is Verdict.WRONG
    assert judge(gold=one, answer=f"{other} + 10^{{-40}}") is not Verdict.RIGHT


def test_the_gold_answer_and_the_answer_cannot_be_swapped_by_position() -> None:
    """UC-041."""
    with pytest.raises(TypeError):
        judge("7", "7")  # type: ignore[misc]

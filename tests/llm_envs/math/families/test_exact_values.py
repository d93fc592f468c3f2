"""Exact values and their LaTeX: what the families calculate with."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.math.families import latex
from llm_envs.math.families.polynomials import derivative, evaluate, expand, integral, product
from llm_envs.math.families.programs import program
from llm_envs.math.judging import Verdict, judge

fractions = st.fractions(min_value=-50, max_value=50, max_denominator=40)
polynomials = st.lists(st.integers(-9, 9), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        (latex.number(Fraction(-3, 4)), r"-\frac{3}{4}"),
        (latex.number(Fraction(6, 3)), "2"),
        (latex.ordered((Fraction(1, 2), -3)), r"(\frac{1}{2}, -3)"),
        (latex.finite_set((3, 1, 3)), r"\{1, 3\}"),
        (latex.matrix(((1, 2), (3, Fraction(1, 2)))), r"\begin{pmatrix} 1 & 2 \\ 3 & \frac{1}{2} \end{pmatrix}"),
        (latex.polynomial((1, -3, 0, 1)), "x^3 - 3x^2 + 1"),
        (latex.polynomial((-1, 0)), "-x"),
        (latex.polynomial((2, *[0] * 10)), "2x^{10}"),
        (latex.polynomial((0, 0)), "0"),
        (latex.linear_combination(((-1, "x"), (0, "y"), (1, ""))), "-x + 1"),
        (latex.scaled(Fraction(1), r"\pi"), r"\pi"),
        (latex.scaled(Fraction(-3, 2), r"\pi"), r"-\frac{3\pi}{2}"),
        (latex.scaled(Fraction(0), r"\pi"), "0"),
        (latex.square_root(18), r"3\sqrt{2}"),
        (latex.square_root(Fraction(2, 3)), r"\frac{\sqrt{6}}{3}"),
        (latex.square_root(Fraction(9, 4)), r"\frac{3}{2}"),
        (latex.square_root(0), "0"),
    ],
)
def test_values_are_written_as_a_person_would(written: str, wanted: str) -> None:
    assert written == wanted


@given(fractions, fractions)
def test_a_number_is_read_as_itself_and_as_no_other(value: Fraction, other: Fraction) -> None:
    plain = str(value)
    assert judge(gold=latex.number(value), answer=plain) is Verdict.RIGHT
    assert (judge(gold=latex.number(other), answer=plain) is Verdict.RIGHT) == (value == other)


@given(st.fractions(min_value=0, max_value=400, max_denominator=60))
def test_a_square_root_is_exact(square: Fraction) -> None:
    plain = rf"\sqrt{{{square.numerator}/{square.denominator}}}"
    assert judge(gold=latex.square_root(square), answer=plain) is Verdict.RIGHT
    assert judge(gold=latex.square_root(square + 1), answer=plain) is Verdict.WRONG


@given(polynomials, fractions)
def test_a_polynomial_is_the_sum_of_its_powers(coefficients: list[int], x: Fraction) -> None:
    powers = range(len(coefficients) - 1, -1, -1)
    assert evaluate(coefficients, x) == sum(a * x**n for a, n in zip(coefficients, powers, strict=True))


@given(polynomials, polynomials, fractions)
def test_a_product_has_the_product_of_the_values(first: list[int], second: list[int], x: Fraction) -> None:
    assert evaluate(product(first, second), x) == evaluate(first, x) * evaluate(second, x)


@given(st.lists(st.integers(-9, 9), max_size=4), st.integers(1, 5), fractions)
def test_a_polynomial_vanishes_at_its_roots_only(roots: list[int], lead: int, x: Fraction) -> None:
    expanded = expand(roots, lead)
    assert expanded[0] == lead
    assert [evaluate(expanded, root) for root in roots] == [0] * len(roots)
    assert (evaluate(expanded, x) == 0) == (x in roots)


@given(polynomials, st.integers(-6, 6), st.integers(-6, 6))
def test_integrals_and_derivatives_undo_each_other(coefficients: list[int], low: int, high: int) -> None:
    """The fundamental theorem of calculus."""
    gain = evaluate(coefficients, high) - evaluate(coefficients, low)
    assert integral(derivative(coefficients), low, high) == gain
    assert integral(coefficients, low, high) == -integral(coefficients, high, low)


def test_a_program_is_its_numbers_and_then_its_body() -> None:
    assert program("\nprint(a)\n", a=(1, (2,)), b="x") == "a = (1, (2,))\nb = 'x'\n\nprint(a)\n"

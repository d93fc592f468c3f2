"""What any comparison promises, whatever the texts."""

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.code.judging.numbers import read_number, same_number
from llm_envs.code.judging.texts import same_text
from llm_envs.code.judging.values import read_json, same_value
from llm_envs.code.problem import Comparison

MODES = [mode for mode in Comparison if mode is not Comparison.CHECKER]
TEXTS = st.text(st.characters(codec="utf-8"), max_size=40) | st.text("01.e-+ \n\tnai", max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(TEXTS, st.sampled_from(MODES))
def test_every_text_counts_as_itself(text: str, mode: Comparison) -> None:
    assert same_text(text, text, mode, 1e-6)


@given(TEXTS, TEXTS)
def test_the_comparisons_of_texts_are_ever_more_lenient(expected: str, got: str) -> None:
    exact, tokens, floats = (same_text(expected, got, mode, 1e-6) for mode in MODES[:3])
    assert exact <= tokens <= floats
    assert tokens == same_text(got, expected, Comparison.TOKENS, 1e-6)


@given(st.lists(st.text("ab ", max_size=5), max_size=6), st.randoms())
def test_lines_in_any_order_are_unordered_equal(lines: list[str], rng: Any) -> None:
    shuffled = rng.sample(lines, len(lines))
    assert same_text("\n".join(lines), "\n".join(shuffled), Comparison.UNORDERED, 0.0)
    assert not same_text("\n".join(lines), "\n".join([*shuffled, "c"]), Comparison.UNORDERED, 0.0)


@given(JSON, st.sampled_from(MODES))
def test_every_value_counts_as_itself(value: Any, mode: Comparison) -> None:
    read = read_json(json.dumps(value))
    assert same_value(read, read, mode, 1e-6)


@given(JSON, JSON)
def test_values_are_the_same_where_python_says_so_and_no_truth_value_is_a_number(mine: Any, yours: Any) -> None:
    """Of the floats, NaN apart, which is not itself in Python."""
    same = same_value(read_json(json.dumps(mine)), read_json(json.dumps(yours)), Comparison.EXACT, 0.0)
    if json.dumps(mine) == json.dumps(yours):
        assert same
    elif not any(word in json.dumps([mine, yours]) for word in ("true", "false", "NaN")):
        assert same == (mine == yours)


@given(st.integers(), st.integers())
def test_whole_numbers_are_compared_digit_by_digit(mine: int, yours: int) -> None:
    for scale in (0, 10**30):
        first, second = read_number(str(mine + scale)), read_number(str(yours + scale))
        assert first is not None
        assert second is not None
        assert same_number(first, second, Decimal("1e-6")) == (mine == yours)


@given(st.floats(-1e300, 1e300), st.floats(-1.0, 1.0))
def test_other_numbers_have_the_tolerance(value: float, share: float) -> None:
    expected, got = read_number(repr(float(value))), read_number(repr(value + share * 1e-6 * max(1.0, abs(value))))
    assert expected is not None
    assert got is not None
    if abs(share) < 0.999:
        assert same_number(expected, got, Decimal("1e-6"))


@pytest.mark.parametrize("text", ["9" * 200_000, "1e999999999", "-1e-999999999", "0." + "0" * 100_000 + "1"])
def test_huge_numbers_are_compared_without_being_worked_out(text: str) -> None:
    assert same_text(text, text, Comparison.FLOATS, 1e-6)
    assert not same_text("1.5", text, Comparison.FLOATS, 1e-6)
    assert not same_text(text, "1.5", Comparison.FLOATS, 1e-6)
    assert same_value(read_json(text), read_json(text), Comparison.TOKENS, 1e-6)


@pytest.mark.parametrize("text", ["1_000", "0x10", "1e", ".", "--1", "1e9999999999", "١", "infi", "nano", "1,5", ""])
def test_words_that_are_no_numbers_are_words(text: str) -> None:
    assert read_number(text) is None


@pytest.mark.parametrize("text", ["[" * 100_000, "1e99999999999", "", "{", "[1] [2]", "nan", "\ud800"])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"JSON|range|Expecting|Extra|double quotes"):
        read_json(text)


@given(st.lists(JSON, max_size=6), st.randoms())
def test_values_in_any_order_are_unordered_equal(items: list[Any], rng: Any) -> None:
    one, other = read_json(json.dumps(items)), read_json(json.dumps(rng.sample(items, len(items))))
    assert same_value(one, other, Comparison.UNORDERED, 1e-6)
    assert not same_value(one, [*other, "more"], Comparison.UNORDERED, 1e-6)
    assert same_value(one, other, Comparison.TOKENS, 1e-6) <= same_value(one, other, Comparison.UNORDERED, 1e-6)


@given(st.lists(st.floats(-100, 100), max_size=8), st.randoms())
def test_numbers_in_any_order_have_the_tolerance(numbers: list[float], rng: Any) -> None:
    near = [number + 1e-8 for number in rng.sample(numbers, len(numbers))]
    one, other = read_json(json.dumps(numbers)), read_json(json.dumps(near))
    assert same_value(one, other, Comparison.UNORDERED, 1e-6)
    if numbers:
        other = read_json(json.dumps([*near[:-1], 1000.0]))
        assert not same_value(one, other, Comparison.UNORDERED, 1e-6)


def test_long_lists_in_any_order_are_compared_one_by_one_and_not_each_with_each() -> None:
    """50,000 items; each with each would take hours, and the watchdog would end it."""
    numbers = [number + 0.5 for number in range(50_000)]
    one, other = read_json(json.dumps(numbers)), read_json(json.dumps([n + 1e-7 for n in reversed(numbers)]))
    assert same_value(one, other, Comparison.UNORDERED, 1e-6)
    assert not same_value(one, other, Comparison.UNORDERED, 1e-12)

"""Means and differences agree with closed forms and with slow references, and keep their properties."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs_bench.stats import Estimate, Scores, average, mean, paired_difference, rate, t_quantile, wilson

scores = st.lists(st.tuples(st.integers(0, 30), st.floats(-5, 5)), min_size=1, max_size=60)


# ---- closed forms


@pytest.mark.parametrize(
    ("degrees", "expected"),
    # Student's table, two-sided 95%: W. S. Gosset; the values of the NIST/SEMATECH handbook, 1.3.6.7.2.
    [(1, 12.706), (2, 4.303), (3, 3.182), (5, 2.571), (10, 2.228), (29, 2.045), (100, 1.984)],
)
def test_t_quantiles_are_those_of_the_table(degrees: int, expected: float) -> None:
    assert t_quantile(0.95, degrees) == pytest.approx(expected, abs=5e-4)


@given(st.floats(0.01, 0.999))
def test_t_quantiles_are_exact_where_a_closed_form_exists(confidence: float) -> None:
    """One degree of freedom is Cauchy's distribution; for two the quantile is algebraic."""
    assert t_quantile(confidence, 1) == pytest.approx(math.tan(math.pi * confidence / 2), rel=1e-9)
    assert t_quantile(confidence, 2) == pytest.approx(confidence * math.sqrt(2 / (1 - confidence**2)), rel=1e-9)


def test_t_quantiles_approach_the_normal_ones() -> None:
    assert t_quantile(0.95, 100_000) == pytest.approx(1.959964, abs=3e-5)
    assert t_quantile(0.95, 9) > t_quantile(0.95, 10) > 1.96


def test_t_quantiles_are_those_of_scipy() -> None:
    scipy_stats = pytest.importorskip("scipy.stats", reason="scipy, the independent library, is not installed")
    for degrees in (1, 2, 3, 7, 29, 99, 499):
        for confidence in (0.5, 0.9, 0.95, 0.99):
            expected = scipy_stats.t.ppf((1 + confidence) / 2, degrees)
            assert t_quantile(confidence, degrees) == pytest.approx(expected, rel=1e-9)


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=40))
def test_one_episode_an_instance_gives_the_ordinary_standard_error(values: list[float]) -> None:
    found = mean(list(enumerate(values)))
    error = np.std(values, ddof=1) / math.sqrt(len(values))
    assert found.value == pytest.approx(float(np.mean(values)))
    assert found.high - found.value == pytest.approx(t_quantile(0.95, len(values) - 1) * error, abs=1e-9)


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=20), st.integers(2, 5))
def test_repeating_every_episode_makes_nothing_more_certain(values: list[float], times: int) -> None:
    """Copies of an episode are one cluster; counted as independent they would narrow the interval by sqrt(times)."""
    once = mean(list(enumerate(values)))
    copies = [(instance, value) for instance, value in enumerate(values) for _ in range(times)]
    assert mean(copies).low == pytest.approx(once.low, abs=1e-9)
    naive = mean([(number, value) for number, (_, value) in enumerate(copies)])
    assert once.high == once.low or naive.high - naive.low < once.high - once.low, "negative control"


def sandwich_error(episodes: Scores) -> float:
    """Reference: the cluster-robust standard error of a regression on a constant, term by term, with G / (G - 1)."""
    value = sum(score for _, score in episodes) / len(episodes)
    instances = {instance for instance, _ in episodes}
    meat = 0.0
    for one in instances:
        for i, first in episodes:
            for j, second in episodes:
                if i == j == one:
                    meat += (first - value) * (second - value)
    return math.sqrt(max(0.0, meat) * len(instances) / (len(instances) - 1)) / len(episodes)


@given(scores)
def test_the_standard_error_is_the_cluster_robust_one(episodes: Scores) -> None:
    if len({instance for instance, _ in episodes}) < 2:
        return
    assert mean(episodes).error == pytest.approx(sandwich_error(episodes), abs=1e-6)


def test_the_standard_error_of_relabelled_episodes_is_another() -> None:
    """Negative control of the test above."""
    episodes = [(0, 1.0), (0, 1.0), (1, 0.0), (1, 0.0)]
    assert sandwich_error(episodes) > 1.5 * mean([(number, score) for number, (_, score) in enumerate(episodes)]).error


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40))
def test_paired_rates_have_bonett_and_prices_interval(gained: int, lost: int, same: int) -> None:
    n = gained + lost + same
    if n == 0:
        return
    before = [0.0] * gained + [1.0] * lost + [1.0] * same
    after = [1.0] * gained + [0.0] * lost + [1.0] * same
    found = paired_difference(list(enumerate(before)), list(enumerate(after)), rates=True)
    up, down = (gained + 1) / (n + 2), (lost + 1) / (n + 2)
    half = 1.959963984540054 * math.sqrt((up + down - (up - down) ** 2) / (n + 2))
    assert found.value == pytest.approx((gained - lost) / n)
    assert found.low == pytest.approx(max(-1.0, up - down - half))
    assert found.high == pytest.approx(min(1.0, up - down + half))
    assert found.low < found.high


@given(st.lists(st.tuples(st.floats(-3, 3), st.floats(0, 2)), min_size=1, max_size=6))
def test_parts_of_equal_shape_average_like_sums_of_variances(parts: list[tuple[float, float]]) -> None:
    """Symmetric intervals: the recovered one is that of the pooled variance. One part is itself."""
    found = average([Estimate(value, value - half, value + half, 10, half / 2) for value, half in parts])
    pooled = math.sqrt(sum(half**2 for _, half in parts)) / len(parts)
    assert found.value == pytest.approx(np.mean([value for value, _ in parts]))
    assert found.high - found.value == pytest.approx(pooled)
    assert found.value - found.low == pytest.approx(pooled)
    assert (found.error, found.n) == (pytest.approx(pooled / 2), 10 * len(parts))


def test_parts_in_which_everything_was_solved_keep_their_doubt() -> None:
    found = average([wilson(50, 50), wilson(50, 50)])
    assert (found.value, found.high, found.error) == (1.0, 1.0, 0.0)
    assert wilson(50, 50).low < found.low < 1


# ---- properties


@given(scores, st.randoms(use_true_random=False))
def test_the_order_of_episodes_does_not_matter(episodes: Scores, rng: random.Random) -> None:
    shuffled = list(episodes)
    rng.shuffle(shuffled)
    one, other = mean(episodes), mean(shuffled)
    assert other.value == pytest.approx(one.value, abs=1e-9)
    assert other.low == pytest.approx(one.low, abs=1e-6, nan_ok=True)


@given(scores, scores)
def test_swapping_two_runs_turns_the_difference_round(first: Scores, second: Scores) -> None:
    common = {instance for instance, _ in first} & {instance for instance, _ in second}
    if not common:
        return
    ours = [pair for pair in first if pair[0] in common]
    theirs = [pair for pair in second if pair[0] in common]
    there, back = paired_difference(ours, theirs, rates=False), paired_difference(theirs, ours, rates=False)
    assert back.value == pytest.approx(-there.value, abs=1e-9)
    assert back.low == pytest.approx(-there.high, abs=1e-6, nan_ok=True)


def test_a_single_instance_has_a_mean_and_no_interval() -> None:
    found = mean([(3, 1.0), (3, 0.0)])
    assert (found.value, found.n) == (0.5, 1)
    assert math.isnan(found.low)
    assert math.isnan(found.high)


def test_pairing_removes_what_the_instances_have_in_common() -> None:
    """Runs that differ by a constant on instances of very different difficulty: the difference is nearly certain."""
    before = [(i, float(i)) for i in range(50)]
    after = [(i, i + 1 + 0.01 * (i % 2)) for i in range(50)]
    paired = paired_difference(before, after, rates=False)
    assert paired.high - paired.low < 0.01
    assert mean(after).high - mean(after).low > 5, "negative control: unpaired intervals are wide"


def test_two_runs_that_never_differ_leave_doubt_about_their_difference() -> None:
    """Also with several episodes an instance, where one episode and not a whole instance is the smallest change."""
    once = [(i, 1.0) for i in range(20)]
    several = [(i, 1.0) for i in range(20) for _ in range(4)]
    one, four = paired_difference(once, once, rates=True), paired_difference(several, several, rates=True)
    assert (one.value, four.value) == (0.0, 0.0)
    assert 0 < four.high < one.high < 0.3


def test_the_mean_of_shares_is_the_rate() -> None:
    episodes = [(0, 1.0), (0, 0.0), (1, 1.0), (2, 0.0)]
    assert rate(episodes).value == mean(episodes).value == 0.5
    assert rate(episodes).error == mean(episodes).error


def test_runs_over_different_instances_are_refused() -> None:
    with pytest.raises(ValueError, match=r"only one of them has \[2\]"):
        paired_difference([(1, 0.0), (2, 1.0)], [(1, 0.0)], rates=True)
    with pytest.raises(ValueError, match="at least one episode"):
        mean([])

"""Rates agree with closed forms, with scipy and with slow references; their intervals never shrink to a point."""

import math
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs_bench.stats import Estimate, Scores, mean, pass_at_k, pass_hat_k, rate, share, wilson

Z = 1.959963984540054
# How many of an instance's episodes succeeded, for each instance; all have as many episodes.
wins = st.integers(2, 5).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.integers(0, n), min_size=2, max_size=12)))


def episodes_of(samples: int, successes: list[int]) -> Scores:
    return [(i, float(number < won)) for i, won in enumerate(successes) for number in range(samples)]


def score_polynomial(rate: float, successes: int, n: int, z: float) -> float:
    """Zero at the ends of the Wilson interval: (p_hat - p)^2 = z^2 p (1 - p) / n."""
    return (successes / n - rate) ** 2 - z * z * rate * (1 - rate) / n


# ---- one episode an instance


@given(st.integers(1, 500), st.floats(0, 1))
def test_the_wilson_interval_solves_its_equation(n: int, share: float) -> None:
    successes = round(share * n)
    found = wilson(successes, n)
    for end in (found.low, found.high):
        assert score_polynomial(end, successes, n, Z) == pytest.approx(0, abs=1e-12)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert score_polynomial((found.low + found.value) / 2 - 1e-3, successes, n, 1.96) != 0, "negative control"


def test_the_wilson_interval_is_that_of_scipy() -> None:
    scipy_stats = pytest.importorskip("scipy.stats", reason="scipy, the independent library, is not installed")
    for successes, n in ((0, 7), (1, 7), (3, 7), (7, 7), (61, 200), (499, 500)):
        expected = scipy_stats.binomtest(successes, n).proportion_ci(method="wilson")
        assert wilson(successes, n).low == pytest.approx(expected.low, abs=1e-12)
        assert wilson(successes, n).high == pytest.approx(expected.high, abs=1e-12)


def test_nothing_or_everything_solved_still_leaves_doubt() -> None:
    """A Wald interval would be a point here. With n = 200 the other end is z^2 / (n + z^2)."""
    z2 = Z**2
    assert wilson(0, 200) == Estimate(0.0, 0.0, pytest.approx(z2 / (200 + z2)), 200, 0.0)
    assert wilson(200, 200) == Estimate(1.0, pytest.approx(200 / (200 + z2)), 1.0, 200, 0.0)


def test_more_successes_than_trials_are_refused() -> None:
    with pytest.raises(ValueError, match="successes=3, n=2"):
        wilson(3, 2)


@given(st.lists(st.booleans(), min_size=1, max_size=50))
def test_one_episode_an_instance_has_wilsons_own_interval(solved: list[bool]) -> None:
    found, expected = rate([(i, float(won)) for i, won in enumerate(solved)]), wilson(sum(solved), len(solved))
    assert (found.value, found.low, found.high, found.n) == (expected.value, expected.low, expected.high, expected.n)
    assert found.error == pytest.approx(expected.error, nan_ok=True)


# ---- several episodes an instance


@given(wins)
def test_intervals_of_rates_hold_the_rate_and_stay_within_bounds(drawn: tuple[int, list[int]]) -> None:
    found = rate(episodes_of(*drawn))
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.low < found.high


@given(wins)
def test_clusters_are_never_more_certain_than_independent_episodes(drawn: tuple[int, list[int]]) -> None:
    samples, successes = drawn
    found = rate(episodes_of(samples, successes))
    independent = wilson(sum(successes), samples * len(successes))
    assert found.high - found.low >= independent.high - independent.low - 1e-12


@pytest.mark.parametrize("samples", [2, 4, 16])
@pytest.mark.parametrize("solved", [0, 1])
def test_all_or_nothing_counts_instances_and_not_episodes(solved: int, samples: int) -> None:
    """0 or G of G: nothing shows how alike the episodes of an instance are."""
    found = rate(episodes_of(samples, [solved * samples] * 30))
    assert (found.low, found.high) == (wilson(30 * solved, 30).low, wilson(30 * solved, 30).high)
    naive = wilson(30 * solved * samples, 30 * samples)
    assert naive.high - naive.low < found.high - found.low, "negative control"


def test_copies_of_an_episode_count_once() -> None:
    """With an intra-class correlation of 1 the effective number is that of the instances, but for Student's t."""
    found = rate(episodes_of(4, [4] * 20 + [0] * 80))
    expected = wilson(20, 100)
    assert found.low == pytest.approx(expected.low, abs=0.003)
    assert found.high == pytest.approx(expected.high, abs=0.003)


def test_a_single_instance_tried_often_has_a_rate_and_no_interval() -> None:
    found = rate([(3, 1.0), (3, 0.0)])
    assert (found.value, found.n) == (0.5, 1)
    assert math.isnan(found.low)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=20))
def test_a_share_weighs_every_part_of_the_whole_alike(counts: list[tuple[int, int]]) -> None:
    """Invalid turns of all turns: an instance without a turn says nothing but is one of the instances."""
    pairs = [(i, float(min(part, whole)), float(whole)) for i, (part, whole) in enumerate(counts)]
    if not any(whole for _, _, whole in pairs):
        with pytest.raises(ValueError, match="at least one episode"):
            share(pairs)
        return
    found = share(pairs)
    assert found.value == pytest.approx(sum(part for _, part, _ in pairs) / sum(whole for _, _, whole in pairs))
    assert found.n == len(pairs)
    assert 0 <= found.low <= found.value <= found.high <= 1


# ---- pass@k and pass^k


def share_of_draws(values: list[bool], k: int, *, every: bool) -> float:
    """Reference: all ways to draw k of an instance's samples, one by one."""
    draws = [(all if every else any)(draw) for draw in combinations(values, k)]
    return sum(draws) / len(draws)


@given(wins, st.integers(1, 5))
def test_the_estimators_are_the_share_of_all_draws_of_k_samples(drawn: tuple[int, list[int]], k: int) -> None:
    samples, successes = drawn
    once, always = pass_at_k(episodes_of(samples, successes), k), pass_hat_k(episodes_of(samples, successes), k)
    if k > samples:
        assert once is always is None, "absent where there are fewer samples"
        return
    assert once is not None
    assert always is not None
    instances = [[number < won for number in range(samples)] for won in successes]
    for found, every in ((once, False), (always, True)):
        expected = sum(share_of_draws(values, k, every=every) for values in instances) / len(instances)
        assert found.value == pytest.approx(expected)
        assert 0 <= found.low <= found.value <= found.high <= 1
    assert always.value <= once.value + 1e-12


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("true", [0.1, 0.5, 0.9])
def test_the_estimators_are_unbiased(true: float, k: int) -> None:
    """Their expectation over the binomial number of successes, exactly; "any of the n samples" would be too high."""
    n = 4
    chance = [math.comb(n, won) * true**won * (1 - true) ** (n - won) for won in range(n + 1)]
    once = [pass_at_k(episodes_of(n, [won]), k) for won in range(n + 1)]
    always = [pass_hat_k(episodes_of(n, [won]), k) for won in range(n + 1)]
    assert sum(p * one.value for p, one in zip(chance, once, strict=True) if one) == pytest.approx(1 - (1 - true) ** k)
    assert sum(p * one.value for p, one in zip(chance, always, strict=True) if one) == pytest.approx(true**k)
    biased = sum(p * (won > 0) for won, p in enumerate(chance))
    assert biased > 1 - (1 - true) ** k + 1e-6, "negative control"


def test_one_instance_with_too_few_samples_makes_them_absent() -> None:
    episodes = [*episodes_of(4, [1, 2, 3]), (3, 1.0)]
    assert pass_at_k(episodes, 2) is None
    assert pass_at_k(episodes, 1) is not None
    with pytest.raises(ValueError, match="k=0"):
        pass_at_k(episodes, 0)


def test_of_one_sample_both_are_the_success_rate() -> None:
    episodes = episodes_of(4, [0, 1, 4, 4, 2])
    once, always = pass_at_k(episodes, 1), pass_hat_k(episodes, 1)
    assert once == always
    assert once is not None
    assert once.value == pytest.approx(mean(episodes).value)
    assert once.error == pytest.approx(mean(episodes).error)

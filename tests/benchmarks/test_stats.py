"""The estimates agree with closed forms, keep their properties, and their intervals cover what they claim to."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs_bench.stats import Estimate, Scores, mean, paired_difference, t_quantile, wilson
from tests.scale import scaled

TRIALS = scaled(fast=400, long=10_000)
# Five standard errors of a share of 95% over the trials: a true coverage within the limits fails once in a million.
SLACK = 5 * math.sqrt(0.95 * 0.05 / TRIALS)

scores = st.lists(st.tuples(st.integers(0, 30), st.floats(-5, 5)), min_size=1, max_size=60)


def score_polynomial(rate: float, successes: int, n: int, z: float) -> float:
    """Zero at the ends of the Wilson interval: (p_hat - p)^2 = z^2 p (1 - p) / n."""
    return (successes / n - rate) ** 2 - z * z * rate * (1 - rate) / n


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


@given(st.integers(1, 500), st.floats(0, 1))
def test_the_wilson_interval_solves_its_equation(n: int, share: float) -> None:
    successes = round(share * n)
    found = wilson(successes, n)
    for end in (found.low, found.high):
        assert score_polynomial(end, successes, n, 1.959963984540054) == pytest.approx(0, abs=1e-12)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert score_polynomial((found.low + found.value) / 2 - 1e-3, successes, n, 1.96) != 0, "negative control"


def test_nothing_or_everything_solved_still_leaves_doubt() -> None:
    """A Wald interval would be a point here. With n = 200 the other end is z^2 / (n + z^2)."""
    z2 = 1.959963984540054**2
    assert wilson(0, 200) == Estimate(0.0, 0.0, pytest.approx(z2 / (200 + z2)), 200)
    assert wilson(200, 200) == Estimate(1.0, pytest.approx(200 / (200 + z2)), 1.0, 200)


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


def test_runs_over_different_instances_are_refused() -> None:
    with pytest.raises(ValueError, match=r"only one of them has \[2\]"):
        paired_difference([(1, 0.0), (2, 1.0)], [(1, 0.0)], rates=True)
    with pytest.raises(ValueError, match="at least one episode"):
        mean([])
    with pytest.raises(ValueError, match="successes=3, n=2"):
        wilson(3, 2)


# ---- coverage


def coverage(intervals: list[Estimate], truth: float) -> float:
    return sum(one.low <= truth <= one.high for one in intervals) / len(intervals)


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("n", [100, 200])
def test_wilson_intervals_cover_the_rate(n: int, rate: float) -> None:
    rng = np.random.default_rng(n)
    found = [wilson(int(successes), n) for successes in rng.binomial(n, rate, TRIALS)]
    assert coverage(found, rate) == pytest.approx(0.95, abs=0.02 + SLACK)


def episodes_of(rng: np.random.Generator, instances: int, samples: int, *, alike: bool) -> list[tuple[int, float]]:
    """Successes at a mean rate of one half; `alike` episodes of an instance have an intra-class correlation of 0.5."""
    rates = rng.beta(0.5, 0.5, instances) if alike else np.full(instances, 0.5)
    wins = rng.random((instances, samples)) < rates[:, None]
    return [(instance, float(win)) for instance, row in enumerate(wins) for win in row]


@pytest.mark.parametrize("alike", [False, True])
def test_clustered_intervals_cover_the_mean(alike: bool) -> None:
    rng = np.random.default_rng(1)
    runs = [episodes_of(rng, 40, 4, alike=alike) for _ in range(TRIALS)]
    assert coverage([mean(run) for run in runs], 0.5) == pytest.approx(0.95, abs=0.02 + SLACK)


def test_ignoring_the_clusters_would_cover_far_less() -> None:
    """Negative control of the test above."""
    rng = np.random.default_rng(1)
    runs = [episodes_of(rng, 40, 4, alike=True) for _ in range(TRIALS)]
    naive = [mean([(number, win) for number, (_, win) in enumerate(run)]) for run in runs]
    assert coverage(naive, 0.5) < 0.88


@pytest.mark.parametrize(("before", "after"), [(0.1, 0.8), (0.5, 0.2)])
def test_paired_intervals_cover_the_difference(before: float, after: float) -> None:
    """Half of the instances decide both runs by the same draw, as hard and easy instances do."""
    rng = np.random.default_rng(2)
    found = []
    for _ in range(TRIALS):
        shared, own = rng.random(100), rng.random(100)
        other = np.where(rng.random(100) < 0.5, shared, own)
        first = [(i, float(draw < before)) for i, draw in enumerate(shared)]
        second = [(i, float(draw < after)) for i, draw in enumerate(other)]
        found.append(paired_difference(first, second, rates=True))
    assert coverage(found, after - before) == pytest.approx(0.955, abs=0.02 + SLACK)

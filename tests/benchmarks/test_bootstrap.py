"""The clustered bootstrap repeats, agrees with scipy where scipy can say it, and draws instances, not episodes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm_envs_bench.stats import bootstrap, mean

RESAMPLES = 4_000


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 9), st.floats(-5, 5)), min_size=2, max_size=40), st.integers(0, 9))
def test_the_same_seed_gives_the_same_interval_whatever_the_order(episodes: list[tuple[int, float]], seed: int) -> None:
    found = bootstrap(sorted(episodes), seed=seed, resamples=200)
    again = bootstrap(sorted(episodes), seed=seed, resamples=200)
    assert repr(found) == repr(again), "repr, since NaN differs from itself"
    turned = bootstrap(sorted(episodes, reverse=True), seed=seed, resamples=200)
    assert turned.low == pytest.approx(found.low, abs=1e-6, nan_ok=True)


def test_other_seeds_give_other_draws() -> None:
    episodes = list(enumerate(np.random.default_rng(0).normal(size=30).tolist()))
    assert bootstrap(episodes, seed=1, resamples=200).low != bootstrap(episodes, seed=2, resamples=200).low


def test_it_agrees_with_scipy_on_one_episode_an_instance() -> None:
    """Skewed values, so that bias and acceleration matter; both draw at random, within a tenth of the width."""
    scipy_stats = pytest.importorskip("scipy.stats", reason="scipy, the independent library, is not installed")
    values = np.random.default_rng(3).exponential(size=60)
    found = bootstrap(list(enumerate(values.tolist())), seed=0, resamples=RESAMPLES)
    other = scipy_stats.bootstrap((values,), np.mean, n_resamples=RESAMPLES, method="BCa", rng=1)
    low, high = other.confidence_interval
    assert found.low == pytest.approx(low, abs=(high - low) / 10)
    assert found.high == pytest.approx(high, abs=(high - low) / 10)
    assert found.error == pytest.approx(other.standard_error, rel=0.1)
    plain = mean(list(enumerate(values.tolist())))
    assert found.high - found.value > 1.05 * (plain.high - plain.value), "negative control: t is symmetric"


def test_whole_instances_are_drawn() -> None:
    """Four copies of every episode change nothing; drawn one by one they would halve the interval."""
    values = np.random.default_rng(4).normal(size=40).tolist()
    once = bootstrap(list(enumerate(values)), seed=0, resamples=RESAMPLES)
    copies = [(i, value) for i, value in enumerate(values) for _ in range(4)]
    assert bootstrap(copies, seed=0, resamples=RESAMPLES).low == pytest.approx(once.low)
    naive = bootstrap([(n, value) for n, (_, value) in enumerate(copies)], seed=0, resamples=RESAMPLES)
    assert naive.high - naive.low < 0.6 * (once.high - once.low), "negative control"


def test_it_is_near_the_t_interval_where_many_instances_are_alike() -> None:
    episodes = [(i % 200, value) for i, value in enumerate(np.random.default_rng(5).normal(size=800).tolist())]
    found, expected = bootstrap(episodes, seed=0, resamples=RESAMPLES), mean(episodes)
    assert found.low == pytest.approx(expected.low, abs=0.01)
    assert found.high == pytest.approx(expected.high, abs=0.01)


def test_what_has_not_happened_is_not_drawn() -> None:
    """Documented: no width where all instances are the same. A single instance has no interval at all."""
    found = bootstrap([(i, 1.0) for i in range(20)], seed=0, resamples=100)
    assert (found.low, found.value, found.high) == (1.0, 1.0, 1.0)
    assert np.isnan(bootstrap([(0, 1.0), (0, 0.0)], seed=0).low)

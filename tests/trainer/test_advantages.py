"""Group-relative advantages: what siblings are compared with, and what must never become a signal."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from at_grpo.advantages import EPSILON, Scale, group_advantages, score
from tests.trainer.samples import group

REWARDS = st.lists(st.floats(-10, 10), min_size=2, max_size=16)
SCALES = st.sampled_from(Scale)


def varied(rewards: list[float]) -> bool:
    return max(rewards) - min(rewards) > 1e-3


# ---- the formula


@given(REWARDS.filter(varied))
def test_advantages_are_those_of_the_formula(rewards: list[float]) -> None:
    expected = (np.array(rewards) - np.mean(rewards)) / (np.std(rewards, ddof=1) + EPSILON)
    assert group_advantages(rewards) == pytest.approx(expected.tolist(), abs=1e-9)
    population = (np.array(rewards) - np.mean(rewards)) / (np.std(rewards) + EPSILON)
    assert group_advantages(rewards) != pytest.approx(population.tolist(), abs=1e-9), "negative control: the other std"


@given(REWARDS, SCALES, st.floats(0.1, 10))
def test_a_group_s_advantages_sum_to_zero(rewards: list[float], scale: Scale, factor: float) -> None:
    assert math.fsum(group_advantages(rewards, scale=scale, factor=factor)) == pytest.approx(0, abs=1e-8)


@given(REWARDS, SCALES)
def test_the_factor_multiplies_and_the_order_of_the_rewards_stays(rewards: list[float], scale: Scale) -> None:
    plain = group_advantages(rewards, scale=scale)
    assert group_advantages(rewards, scale=scale, factor=3.0) == pytest.approx([3 * value for value in plain])
    for low, low_advantage in zip(rewards, plain, strict=True):
        for high, high_advantage in zip(rewards, plain, strict=True):
            assert low > high or low_advantage <= high_advantage


@given(REWARDS.filter(varied), st.floats(-100, 100))
def test_only_the_difference_to_the_siblings_counts(rewards: list[float], offset: float) -> None:
    moved = [reward + offset for reward in rewards]
    assert group_advantages(moved) == pytest.approx(group_advantages(rewards), abs=1e-6)


@given(REWARDS.filter(varied), st.floats(0.5, 5))
def test_without_the_division_a_larger_gap_is_a_larger_advantage(rewards: list[float], stretch: float) -> None:
    stretched = [stretch * reward for reward in rewards]
    plain = group_advantages(rewards, scale=Scale.NONE)
    assert group_advantages(stretched, scale=Scale.NONE) == pytest.approx([stretch * value for value in plain])
    assert group_advantages(stretched) == pytest.approx(group_advantages(rewards), rel=0.2), "with it, it is not"


# ---- groups without a signal


@given(st.floats(-1e6, 1e6), st.integers(1, 16), SCALES)
def test_equal_rewards_give_exact_zeros(reward: float, size: int, scale: Scale) -> None:
    """UC-106: a constant group's advantages are exactly 0, never NaN."""
    assert group_advantages([reward] * size, scale=scale) == [0.0] * size


@pytest.mark.parametrize(
    "rewards",
    [
        [0.1 + 0.2, 0.3] * 4,
        [float(np.float32(0.95))] * 8,
        [float(np.float32(0.95)), 0.95] * 4,
        [1e6 + 1e-9, 1e6],
    ],
)
@pytest.mark.parametrize("scale", Scale)
def test_float_noise_is_no_signal(rewards: list[float], scale: Scale) -> None:
    """UC-107: a tiny standard deviation would blow the noise up to full size."""
    assert group_advantages(rewards, scale=scale) == [0.0] * len(rewards)


def test_dividing_by_the_deviation_alone_would_blow_noise_up() -> None:
    """UC-107, negative control: what the threshold is for."""
    rewards = np.array([0.1 + 0.2, 0.3] * 4)
    naive = (rewards - rewards.mean()) / rewards.std(ddof=1)
    assert abs(naive).max() > 0.9


def test_a_single_loser_is_kept_with_its_group() -> None:
    """UC-107: the only different sample is the signal."""
    advantages = group_advantages([0.0] + [0.95] * 7)
    assert advantages[0] < -2
    assert all(value > 0 for value in advantages[1:])


@pytest.mark.parametrize("scale", Scale)
def test_a_lone_survivor_has_nothing_to_be_compared_with(scale: Scale) -> None:
    """UC-110: a node with one surviving child at run time gets a zero advantage, not a crash."""
    assert group_advantages([0.7], scale=scale) == [0.0]


# ---- rewards that are missing


@pytest.mark.parametrize("missing", [None, math.nan, math.inf, -math.inf, "1"])
def test_a_missing_reward_is_refused_and_never_counts_as_zero(missing: object) -> None:
    """UC-109: whoever has no reward has no place in the group; the tree leaves lost siblings out before."""
    rewards: list = [1.0, missing, 0.0, 1.0]
    with pytest.raises(ValueError, match="must be a finite number; drop the sample"):
        group_advantages(rewards)


def test_a_lost_sibling_leaves_statistics_over_the_others() -> None:
    """UC-109: [1, lost, 0, 1] is a group of three."""
    scored = score([group([1.0, 0.0, 1.0], siblings=[0, 2, 3], lost=1)])[0]
    assert [sample.advantage for sample in scored.samples] == group_advantages([1.0, 0.0, 1.0])
    assert group_advantages([1.0, 0.0, 1.0]) != group_advantages([1.0, 0.0, 0.0, 1.0])[:3], "negative control"


def test_a_group_without_samples_is_refused() -> None:
    """UC-109: all siblings lost means no group."""
    with pytest.raises(ValueError, match="at least one sample"):
        group_advantages([])


# ---- several groups, several samples a sibling


@given(st.lists(REWARDS, min_size=1, max_size=5), SCALES)
def test_a_group_s_advantages_do_not_depend_on_other_groups(rewards: list[list[float]], scale: Scale) -> None:
    """UC-104: groups of any sizes are each scored by themselves."""
    groups = [group(values, instance=instance) for instance, values in enumerate(rewards)]
    together = score(groups, scale=scale)
    assert together == [score([own], scale=scale)[0] for own in groups]


def test_groups_of_unequal_size_are_not_merged() -> None:
    """UC-104: groups of 4 and 3 with means 0.9 and 0.1; one baseline over both would reward all of the first."""
    first, second = score([group([0.8, 0.9, 0.9, 1.0]), group([0.0, 0.1, 0.2], instance=1)])
    for scored in (first, second):
        assert math.fsum(sample.advantage for sample in scored.samples) == pytest.approx(0, abs=1e-9)
    merged = group_advantages([0.8, 0.9, 0.9, 1.0, 0.0, 0.1, 0.2])
    assert all(value > 0 for value in merged[:4]), "negative control"


def test_an_episode_of_many_turns_counts_once() -> None:
    """UC-103: rewards [1, 0], the first with three samples: baseline 0.5, advantages +, +, +, - of equal size."""
    scored = score([group([1.0, 1.0, 1.0, 0.0], siblings=[0, 0, 0, 1])], scale=Scale.NONE)[0]
    assert [sample.advantage for sample in scored.samples] == pytest.approx([0.5, 0.5, 0.5, -0.5])
    over_samples = group_advantages([1.0, 1.0, 1.0, 0.0], scale=Scale.NONE)
    assert over_samples == pytest.approx([0.25, 0.25, 0.25, -0.75]), "negative control: the baseline over samples"


@given(REWARDS, st.integers(1, 4))
def test_scoring_changes_nothing_but_the_advantage(rewards: list[float], turns: int) -> None:
    siblings = [sibling for sibling in range(len(rewards)) for _ in range(turns)]
    before = group([rewards[sibling] for sibling in siblings], siblings=siblings)
    after = score([before])[0]
    assert after.with_advantages([0.0] * len(siblings)) == before.with_advantages([0.0] * len(siblings))


def test_a_shaped_reward_keeps_an_all_fail_group_by_default() -> None:
    """UC-112: with a mixed reward, siblings that all fail still differ by their local part, and are trained on.

    That is the documented default here: local terms are penalties, so the group teaches to lose less, not to farm.
    """
    scored = score([group([-0.3, 0.0, -0.1, 0.0])])[0]
    assert any(sample.advantage != 0 for sample in scored.samples)

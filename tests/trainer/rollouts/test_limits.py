"""Which branch an episode goes on with."""

import random

from hypothesis import given
from hypothesis import strategies as st

from at_grpo.rollouts.limits import Select, choose

REWARDS = st.lists(st.floats(-1, 1), min_size=1, max_size=8)


@given(REWARDS, st.integers(0, 1000))
def test_greedy_goes_on_with_a_best_branch(rewards: list[float], seed: int) -> None:
    assert rewards[choose(rewards, Select.GREEDY, random.Random(seed))] == max(rewards)


def test_greedy_breaks_ties_by_chance_and_not_by_position() -> None:
    picks = {choose([1.0, 0.0, 1.0, 1.0], Select.GREEDY, random.Random(seed)) for seed in range(100)}
    assert picks == {0, 2, 3}


@given(REWARDS, st.integers(0, 1000))
def test_proportional_never_goes_on_with_the_worst_unless_all_are_equal(rewards: list[float], seed: int) -> None:
    chosen = rewards[choose(rewards, Select.PROPORTIONAL, random.Random(seed))]
    assert chosen > min(rewards) or len(set(rewards)) == 1


def test_proportional_chances_follow_the_height_over_the_worst() -> None:
    rng = random.Random(0)
    picks = [choose([0.0, 1.0, 3.0], Select.PROPORTIONAL, rng) for _ in range(4000)]
    assert abs(picks.count(2) / len(picks) - 0.75) < 0.03


def test_uniform_ignores_rewards() -> None:
    rng = random.Random(0)
    picks = [choose([0.0, 9.0], Select.UNIFORM, rng) for _ in range(4000)]
    assert abs(picks.count(0) / len(picks) - 0.5) < 0.03

"""How rewards are mixed."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.core.rewards import agent_reward, local_reward

PENALTY = st.floats(-1.0, 0.0)


@given(st.dictionaries(st.text(), PENALTY, max_size=6))
def test_a_local_reward_is_the_sum_of_penalties_floored_at_minus_one(penalties: dict[str, float]) -> None:
    value = local_reward(penalties)
    assert -1.0 <= value <= 0.0
    assert value == max(-1.0, math.fsum(penalties.values())) or math.isclose(value, math.fsum(penalties.values()))


@pytest.mark.parametrize("value", [0.1, -1.1, float("nan"), float("inf")])
def test_a_penalty_that_could_pay_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="each must lie in"):
        local_reward({"bonus": value})


def test_alpha_weighs_the_team_and_nothing_else() -> None:
    assert agent_reward(alpha=0.5, team=0.4, local=-0.1) == pytest.approx(0.1)
    assert agent_reward(alpha=0.0, team=0.4, local=-0.1) == -0.1

"""The turn-based parallel view."""

import copy

import pytest
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from llm_envs import fork
from llm_envs.core.errors import UsageError
from llm_envs.core.parallel import TurnBasedParallel
from llm_envs.core.wrapper import OrderEnforcing
from tests.llm_envs.ladder import ladder


def view() -> TurnBasedParallel:
    env = TurnBasedParallel(OrderEnforcing(ladder()))
    env.reset(seed=0)
    return env


def test_one_step_is_one_turn_and_says_whose_turn_is_next() -> None:
    env = TurnBasedParallel(OrderEnforcing(ladder()))
    _, infos = env.reset(seed=0)
    assert {info["active_agent"] for info in infos.values()} == {"scout_0"}
    _, rewards, _, _, infos = env.step({"scout_0": "1", "climber_0": "5"})
    assert rewards == {"scout_0": pytest.approx(-0.1), "climber_0": 0.0}
    assert {info["active_agent"] for info in infos.values()} == {"climber_0"}


def test_an_episode_that_ends_in_the_middle_of_a_cycle_ends_for_all() -> None:
    """UC-006."""
    env = TurnBasedParallel(OrderEnforcing(ladder(agents={"climber": 2})))
    env.reset(seed=0)
    env.step({"scout_0": "1"})
    _, _, terminations, _, infos = env.step({"climber_0": "5"})
    assert all(terminations.values())
    assert all(info["success"] for info in infos.values())
    assert env.agents == []
    assert env.step({}) == ({}, {}, {}, {}, {})


def test_infos_are_the_callers_own() -> None:
    env = view()
    *_, infos = env.step({"scout_0": "1"})
    infos["scout_0"]["mark"] = 1
    assert not {"mark", "active_agent"} & env.unwrapped.infos["scout_0"].keys()


def test_pettingzoo_own_view_writes_into_the_environment() -> None:
    """Negative control of the test above, and the reason for our own view."""
    raw = ladder()
    env = turn_based_aec_to_parallel(raw)
    env.reset(seed=0)
    env.step({"scout_0": "1"})
    assert "active_agent" in raw.infos["scout_0"]


def test_a_missing_action_is_named() -> None:
    with pytest.raises(UsageError, match="must hold an action of scout_0"):
        view().step({"climber_0": "5"})


@pytest.mark.parametrize("make_copy", [fork, copy.deepcopy])
def test_a_copy_of_the_view_is_independent(make_copy: object) -> None:
    env = view()
    twin = make_copy(env)  # type: ignore[operator]
    twin.step({"scout_0": "1"})
    twin.step({"climber_0": "5"})
    assert env.agents == ["scout_0", "climber_0"]
    assert env.aec_env.agent_selection == "scout_0"

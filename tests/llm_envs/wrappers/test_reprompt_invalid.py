"""Replies without an action are asked for again; retries cost what the page says and change nothing else."""

import asyncio
from collections import defaultdict
from typing import Any

import pytest
from pettingzoo.test import api_test, seed_test

import llm_envs
from llm_envs import plan_path_v0
from llm_envs.core.errors import UsageError
from llm_envs.wrappers import RepromptInvalid, textualize
from tests.llm_envs.wrappers.games import Pickled, Tally

GRID = "@..\n.#.\n..G"


def tally(**options: Any) -> Any:
    return textualize(lambda: Tally(goal=9), **options)


def plan(**options: Any) -> Any:
    env = plan_path_v0.env(size=4, turn_order=("planner", "tool"), **options)
    env.reset(options={"index": 1})
    return env


def test_an_invalid_reply_is_asked_for_again_in_the_same_turn() -> None:
    env = RepromptInvalid(plan(), times=2)
    env.reset(options={"index": 1})
    state, cycle = str(env.state()), env.unwrapped.cycle
    for _ in range(2):
        env.step("stand upright")
        assert env.agent_selection == "planner_0"
        assert (str(env.state()), env.unwrapped.cycle) == (state, cycle)
        assert env.rewards == {"planner_0": -1.0, "tool_0": 0.0}
        assert env.infos["planner_0"]["invalid"] is not None
        assert "was not valid" in env.observe("planner_0")
        assert env.last()[1] == -1.0
    env.step("up")
    assert env.agent_selection == "tool_0"
    assert env.infos["planner_0"]["invalid"] is None


def test_the_last_retry_counts_as_it_is() -> None:
    env, control = RepromptInvalid(plan(), times=1), plan()
    env.reset(options={"index": 1})
    control.step("upright")
    for _ in range(2):
        env.step("upright")
    assert env.agent_selection == control.agent_selection == "tool_0"
    assert env.rewards == control.rewards
    assert env.infos == control.infos


def test_valid_replies_are_played_as_without_it() -> None:
    env, control = RepromptInvalid(tally()), tally()
    env.reset(seed=3)
    control.reset(seed=3)
    for reply in ("1", "2", "0", "2", "1"):
        if env.terminations[env.agent_selection]:
            break
        for each in (env, control):
            each.step(reply)
        assert (env.state(), env.rewards, env.infos) == (control.state(), control.rewards, control.infos)


@pytest.mark.parametrize(("penalty", "cost"), [(None, -0.5), (0.1, -0.1), (0, 0.0)])
def test_a_reply_that_is_sent_back_costs_what_was_agreed(penalty: float | None, cost: float) -> None:
    env = RepromptInvalid(tally(invalid_penalty=0.5), penalty=penalty)
    env.reset(seed=1)
    env.step("?")
    assert env.rewards == {"player_0": cost, "player_1": 0.0}
    assert env.infos["player_0"]["local_reward"] == cost
    assert env.infos["player_0"]["team_reward"] == 0.0


def test_sums_of_last_are_those_of_the_steps() -> None:
    """UC-007: what a retry costs is handed out exactly once, and nothing of others' rewards is lost meanwhile."""
    env = RepromptInvalid(tally(invalid_penalty=0.5), times=2)
    for seed in range(5):
        env.reset(seed=seed)
        handed_out: dict[str, float] = defaultdict(float)
        stepped: dict[str, float] = defaultdict(float)
        for number, agent in enumerate(env.agent_iter()):
            _, reward, terminated, truncated, _ = env.last()
            handed_out[agent] += reward
            env.step(None if terminated or truncated else ("?", "1", "?", "?", "2")[number % 5])
            for other, value in env.rewards.items():
                stepped[other] += value
        assert handed_out == stepped
        assert sum(stepped.values()) < 0


def test_an_environment_that_would_end_goes_on_after_a_retry() -> None:
    env = RepromptInvalid(tally(on_invalid="terminate"), times=1)
    env.reset(seed=1)
    asked = str(env.observe("player_0"))
    env.step("?")
    assert not any(env.terminations.values())
    assert (
        env.observe("player_0")
        == f"{asked}\n\nYour last reply was not valid and had no effect: '?' is none of the actions."
    )
    env.step("?")
    assert all(env.terminations.values())


def test_stepping_without_blocking_gives_the_same() -> None:
    one, other = RepromptInvalid(tally()), RepromptInvalid(tally())
    for each in (one, other):
        each.reset(seed=2)
    for reply in ("?", "1", "?", "?", "?", "2"):
        one.step(reply)
        asyncio.run(other.astep(reply))
        assert (one.state(), one.rewards, one.infos) == (other.state(), other.rewards, other.infos)
        assert one.agent_selection == other.agent_selection


def test_forks_retry_apart() -> None:
    env = RepromptInvalid(textualize(Pickled), times=1)
    env.reset(seed=1)
    env.step("?")
    twin = llm_envs.fork(env)
    assert twin.observe("player_0") == env.observe("player_0")
    twin.step("1")
    assert "was not valid" in env.observe("player_0")
    env.step("1")
    assert twin.state() == env.state()


def test_pettingzoo_accepts_it() -> None:
    api_test(RepromptInvalid(tally(max_cycles=20)), num_cycles=30)
    seed_test(lambda: RepromptInvalid(tally(max_cycles=20)), num_cycles=20)


@pytest.mark.parametrize(("options", "message"), [({"times": 0}, ">= 1"), ({"penalty": -1}, ">= 0")])
def test_what_cannot_be_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        RepromptInvalid(tally(), **options)

"""Our wrappers: order of calls, stepping without blocking."""

import asyncio
from typing import Any

import pytest
from pettingzoo.utils.wrappers import BaseWrapper

from llm_envs.core.stepping import astep
from llm_envs.core.wrapper import OrderEnforcing, TextWrapper
from tests.llm_envs.ladder import ladder


class Shouting(BaseWrapper):
    """A foreign wrapper that changes actions in `step` and has no `astep`."""

    def step(self, action: Any) -> None:
        super().step(action and action.removeprefix("please "))


def test_calls_before_reset_are_refused() -> None:
    env = OrderEnforcing(ladder(render_mode="ansi"))
    for call in (lambda: env.step("0"), env.state, env.render, lambda: env.observe("scout_0"), env.agent_iter):
        with pytest.raises(AssertionError, match="reset"):
            call()
    with pytest.raises(AssertionError, match="reset"):
        asyncio.run(env.astep("0"))
    with pytest.raises(AttributeError, match="before reset"):
        _ = env.rewards


def test_a_loop_over_agents_may_step_without_blocking() -> None:
    """PettingZoo's own wrapper sees no step when `astep` goes round it, and stops the loop."""

    async def loop(env: Any) -> int:
        env.reset(seed=0)
        turns = 0
        for agent in env.agent_iter():
            dead = env.terminations[agent] or env.truncations[agent]
            await env.astep(None if dead else "1")
            turns += 1
        await env.astep(None)
        return turns

    assert asyncio.run(loop(OrderEnforcing(ladder()))) == 2 * 5 + 2


def test_a_wrapper_without_astep_is_not_skipped() -> None:
    """Its `step` changes the action, so going round it would give an invalid reply."""
    for env in (Shouting(ladder()), TextWrapper(Shouting(ladder())), OrderEnforcing(Shouting(ladder()))):
        env.reset(seed=0)
        asyncio.run(astep(env, "please 3"))
        assert env.infos["scout_0"]["said"] == "3"


def test_the_name_of_a_wrapped_environment_is_its_own() -> None:
    assert str(OrderEnforcing(ladder())) == "ladder_v0"

"""Forks of environments that know nothing of forks go on as their originals, or are refused with the reason."""

import copy
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper

import llm_envs
from llm_envs.core.fork import ForkError
from llm_envs.core.fork_check import random_action, view
from llm_envs.core.stepping import is_over
from llm_envs.wrappers import textualize
from tests.llm_envs.wrappers.games import Leaky, Masked, Mortal, Nested, Pickled, Streamed, Tally, Together, Unseeded

PLIES = 30


def stacked(env: AECEnv[str, Any, Any]) -> AECEnv[str, Any, Any]:
    return OrderEnforcingWrapper(AssertOutOfBoundsWrapper(env))


def begun(env: AECEnv[str, Any, Any], plies: int, seed: int = 3) -> AECEnv[str, Any, Any]:
    env.reset(seed=seed)
    rng = random.Random(seed)
    for _ in range(plies):
        env.step(random_action(env, rng))
    return env


def line(env: AECEnv[str, Any, Any], seed: int) -> list[Any]:
    """All that is seen on a way of random actions to the end."""
    rng, seen = random.Random(seed), [view(env)]
    while not is_over(env):
        env.step(random_action(env, rng))
        seen.append(view(env))
    return seen


@pytest.mark.parametrize("kind", [Tally, Pickled, Nested, Masked, Mortal])
@pytest.mark.parametrize("wrapped", [False, True])
def test_a_fork_goes_on_as_its_original_and_leaves_it_alone(
    kind: Callable[[], AECEnv[str, Any, Any]], wrapped: bool
) -> None:
    plies = 0
    for seed in range(40):
        env = begun(stacked(kind()) if wrapped else kind(), plies=seed % 3, seed=seed)
        before = view(env)
        twin = llm_envs.fork(env)
        ahead = line(twin, seed)
        assert view(env) == before, "the original moved"
        assert line(env, seed) == ahead
        plies += len(ahead)
        if plies > PLIES:
            return
    raise AssertionError("too few plies to tell")


def test_a_deep_copy_is_the_failing_control() -> None:
    """What the fork must not be: `EzPickle` answers `copy.deepcopy` with a new, unplayed game."""
    env = begun(Pickled(), plies=3)
    assert not hasattr(copy.deepcopy(env), "total")
    assert llm_envs.fork(env).total == env.total > 0


def test_a_fork_shares_spaces_and_nothing_else() -> None:
    env = begun(stacked(Pickled()), plies=2)
    twin = llm_envs.fork(env)
    assert twin.observation_space("player_0") is env.observation_space("player_0")
    assert twin.unwrapped is not env.unwrapped
    assert twin.env is not env.env
    assert twin.unwrapped.chance is not env.unwrapped.chance
    assert twin.unwrapped.agents is not env.unwrapped.agents


def test_references_inside_a_stack_lead_to_the_fork() -> None:
    env = begun(stacked(Pickled()), plies=2)
    env.unwrapped.outermost = env
    twin = llm_envs.fork(env)
    assert twin.unwrapped.outermost is twin


def test_a_game_that_nothing_can_copy_is_played_again() -> None:
    env = textualize(lambda: Streamed(goal=60))
    env.reset(seed=5)
    for reply in ("1", "2", "oops", "0"):
        env.step(reply)
    twin = llm_envs.fork(env)
    for each in (env, twin):
        for reply in ("2", "1", "1"):
            each.step(reply)
    assert env.state() == twin.state()
    assert env.rewards == twin.rewards


@pytest.mark.parametrize(
    ("env", "reason"),
    [
        (Streamed(), "generator"),  # given without a function that makes it
        (Unseeded, "generator.*a fork shows something else|differ after"),
        (Leaky, "playing on a fork changes another one"),
    ],
)
def test_a_game_whose_forks_go_on_otherwise_is_refused_with_the_reason(env: Any, reason: str) -> None:
    text = textualize(env)
    text.reset(seed=1)
    text.step("1")
    with pytest.raises(ForkError, match=reason):
        llm_envs.fork(text)
    state = text.state()
    text.step("1")
    assert text.state() != state, "it can still be played"


def test_a_bare_parallel_environment_is_refused_in_words() -> None:
    env = Together()
    env.reset()
    with pytest.raises(ForkError, match="Together can't be forked"):
        llm_envs.fork(env)


def test_the_check_leaves_chance_alone() -> None:
    """UC-010: neither the generators of the caller nor those of the game or its spaces advance."""
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002  # the legacy global generator is what must stay untouched
    env = begun(stacked(Pickled(goal=13)), plies=1)
    env.action_space("player_0").seed(4)
    control = copy.deepcopy(env.action_space("player_0")).sample()
    state, numpy_state = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    chance = env.unwrapped.chance.getstate()
    llm_envs.fork(env)
    assert random.getstate() == state
    assert np.random.get_state()[1].tolist() == numpy_state  # noqa: NPY002
    assert env.unwrapped.chance.getstate() == chance
    assert env.action_space("player_0").sample() == control

"""What holds for each classic, at any size."""

import copy
import random
import warnings
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, seed_test
from pettingzoo.test.state_test import state_test

import llm_envs
from llm_envs.core.fork_check import random_action, view
from llm_envs.core.parallel import TurnBasedParallel
from llm_envs.core.stepping import is_over
from tests.llm_envs.classic.games import FOREIGN, begun, foreign_line, line, seen

ALLOWED_WARNINGS = {
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
    "Action space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
    # of `state_test`, which knows arrays only
    "State is not NumPy array",
    "State space for each environment probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
}
FORK_PLIES = 30


def passes_pettingzoos_tests(name: str, cycles: int) -> None:
    """UC-001: with the allowed warnings and no others."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        env = llm_envs.make(f"{name}_v0", max_cycles=cycles)
        api_test(env, num_cycles=cycles)
        seed_test(lambda: llm_envs.make(f"{name}_v0", max_cycles=cycles), num_cycles=cycles)
        state_test(env, TurnBasedParallel(env), num_cycles=cycles)
    assert {str(warning.message) for warning in caught} <= ALLOWED_WARNINGS


def forks_go_on_alike(name: str, episodes: int) -> None:
    """Forks of the text environment and of the bare game: 30 plies at least, the parent untouched, in every depth."""
    plies = 0
    for index in range(1000):
        env = begun(name, plies=index % 4, index=index)
        before = seen(env)
        twin = llm_envs.fork(env)
        ahead = line(twin)
        assert seen(env) == before, "the parent moved"
        assert line(env) == ahead
        plies += len(ahead) - 1
        if plies >= FORK_PLIES and index + 1 >= episodes:
            break
    assert plies >= FORK_PLIES
    foreign_forks_go_on_alike(name)


def foreign_forks_go_on_alike(name: str) -> None:
    plies = 0
    for seed in range(1000):
        game = played(name, seed)
        before, twin = view(game), llm_envs.fork(game)
        ahead = foreign_line(twin, seed)
        assert view(game) == before, "the parent moved"
        assert foreign_line(game, seed) == ahead
        plies += len(ahead) - 1
        if plies >= FORK_PLIES:
            return
    raise AssertionError("too few plies to tell")


def played(name: str, seed: int) -> Any:
    """PettingZoo's own game after two random actions, where it lasts as long."""
    game = pettingzoo.make("aec", f"classic/{FOREIGN[name]}")
    game.reset(seed=seed)
    rng = random.Random(seed)
    for _ in range(2):
        if not is_over(game):
            game.step(random_action(game, rng))
    return game


def deep_copies_fail(name: str) -> None:
    """The failing control: `copy.deepcopy` of the game is another game, or none that can be played."""
    for seed in range(20):
        game = played(name, seed)
        if is_over(game):
            continue
        twin = copy.deepcopy(game)
        try:
            shown = view(twin)
        except (AttributeError, TypeError):  # it was never reset
            return
        if shown != view(game):
            return
    pytest.fail("copy.deepcopy now copies the position: forks could be simpler")


def keeps_to_its_own_chance(name: str) -> None:
    """UC-010: global generators are neither used nor moved, and a seed repeats an episode."""
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002  # the legacy global generator is what must stay untouched
    before = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    first = line(begun(name, plies=0, index=7))
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # noqa: NPY002
    random.seed(2)
    np.random.seed(2)  # noqa: NPY002
    assert line(begun(name, plies=0, index=7)) == first

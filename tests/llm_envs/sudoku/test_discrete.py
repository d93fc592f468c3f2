"""The discrete variant passes PettingZoo's tests, takes masked learners, and is the same game as the text."""

import pickle
import random
import warnings
from typing import Any

import numpy as np
import pytest
from pettingzoo import AECEnv
from pettingzoo.test import api_test, parallel_api_test, seed_test

import llm_envs
from llm_envs import sudoku_v0
from llm_envs.core.discrete import DiscreteAECEnv
from llm_envs.core.errors import UsageError
from llm_envs.sudoku.puzzle import Placement, play

ROWS: dict[str, dict[str, Any]] = {
    "4x4": {"size": 4},
    "6x6 hard": {"size": 6, "difficulty": "hard"},
    "9x9": {"engine": "python"},
    "three planners": {"size": 4, "agents": {"planner": 3}},
    "16x16": {"size": 16, "engine": "python"},
    "short": {"size": 4, "max_cycles": 2, "alpha": 0.5, "split": "test"},
}
ALLOWED = {
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
}


def make(**options: Any) -> AECEnv[str, Any, Any]:
    return sudoku_v0.env(action_format="discrete", **options)


def raw(**options: Any) -> DiscreteAECEnv:
    env = sudoku_v0.raw_env(action_format="discrete", **options)
    assert isinstance(env, DiscreteAECEnv)
    return env


def play_randomly(env: AECEnv[str, Any, Any], seed: int, steps: int) -> list[tuple[Any, ...]]:
    """Legal actions drawn by a seed; what happened."""
    rng = np.random.default_rng(seed)
    happened: list[tuple[Any, ...]] = []
    for agent in env.agent_iter(steps):
        observation, reward, terminated, truncated, info = env.last()
        action = None
        if not (terminated or truncated):
            action = int(rng.choice(np.flatnonzero(observation["action_mask"])))
        happened.append((agent, observation["observation"].tobytes(), reward, info["success"], action))
        env.step(action)
    return happened


@pytest.mark.parametrize("row", ROWS)
def test_an_option_row_passes_pettingzoos_tests(row: str) -> None:
    """UC-001."""
    options = ROWS[row]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(make(**options), num_cycles=40)
        seed_test(lambda: make(**options), num_cycles=40)
    said = {str(warning.message) for warning in caught if issubclass(warning.category, UserWarning)}
    assert said <= ALLOWED


def test_the_turn_based_view_passes_pettingzoos_test() -> None:
    parallel_api_test(sudoku_v0.parallel_env(action_format="discrete", size=4), num_cycles=40)


@pytest.mark.parametrize("row", ROWS)
def test_spaces_hold_what_is_seen_and_the_mask_is_never_empty_while_playing(row: str) -> None:
    env = make(**ROWS[row])
    env.reset(seed=5)
    for agent in env.agent_iter(60):
        observation, *_, terminated, truncated, _ = env.last()
        assert env.observation_space(agent).contains(observation)
        assert env.unwrapped.state_space.contains(env.state())
        if terminated or truncated:
            env.step(None)
            continue
        assert observation["action_mask"].any()
        env.step(env.action_space(agent).sample(observation["action_mask"]))


def test_the_mask_holds_the_legal_placements_that_change_something() -> None:
    env = raw(size=4)
    env.reset(seed=1)
    env.step(int(np.flatnonzero(env.observe("planner_0")["action_mask"])[0]))
    state = env.snapshot
    mask = env.observe("planner_0")["action_mask"]
    for action in range(16 * 5):
        cell, digit = divmod(action, 5)
        played = play(state.puzzle, state.grid, 0, 0, [Placement(cell, digit)])
        assert mask[action] == len(played.placed)


def test_the_array_shows_digits_and_clues() -> None:
    env = raw(size=4)
    env.reset(options={"task": "1...\n..3.\n.4..\n...2"})
    array = env.observe("planner_0")["observation"]
    assert array[..., 0].tolist() == [[1, 0, 0, 0], [0, 0, 3, 0], [0, 4, 0, 0], [0, 0, 0, 2]]
    assert (array[..., 1] == (array[..., 0] > 0)).all()
    env.step(1 * 5 + 3)
    after = env.observe("planner_0")["observation"]
    assert (after[0, 1, 0], after[0, 1, 1]) == (3, 0)
    assert array[0, 1, 0] == 0, "observations given out earlier stay as they were"


def test_discrete_and_text_are_the_same_game() -> None:
    discrete, text = raw(size=4), sudoku_v0.raw_env(size=4, roles="planners", max_cycles=512)
    rng = random.Random(0)
    for env in (discrete, text):
        env.reset(options={"split": "test", "index": 3})
    while not any(discrete.terminations.values()) and discrete.cycle < 60:
        action = rng.randrange(80)
        cell, digit = divmod(action, 5)
        discrete.step(action)
        text.step(f"r{cell // 4 + 1}c{cell % 4 + 1}={digit}")
        assert discrete.rewards == text.rewards
        assert discrete.infos == text.infos
        assert discrete.snapshot.grid == text.snapshot.grid


def test_an_action_outside_the_mask_changes_nothing_and_costs() -> None:
    env = raw(size=4)
    env.reset(options={"task": "1...\n..3.\n.4..\n...2"})
    before = env.state().copy()
    env.step(0 * 5 + 2)  # a 2 over the clue 1
    assert (env.state() == before).all()
    assert env.rewards["planner_0"] == pytest.approx(-0.05)


@pytest.mark.parametrize("action", [-1, 80, "r1c2=3", 1.5, None, [1]])
def test_what_is_no_action_is_refused(action: Any) -> None:
    env = raw(size=4)
    env.reset(seed=0)
    with pytest.raises(UsageError, match="action="):
        env.step(action)


def test_a_fork_goes_on_by_itself_and_leaves_its_parent_alone() -> None:
    env = make(size=6)
    env.reset(seed=3)
    env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    env.last()
    before = env.state().copy()
    branch = llm_envs.fork(env)
    ahead = play_randomly(branch, 7, 30)
    assert (env.state() == before).all()
    assert play_randomly(env, 7, 30) == ahead
    assert play_randomly(llm_envs.fork(env), 8, 30) != ahead, "negative control"


def test_a_pickle_goes_on_where_it_was() -> None:
    env = raw(size=4)
    env.reset(seed=3)
    env.step(int(np.flatnonzero(env.observe("planner_0")["action_mask"])[0]))
    copy = pickle.loads(pickle.dumps(env))
    assert (copy.state() == env.state()).all()
    assert play_randomly(copy, 1, 20) == play_randomly(env, 1, 20)


def test_the_oracle_of_the_task_solves_it_cell_by_cell() -> None:
    env = raw(size=4)
    env.reset(seed=0)
    solution, total = env.snapshot.puzzle.solution, 0.0
    while not env.terminations["planner_0"]:
        cell = env.snapshot.grid.index(0)
        env.step(cell * 5 + solution[cell])
        total += env.rewards["planner_0"]
    assert env.infos["planner_0"]["success"]
    assert total == pytest.approx(1.0)


def test_a_masked_random_learner_loop_runs() -> None:
    """A bandit over actions that keeps the running mean of rewards, epsilon-greedy under the mask."""
    env = make(size=4, max_cycles=20)
    rng = np.random.default_rng(0)
    value, count = np.zeros(80), np.zeros(80)
    for episode in range(10):
        env.reset(seed=episode)
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            legal = np.flatnonzero(observation["action_mask"])
            action = int(rng.choice(legal) if rng.random() < 0.3 else legal[np.argmax(value[legal])])
            env.step(action)
            count[action] += 1
            value[action] += (env.unwrapped.rewards.get(agent, reward) - value[action]) / count[action]
    assert count.sum() > 50
    assert np.isfinite(value).all()

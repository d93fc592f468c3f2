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
from llm_envs import sokoban_v0
from llm_envs.core.discrete import DiscreteAECEnv
from llm_envs.core.errors import UsageError
from llm_envs.sokoban.board import MOVES, legal_moves
from tests.llm_envs.sokoban.scenes import TWO, TWO_PLAN

ROWS: dict[str, dict[str, Any]] = {
    "default": {},
    "expert": {"difficulty": "expert", "node_budget": 0},
    "three planners": {"agents": {"planner": 3}},
    "deadlocks end it": {"terminate_on_deadlock": True},
    "low": {"size": (6, 9), "min_pushes": 1, "max_cycles": 12, "alpha": 0.5, "split": "test"},
}
ALLOWED = {
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
}


def make(**options: Any) -> AECEnv[str, Any, Any]:
    return sokoban_v0.env(action_format="discrete", **options)


def raw(**options: Any) -> DiscreteAECEnv:
    env = sokoban_v0.raw_env(action_format="discrete", **options)
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
    parallel_api_test(sokoban_v0.parallel_env(action_format="discrete"), num_cycles=40)


@pytest.mark.parametrize("row", ROWS)
def test_spaces_hold_what_is_seen_and_the_mask_is_that_of_legal_moves(row: str) -> None:
    env = make(**ROWS[row])
    env.reset(seed=5)
    for agent in env.agent_iter(60):
        observation, *_, terminated, truncated, _ = env.last()
        assert env.observation_space(agent).contains(observation)
        assert env.unwrapped.state_space.contains(env.state())
        if terminated or truncated:
            env.step(None)
            continue
        legal = legal_moves(env.unwrapped.snapshot.board)
        assert [MOVES[action] for action in np.flatnonzero(observation["action_mask"])] == legal != []
        env.step(env.action_space(agent).sample(observation["action_mask"]))


def test_the_array_shows_every_symbol_and_smaller_rooms_are_walled() -> None:
    env = raw(size=(6, 8), boxes=2)
    env.reset(options={"task": "######\n#+*  #\n#  $ #\n#    #\n######"})
    assert env.observe("planner_0")["observation"].tolist() == [
        [1, 1, 1, 1, 1, 1, 1, 1],
        [1, 6, 4, 0, 0, 1, 1, 1],
        [1, 0, 0, 3, 0, 1, 1, 1],
        [1, 0, 0, 0, 0, 1, 1, 1],
        *[[1] * 8] * 2,
    ]
    env.step(MOVES.index("down"))
    assert env.observe("planner_0")["observation"][1:3, 1].tolist() == [2, 5]


def test_a_room_larger_than_the_array_is_refused() -> None:
    env = raw(size=6, min_pushes=1)
    env.reset(options={"task": TWO})
    with pytest.raises(UsageError, match="must fit into 6x6"):
        env.observe("planner_0")


def test_discrete_and_text_are_the_same_game() -> None:
    options = {"difficulty": "medium", "max_cycles": 200}
    discrete, text = raw(**options), sokoban_v0.raw_env(roles="planners", max_moves=1, **options)
    rng = random.Random(0)
    for env in (discrete, text):
        env.reset(options={"split": "test", "index": 3})
    while not any(discrete.terminations.values()) and discrete.cycle < 150:
        action = rng.randrange(4)
        discrete.step(action)
        text.step(MOVES[action])
        assert discrete.rewards == text.rewards
        assert discrete.infos == text.infos
        assert discrete.snapshot == text.snapshot


def test_an_action_outside_the_mask_changes_nothing_and_costs() -> None:
    env = raw(size=8, boxes=2)
    env.reset(options={"task": TWO})
    before = env.state().copy()
    assert env.observe("planner_0")["action_mask"].tolist() == [0, 1, 0, 1]
    env.step(MOVES.index("up"))
    assert (env.state() == before).all()
    assert env.rewards["planner_0"] == pytest.approx(-0.05)


@pytest.mark.parametrize("action", [-1, 4, "up", 1.5, None, [1]])
def test_what_is_no_action_is_refused(action: Any) -> None:
    env = raw()
    env.reset(seed=0)
    with pytest.raises(UsageError, match="action="):
        env.step(action)


def test_a_plan_solves_it_move_by_move() -> None:
    env = raw(size=8, boxes=2)
    env.reset(options={"task": TWO})
    start, total = env.task.potential(env.snapshot), 0.0
    for move in TWO_PLAN.split():
        env.step(MOVES.index(move))
        total += env.rewards["planner_0"]
    assert env.infos["planner_0"]["success"]
    assert all(env.terminations.values())
    assert total == pytest.approx(1 - start)


def test_a_fork_goes_on_by_itself_and_leaves_its_parent_alone() -> None:
    env = make(difficulty="medium")
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
    env = raw(difficulty="medium")
    env.reset(seed=3)
    env.step(int(np.flatnonzero(env.observe("planner_0")["action_mask"])[0]))
    copy = pickle.loads(pickle.dumps(env))
    assert (copy.state() == env.state()).all()
    assert play_randomly(copy, 1, 20) == play_randomly(env, 1, 20)


def test_a_masked_random_learner_loop_runs() -> None:
    """A bandit over actions that keeps the running mean of rewards, epsilon-greedy under the mask."""
    env = make(max_cycles=20, min_pushes=1)
    rng = np.random.default_rng(0)
    value, count = np.zeros(4), np.zeros(4)
    for episode in range(10):
        env.reset(seed=episode)
        for agent in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            legal = np.flatnonzero(observation["action_mask"])
            action = int(rng.choice(legal) if rng.random() < 0.3 else legal[np.argmax(value[legal])])
            env.step(action)
            count[action] += 1
            value[action] += (env.unwrapped.rewards[agent] - value[action]) / count[action]
    assert count.sum() > 50
    assert np.isfinite(value).all()

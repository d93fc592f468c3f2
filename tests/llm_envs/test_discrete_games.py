"""The discrete variants of the games: PettingZoo's own tests, masked learners, the oracle, forks."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.test import api_test, parallel_api_test, render_test, seed_test
from pettingzoo.test.state_test import state_test

import llm_envs
from llm_envs import plan_path_v0, sokoban_v0, sudoku_v0
from llm_envs.core.discrete import DiscreteAECEnv
from llm_envs.core.errors import UsageError
from llm_envs.sudoku.reading import Answer
from llm_envs.testing.upstream import strict
from tests.scale import scaled

Env = AECEnv[str, Any, Any]
GAMES: dict[str, Any] = {"plan_path": plan_path_v0, "sokoban": sokoban_v0, "sudoku": sudoku_v0}
ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    "plan_path": ("plan_path", {}),
    "plan_path, weights": ("plan_path", {"weights": 9, "size": 6, "agents": {"planner": 2}}),
    "plan_path, diagonal": ("plan_path", {"diagonal": True, "size": 5, "min_path": 3}),
    "plan_path, both": ("plan_path", {"weights": 4, "diagonal": True, "size": 7, "split": "test"}),
    "plan_path, hard": ("plan_path", {"difficulty": "hard", "alpha": 0.5}),
    "plan_path, short": ("plan_path", {"size": 4, "max_cycles": 6, "agents": {"planner": 3}}),
    "sokoban": ("sokoban", {}),
    "sokoban, two planners": ("sokoban", {"size": (7, 9), "agents": {"planner": 2}}),
    "sokoban, deadlocks end it": ("sokoban", {"difficulty": "medium", "terminate_on_deadlock": True}),
    "sudoku": ("sudoku", {"size": 4}),
    "sudoku, two planners": ("sudoku", {"size": 6, "agents": {"planner": 2}, "alpha": 2.0}),
    "sudoku, 9x9": ("sudoku", {"engine": "python"}),
}
# An observation with a mask is a dictionary, which PettingZoo takes and remarks upon.
REMARKS = (
    r"Observation is not a NumPy array",
    r"Observation space for each agent probably should be gymnasium\.spaces\.box or gymnasium\.spaces\.discrete",
)
CYCLES = 30
Mask = NDArray[np.int8]


def make(row: str, **more: Any) -> Env:
    game, options = ROWS[row]
    env: Env = GAMES[game].env(**{**options, **more, "action_format": "discrete"})
    for number, agent in enumerate(env.possible_agents):
        env.action_space(agent).seed(number)
    return env


def test_every_game_has_its_rows() -> None:
    assert {game for game, _ in ROWS.values()} == set(GAMES)


@pytest.mark.parametrize("row", ROWS)
def test_pettingzoos_own_tests_pass(row: str) -> None:
    """UC-001, UC-010."""
    with strict("api_test", REMARKS):
        api_test(make(row), num_cycles=CYCLES)
        api_test(make(row).unwrapped, num_cycles=CYCLES)
    with strict("seed_test"):
        seed_test(lambda: make(row), num_cycles=CYCLES)
    game, options = ROWS[row]
    view = GAMES[game].parallel_env(**options, action_format="discrete")
    with strict("parallel_api_test"):
        parallel_api_test(view, num_cycles=CYCLES)
    with strict("state_test"):
        state_test(make(row), GAMES[game].parallel_env(**options, action_format="discrete"), num_cycles=CYCLES)
    with strict("render_test"):
        render_test(lambda render_mode: make(row, render_mode=render_mode))


def play(env: Env, choose: Callable[[Env, Mask], int]) -> dict[str, float]:
    """An episode from its reset to the last agent's leave; what `last()` handed out to each agent.

    Every observation is in its space, the mask holds an action, and each agent is paid `alpha` times the change of the
    potential and its own local rewards, no more and no less.
    """
    raw = env.unwrapped
    start = raw.task.potential(raw.snapshot)
    earned, local = dict.fromkeys(env.possible_agents, 0.0), dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        earned[agent] += reward
        if terminated or truncated:
            env.step(None)
            continue
        assert env.observation_space(agent).contains(observation)
        assert observation["action_mask"].any()
        env.step(choose(env, observation["action_mask"]))
        local[agent] += env.infos[agent]["local_reward"]
    gained = raw.alpha * (raw.task.potential(raw.snapshot) - start)
    assert earned == pytest.approx({agent: gained + local[agent] for agent in earned})
    return earned


@pytest.mark.parametrize("row", ROWS)
def test_a_masked_random_learner_plays_whole_episodes_and_is_paid_as_documented(row: str) -> None:
    """UC-005, UC-007: an epsilon-greedy bandit over actions, which stays inside the mask."""
    env = make(row)
    rng = np.random.default_rng(0)
    value = np.zeros(env.action_space(env.possible_agents[0]).n)

    def choose(_: Env, mask: Mask) -> int:
        legal = np.flatnonzero(mask)
        action = int(rng.choice(legal) if rng.random() < 0.5 else legal[np.argmax(value[legal])])
        chosen.append(action)
        return action

    for episode in range(scaled(fast=3, long=50)):
        chosen: list[int] = []
        env.reset(seed=episode)
        earned = play(env, choose)
        value[chosen] += 0.1 * (sum(earned.values()) / len(earned) - value[chosen])
        success = env.unwrapped.task.solved(env.unwrapped.snapshot)
        assert success or all(reward < env.unwrapped.alpha for reward in earned.values())
    assert np.isfinite(value).all()


def best_action(env: Env, mask: Mask) -> int:
    """An action of the task's oracle, as a number: its first move, or any of its placements."""
    raw = env.unwrapped
    task, state, role = raw.task, raw.snapshot, raw.roles[raw.agent_selection]
    best = task.parse(state, role, task.reference("oracle", state, role, random.Random(0)))
    wanted = best.placements if isinstance(best, Answer) else best[:1]
    for action in np.flatnonzero(mask):
        decoded = raw.view.decode(state, int(action))
        if (decoded.placements if isinstance(decoded, Answer) else decoded)[0] in wanted:
            return int(action)
    raise AssertionError(f"the oracle's {wanted} is not in the mask")


@pytest.mark.parametrize("row", ROWS)
def test_the_oracle_solves_every_instance_and_earns_everything(row: str) -> None:
    env = make(row)
    for index in range(scaled(fast=2, long=50)):
        env.reset(options={"index": index})
        earned = play(env, best_action)
        raw = env.unwrapped
        assert raw.task.solved(raw.snapshot)
        assert earned == pytest.approx(dict.fromkeys(earned, raw.alpha * (1 - start_potential(env, index))))


def start_potential(env: Env, index: int) -> float:
    """The potential that an instance starts with."""
    raw = env.unwrapped
    return float(raw.task.potential(raw.task.instance(raw.split, index)))


@pytest.mark.parametrize("row", ROWS)
def test_a_noisy_oracle_is_paid_as_documented_and_earns_no_more(row: str) -> None:
    env = make(row)
    rng = random.Random(0)
    for index in range(scaled(fast=2, long=50)):
        env.reset(options={"index": index})
        earned = play(
            env,
            lambda env, mask: (
                best_action(env, mask)
                if rng.random() < 0.6 and not lost(env)
                else rng.randrange(env.action_space(env.agent_selection).n)
            ),
        )
        most = env.unwrapped.alpha * (1 - start_potential(env, index))
        assert all(reward <= most + 1e-9 for reward in earned.values())


def lost(env: Env) -> bool:
    """Whether a Sokoban is in a deadlock, where its oracle knows no plan."""
    raw = env.unwrapped
    return raw.task.potential(raw.snapshot) == 0.0 and env.metadata["name"] == "sokoban_v0"


def plies(env: Env, seed: int, count: int) -> list[tuple[Any, ...]]:
    """Legal actions drawn by a seed, over several episodes; all that can be seen after each."""
    rng = np.random.default_rng(seed)
    seen: list[tuple[Any, ...]] = []
    while len(seen) < count:
        if not env.agents:
            env.reset()
        observation, reward, terminated, truncated, info = env.last()
        action = None
        if not (terminated or truncated):
            action = int(rng.choice(np.flatnonzero(observation["action_mask"])))
        seen.append((env.agent_selection, observation["observation"].tobytes(), reward, dict(info), action))
        env.step(action)
    return seen


@pytest.mark.parametrize("row", ROWS)
def test_a_fork_goes_on_identically_for_thirty_plies_and_leaves_its_parent_alone(row: str) -> None:
    env = make(row)
    env.reset(seed=3)
    plies(env, 0, 4)
    before = (env.state().copy(), dict(env.unwrapped.rewards), dict(env.infos))
    ahead = plies(llm_envs.fork(env), 7, 30)
    assert (env.state() == before[0]).all()
    assert (dict(env.unwrapped.rewards), dict(env.infos)) == before[1:]
    assert plies(llm_envs.fork(env), 8, 30) != ahead, "negative control"
    assert plies(env, 7, 30) == ahead


@pytest.mark.parametrize("game", GAMES)
def test_the_discrete_variant_plays_the_instances_of_the_text(game: str) -> None:
    options = {"size": 6} if game == "sudoku" else {}
    text, discrete = GAMES[game].raw_env(**options), GAMES[game].raw_env(**options, action_format="discrete")
    assert isinstance(discrete, DiscreteAECEnv)
    for split in ("train", "test"):
        for env in (text, discrete):
            env.reset(options={"split": split, "index": 5})
        assert text.task.text(text.snapshot) == discrete.task.text(discrete.snapshot)


@pytest.mark.parametrize("game", GAMES)
def test_what_does_not_go_with_numbered_actions_is_refused_in_words(game: str) -> None:
    with pytest.raises(UsageError, match="roles='single': must be 'planners'"):
        GAMES[game].raw_env(action_format="discrete", roles="single")
    with pytest.raises(UsageError, match="Did you mean 'discrete'"):
        GAMES[game].raw_env(action_format="discreet")
    env = GAMES[game].raw_env(action_format="discrete")
    env.reset(seed=0)
    for action in (-1, env.action_space("planner_0").n, 0.5, "up"):
        with pytest.raises(UsageError, match="must be a whole number from 0 to"):
            env.step(action)

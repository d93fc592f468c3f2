"""The encodings of the discrete variant. `tests/llm_envs/test_discrete_games.py` plays it."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from llm_envs import plan_path_v0
from llm_envs.core.discrete import DiscreteAECEnv
from llm_envs.core.errors import UsageError
from llm_envs.plan_path.board import legal_moves, walk
from llm_envs.plan_path.discrete import AGENT, COST, GOAL, START, PlanPathView
from llm_envs.plan_path.state import State
from tests.llm_envs.plan_path.strategies import states

GRID = "S5..\n.9@.\n...2\n#..G\nhere: 4"


def raw(**options: Any) -> DiscreteAECEnv:
    env = plan_path_v0.raw_env(action_format="discrete", **options)
    assert isinstance(env, DiscreteAECEnv)
    return env


def test_the_planes_show_costs_agent_goal_and_start() -> None:
    env = raw(size=4, weights=9)
    env.reset(options={"task": GRID})
    array = env.observe("planner_0")["observation"]
    assert array[..., COST].tolist() == [[1, 5, 1, 1], [1, 9, 4, 1], [1, 1, 1, 2], [0, 1, 1, 1]]
    assert [np.argwhere(array[..., plane]).tolist() for plane in (AGENT, GOAL, START)] == [[[1, 2]], [[3, 3]], [[0, 0]]]
    assert (env.state() == array).all()
    env.step(3)
    assert np.argwhere(env.state()[..., AGENT]).tolist() == [[1, 3]]
    assert np.argwhere(array[..., AGENT]).tolist() == [[1, 2]], "observations given out earlier stay as they were"


@given(states())
def test_every_state_is_in_its_space_and_the_mask_holds_the_legal_moves(state: State) -> None:
    board = state.board
    view = PlanPathView(board.size, 9, diagonal=board.diagonal)
    assert view.box.contains(view.encode(state))
    legal = legal_moves(board, state.position)
    assert [view.decode(state, action)[0] for action in np.flatnonzero(view.mask(state))] == legal
    for action in range(view.actions):
        assert walk(board, state.position, view.decode(state, action)).hits == 1 - view.mask(state)[action]


@given(states())
def test_states_that_differ_look_different(state: State) -> None:
    """Negative control of the encoding: the agent on every other cell."""
    view = PlanPathView(state.board.size, 9, diagonal=state.board.diagonal)
    others = [cell for cell in range(state.board.size**2) if cell != state.position]
    seen = {view.encode(State(state.board, cell)).tobytes() for cell in others}
    assert len(seen) == len(others)
    assert view.encode(state).tobytes() not in seen


def test_a_smaller_grid_stands_in_the_corner_and_a_larger_one_is_refused() -> None:
    env = raw(size=6, weights=9)
    env.reset(options={"task": GRID})
    array = env.observe("planner_0")["observation"]
    assert array.shape == (6, 6, 4)
    assert not array[4:].any()
    assert not array[:, 4:].any()
    env = raw(size=4)
    env.reset(options={"task": "@....\n.....\n.....\n.....\n....G"})
    with pytest.raises(UsageError, match="must fit into the option size=4"):
        env.observe("planner_0")


def test_discrete_and_text_are_the_same_game() -> None:
    options: dict[str, Any] = {"size": 6, "weights": 3, "diagonal": True, "agents": {"planner": 2}, "max_cycles": 9}
    discrete, text = raw(**options), plan_path_v0.raw_env(roles="planners", max_moves=1, **options)
    rng = np.random.default_rng(0)
    for env in (discrete, text):
        env.reset(options={"split": "test", "index": 3})
    while not any(discrete.terminations.values()) and not any(discrete.truncations.values()):
        action = int(rng.integers(8))
        discrete.step(action)
        text.step(discrete.view.decode(text.snapshot, action)[0])
        assert discrete.rewards == text.rewards
        assert discrete.infos == text.infos
        assert discrete.snapshot == text.snapshot


def test_a_blocked_move_costs_and_changes_nothing() -> None:
    env = raw(size=4, diagonal=True)
    env.reset(options={"task": "@...\n....\n....\n...G"})
    env.step(4)
    assert env.rewards == {"planner_0": -0.05}
    env.step(7)
    assert env.rewards["planner_0"] == pytest.approx(1 / 3)

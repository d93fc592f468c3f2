"""The Gymnasium adapter: Gymnasium's own checker passes, and rewards and turns are those of the environment."""

import random
import warnings
from typing import Any

import pytest
from gymnasium.utils.env_checker import check_env

from llm_envs import make
from llm_envs.adapters.gymnasium import SingleRoleEnv
from llm_envs.core.errors import UsageError
from llm_envs.play import play
from llm_envs.players import ReferencePlayer

ORACLE, WEAK = ReferencePlayer("oracle"), ReferencePlayer("weak")
OPTIONS: dict[str, Any] = {"size": 5, "min_path": 3, "max_cycles": 4, "observation": "local"}


class Memo:
    """A player of fixed lists of moves that needs no program to be run."""

    name = "memo"

    def act(self, env: Any, agent: str, observation: str) -> str:
        return random.Random(observation).choice(("up", "down", "left", "right", "?"))


class Waiting(Memo):
    """The same, behind something that takes time."""

    async def act(self, env: Any, agent: str, observation: str) -> str:  # type: ignore[override]
        return super().act(env, agent, observation)


def planner(player: Any = None, **options: Any) -> SingleRoleEnv:
    return SingleRoleEnv(make("plan_path_v0", **OPTIONS | options), "planner", {"tool": player or Memo()})


def test_gymnasium_accepts_it() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(planner(), skip_render_check=True)


def test_the_role_is_paid_what_the_environment_pays_it() -> None:
    """UC-007: rewards given while others act arrive exactly once."""
    env, learner = planner(), Memo()
    for index in range(8):
        observation, info = env.reset(options={"index": index})
        total, over = 0.0, info["over"]
        while not over:
            observation, reward, terminated, truncated, info = env.step(learner.act(None, "", observation))
            total, over = total + reward, terminated or truncated
        episode = play(make("plan_path_v0", **OPTIONS), {"all": learner}, index=index)
        assert total == pytest.approx(episode.returns["planner_0"])
        assert info["success"] == episode.success
        with pytest.raises(AssertionError):
            assert total == pytest.approx(episode.returns["planner_0"] + 0.05), "the control must fail"


def test_players_that_take_time_are_waited_for() -> None:
    one, other = planner(Memo()), planner(Waiting())
    assert one.reset(seed=3)[0] == other.reset(seed=3)[0]
    assert one.step("up")[:4] == other.step("up")[:4]


def test_seats_must_be_filled() -> None:
    env = make("plan_path_v0")
    with pytest.raises(UsageError, match="no player for tool"):
        SingleRoleEnv(env, "planner")
    with pytest.raises(UsageError, match="Did you mean 'planner'"):
        SingleRoleEnv(env, "planer", {"all": ORACLE})
    with pytest.raises(UsageError, match="Did you mean 'tool'"):
        SingleRoleEnv(env, "planner", {"tol": WEAK, "all": ORACLE})
    with pytest.raises(UsageError, match="planner_0, planner_1"):
        SingleRoleEnv(make("plan_path_v0", agents={"planner": 2}), "planner", {"tool": ORACLE})


@pytest.mark.needs("classic")
def test_an_episode_that_ends_before_the_first_turn_ends_with_the_first_step() -> None:
    pytest.importorskip("rlcard", reason="needs the extra `classic`")

    class Folder(Memo):
        def act(self, env: Any, agent: str, observation: str) -> str:
            return "fold"

    env = SingleRoleEnv(make("leduc_holdem_v0", roles=("hero", "villain")), "hero", {"villain": Folder()})
    ended = []
    for index in range(12):
        _, info = env.reset(options={"index": index})
        if info["over"]:
            ended.append(env.step("whatever")[1:4])
    assert ended
    assert set(ended) == {(0.5, True, False)}, "the small blind that was folded to us"

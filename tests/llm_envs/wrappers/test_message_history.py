"""Histories only grow at their end, and hold nothing of what others said."""

import itertools
from typing import Any

import pytest
from pettingzoo.test import api_test

import llm_envs
from llm_envs.play import play
from llm_envs.wrappers import MessageHistory, StripThinking, textualize
from tests.llm_envs.wrappers.games import Tally

REPLIES = ("<think>hm</think>1", "nonsense", "0", "<answer>2</answer>")


def game() -> Any:
    return textualize(lambda: Tally(goal=40), roles=("left", "right"))


def turns(env: Any, replies: Any = REPLIES) -> dict[str, list[str]]:
    """Agent -> what it saw at each of its turns."""
    env.reset(seed=1)
    found: dict[str, list[str]] = {agent: [] for agent in env.possible_agents}
    for reply in (*replies, *replies):
        agent = env.agent_selection
        found[agent].append(str(env.observe(agent)))
        env.step(reply)
    return found


def test_what_an_agent_sees_begins_with_what_it_saw_before() -> None:
    """UC-122: its own last turn, whoever acted between."""
    for texts in turns(MessageHistory(game())).values():
        for before, after in itertools.pairwise(texts):
            assert after.startswith(before)
            assert len(after) > len(before)
    bare = [pair for texts in turns(game()).values() for pair in itertools.pairwise(texts)]
    assert not all(after.startswith(before) for before, after in bare), "the control must fail"


def test_an_agent_sees_its_own_replies_and_not_the_others() -> None:
    """UC-014."""
    env = MessageHistory(game())
    env.reset(seed=1)
    env.step("1")
    env.step("secret words of the other")
    assert "you replied:\n1" in env.observe("left_0")
    assert "secret words of the other" not in env.observe("left_0")
    assert "secret words of the other" in env.observe("right_0")


def test_the_order_of_wrappers_decides_what_is_remembered() -> None:
    kept = turns(MessageHistory(StripThinking(game())))["left_0"][1]
    stripped = turns(StripThinking(MessageHistory(game())))["left_0"][1]
    assert "<think>hm</think>1" in kept
    assert "<think>" not in stripped
    assert "you replied:\n1\n" in stripped


def test_a_reply_that_no_file_can_hold_is_remembered_as_it_was_read() -> None:
    """UC-015."""
    env = MessageHistory(game())
    env.reset(seed=1)
    env.step("a\ud800b")
    assert "you replied:\na\ufffdb\n" in env.observe("left_0")


def test_an_episode_begins_without_the_last_ones_history() -> None:
    env = MessageHistory(game())
    turns(env)
    env.reset(seed=1)
    fresh = game()
    fresh.reset(seed=1)
    assert env.observe("left_0") == fresh.observe("left_0")


def test_forks_remember_apart() -> None:
    env = MessageHistory(game())
    env.reset(seed=1)
    env.step("1")
    twin = llm_envs.fork(env)
    twin.step("2")
    env.step("0")
    assert "replied:\n2" in twin.observe("right_0")
    assert "replied:\n2" not in env.observe("right_0")


def test_a_step_that_fails_leaves_no_memory() -> None:
    env = MessageHistory(game())
    env.reset(seed=1)
    before = str(env.observe("left_0"))
    with pytest.raises(ValueError, match="must be a str"):
        env.step(7)
    assert env.observe("left_0") == before


def test_pettingzoo_accepts_it_and_play_and_a_loop_agree() -> None:
    api_test(MessageHistory(game()), num_cycles=20)

    class Fixed:
        name = "fixed"

        def act(self, env: Any, agent: str, observation: str) -> str:
            return str(observation.count("replied") % 3)

    loop = MessageHistory(game())
    loop.reset(options={"split": "train", "index": 0})
    for agent in loop.agent_iter():
        observation, _, terminated, truncated, _ = loop.last()
        loop.step(None if terminated or truncated else Fixed().act(loop, agent, observation))
    episode = play(MessageHistory(game()), {"all": Fixed()}, index=0)
    assert episode.turns[-1].state == str(loop.state())

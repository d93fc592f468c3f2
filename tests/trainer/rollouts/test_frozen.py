"""Promises about roles that are not trained: they act, they are recorded, and nothing of theirs is trained on."""

import asyncio
import dataclasses
from typing import Any

import pytest

from at_grpo.inference.base import SamplerError
from at_grpo.rollouts.limits import StopReason
from at_grpo.rollouts.trajectories import grow_trajectories
from at_grpo.rollouts.tree import Tree, grow_tree
from llm_envs.players import Env, ReferencePlayer
from tests.trainer.rollouts.test_engine import make_engine, play
from tests.trainer.rollouts.test_tree import K, by_sibling, grow, recipe
from tests.trainer.toy_env import GOAL, count_env

PLANNER = {"policies": {"planner": "planner"}}


class Says:
    """Says the same thing every time, and keeps who was asked for what."""

    name = "says"

    def __init__(self, text: str) -> None:
        self.text = text
        self.asked: list[tuple[str, str]] = []

    async def act(self, env: Env, agent: str, observation: str) -> str:
        self.asked.append((agent, observation))
        return self.text


def with_tool(player: Any, grower: Any = grow_tree, reply: Any = by_sibling, **changes: Any) -> Tree:
    return grow(reply, grower, frozen={"tool": player}, **PLANNER, **changes)


@pytest.mark.parametrize("grower", [grow_tree, grow_trajectories])
def test_a_role_that_is_not_trained_leaves_no_group_and_no_sample(grower: Any) -> None:
    """UC-121: the samples of each role are its own."""
    tree = with_tool(Says("2"), grower)
    assert {group.role for group in tree.groups} == {"planner"}
    assert {sample.role for group in tree.groups for sample in group.samples} == {"planner"}
    assert {turn.role for turn in tree.turns} == {"tool", "planner"}, "and acts all the same"


def test_it_gives_one_reply_a_turn_which_the_next_role_sees_in_every_branch() -> None:
    player = Says("2")
    tree = with_tool(player)
    assert [agent for agent, _ in player.asked] == ["tool_0"] * len(tree.groups)
    assert all("heard 2" in group.observation for group in tree.groups)
    assert all(len(group.samples) == K for group in tree.groups)
    assert [turn.agent for turn in tree.turns[:4]] == ["tool_0", "planner_0"] * 2


def test_it_plays_in_each_of_k_trajectories() -> None:
    player = Says("2")
    tree = with_tool(player, grow_trajectories, reply=lambda policy, prompt, sibling: "1")
    assert len(player.asked) == 3 * K
    (planner,) = tree.groups
    team, own = 3 / GOAL, -0.03
    assert {round(sample.reward, 9) for sample in planner.samples} == {round(team + own, 9)}


def test_what_it_earns_for_the_team_is_in_the_return_of_whoever_is_trained() -> None:
    """The planner is not trained here and walks all the way by itself; the tool's whole return is its share of that."""
    kept = {"policies": {"tool": "tool"}, "frozen": {"planner": Says("3")}}
    (tool,) = grow(lambda policy, prompt, sibling: "0", grow_trajectories, **kept).groups
    assert {round(sample.reward, 9) for sample in tool.samples} == {1.0}


def test_the_groups_of_the_others_are_keyed_by_their_own_nodes_and_turns() -> None:
    tree = with_tool(Says("2"), reply=lambda policy, prompt, sibling: "1")
    assert [group.key.cycle for group in tree.groups] == [0, 1, 2]
    assert len({group.key for group in tree.groups}) == 3
    assert [turn.cycle for turn in tree.turns] == [0, 0, 1, 1, 2, 2]


def test_the_environment_that_was_handed_in_is_left_as_it_was_though_it_acts_first() -> None:
    env = count_env()
    with_tool(Says("2"), env=env)
    assert env.state().startswith("1: 0/9, proposed none")
    assert env.agents == ["tool_0", "planner_0"]


def test_reference_players_see_the_environment_that_they_act_on() -> None:
    """The oracle of the task finishes in the first cycle, whatever the tool says."""
    tree = grow(by_sibling, frozen={"planner": ReferencePlayer("oracle")}, policies={"tool": "tool"})
    assert tree.success
    assert [group.role for group in tree.groups] == ["tool"]


@pytest.mark.parametrize("grower", [grow_tree, grow_trajectories])
def test_a_turn_that_infrastructure_took_ends_the_episode_without_a_reward(grower: Any) -> None:
    tree = with_tool(Says("run lost"), grower)
    assert tree.stop is StopReason.LOST
    assert tree.groups == []


def test_a_server_that_fails_ends_the_run_and_makes_no_sample() -> None:
    class Broken(Says):
        async def act(self, env: Env, agent: str, observation: str) -> str:
            raise SamplerError("the server of the tool is gone")

    with pytest.raises(SamplerError, match="the server of the tool is gone"):
        with_tool(Broken(""))


def test_records_name_who_played() -> None:
    settings = recipe(by_sibling, frozen={"tool": Says("2")}, **PLANNER)
    done, _ = play(make_engine(recipe=settings), 2)
    assert {tuple(sorted(one.episode.players.items())) for one in done} == {(("planner", "planner"), ("tool", "says"))}
    assert all(one.episode.error is None for one in done)


def test_evaluation_seats_it_too() -> None:
    engine = make_engine(recipe=recipe(by_sibling, frozen={"tool": Says("2")}, **PLANNER))
    (episode,) = engine.evaluate("validation", [3], {"tool": Says("2"), "planner": Says("9")})
    assert episode.success
    assert [turn.reply for turn in episode.turns] == ["2", "9"]


def test_a_role_without_a_player_and_without_a_policy_is_no_silent_role() -> None:
    """The negative control: what is not frozen must have a policy."""
    settings = dataclasses.replace(recipe(by_sibling), policies={"planner": "planner"})
    env = count_env()
    env.reset(options={"index": 1})
    with pytest.raises(KeyError, match="tool"):
        asyncio.run(grow_tree(env, settings, 5, 1))

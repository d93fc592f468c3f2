"""Promises of tree-structured sampling (arXiv 2510.11062, Algorithm 1), on a task whose rewards can be worked out by
hand.
"""

import asyncio
import functools
from typing import Any

import pytest

from at_grpo.advantages import score
from at_grpo.inference.base import SamplingParams
from at_grpo.inference.scripted import Script, ScriptedSampler
from at_grpo.rollouts.limits import Select, StopReason
from at_grpo.rollouts.trajectories import grow_trajectories
from at_grpo.rollouts.tree import Recipe, Tree, grow_tree
from at_grpo.samples import Group
from at_grpo.tiny import build_tokenizer
from at_grpo.tokenization import PromptEncoder
from tests.trainer.toy_env import GOAL, count_env

K = 4


@functools.cache
def encoder() -> PromptEncoder:
    return PromptEncoder(
        build_tokenizer(["tool of 1 at 0 heard none", "planner of 7 at 5 heard 3 not a digit run lost"])
    )


def recipe(reply: Script, **changes: Any) -> Recipe:
    """Each role its own policy; `reply(policy, prompt, sibling)` scripts the answers."""
    settings: dict[str, Any] = {
        "sampler": ScriptedSampler(reply, encoder()),
        "encoders": dict.fromkeys(("tool", "planner"), encoder()),
        "policies": {"tool": "tool", "planner": "planner"},
        "params": {"tool": SamplingParams(), "planner": SamplingParams()},
        "k": K,
        "select": Select.GREEDY,
        "max_prompt_tokens": 1000,
        "seed": 0,
    }
    return Recipe(**settings | changes)


def by_sibling(policy: str, prompt: str, sibling: int) -> str:
    """Sibling i says i: the tool's best is 0, the planner's best is the largest."""
    return str(sibling)


def grow(reply: Script, grower: Any = grow_tree, env: Any = None, **changes: Any) -> Tree:
    env = count_env() if env is None else env
    env.reset(options={"index": 1})
    return asyncio.run(grower(env, recipe(reply, **changes), 5, 1))


def rewards(group: Group) -> list[float]:
    return [round(sample.reward, 9) for sample in group.samples]


def test_a_group_is_k_answers_to_one_token_identical_prompt() -> None:
    tree = grow(by_sibling)
    for group in tree.groups:
        assert len(group.samples) == K
        assert len({sample.prompt_ids for sample in group.samples}) == 1
        assert group.samples[0].prompt_ids == encoder().encode(group.observation)
        assert {sample.role for sample in group.samples} == {group.role}
    assert len({group.key for group in tree.groups}) == len(tree.groups), "no two prompts share a key"


def test_every_role_s_siblings_carry_their_own_rewards_also_for_the_second_role_of_a_turn() -> None:
    """The tool is paid -d/10; the planner d/9 - d/100. A group that carried the first sample's reward would be
    constant. UC-116: each turn's reward stays with the reply that earned it.
    """
    tool, planner, *_ = grow(by_sibling).groups
    assert (tool.role, planner.role) == ("tool", "planner")
    assert rewards(tool) == [0.0, -0.1, -0.2, -0.3]
    assert rewards(planner) == [round(d / GOAL - d / 100, 9) for d in range(K)]
    assert len(set(rewards(planner))) == K


def test_steps_act_on_the_fork_that_is_continued() -> None:
    """The planner's greedy branch adds 3 each cycle: the next prompt shows exactly that state, and the score is the
    sum.
    """
    tree = grow(by_sibling)
    seen = [group.observation for group in tree.groups if group.role == "planner"]
    assert [text.split(" at ")[1][0] for text in seen] == ["0", "3", "6"]
    assert tree.turns[-1].state.startswith("1: 9/9")
    assert tree.success


def test_the_planner_sees_this_turns_tool_output() -> None:
    tree = grow(lambda policy, prompt, sibling: str(K - 1 - sibling))
    pairs = zip(tree.groups[::2], tree.groups[1::2], strict=True)
    for tool, planner in pairs:
        chosen = next(sample for sample in tool.samples if sample.chosen)
        assert f"heard {chosen.text}" in planner.observation


def test_the_environment_that_was_handed_in_is_left_as_it_was() -> None:
    env = count_env()
    grow(by_sibling, env=env)
    assert env.state().startswith("1: 0/9")
    assert env.agents == ["tool_0", "planner_0"]


def test_no_sample_is_generated_after_the_episode_ended() -> None:
    """The first planner answer solves the instance: one group a role, although three cycles were allowed. UC-005."""
    tree = grow(lambda policy, prompt, sibling: "9" if policy == "planner" else "0")
    assert [group.role for group in tree.groups] == ["tool", "planner"]
    assert tree.stop is StopReason.TERMINATED
    assert tree.success


def test_an_episode_makes_cycles_times_agents_times_k_samples() -> None:
    tree = grow(lambda policy, prompt, sibling: "0")
    assert sum(len(group.samples) for group in tree.groups) == 3 * 2 * K
    assert tree.stop is StopReason.TRUNCATED
    assert not tree.success
    assert [group.key.cycle for group in tree.groups] == [0, 0, 1, 1, 2, 2]


def test_a_role_that_says_nothing_is_sampled_paid_and_fed_back() -> None:
    tree = grow(lambda policy, prompt, sibling: "" if policy == "tool" else "1")
    tool = [group for group in tree.groups if group.role == "tool"]
    assert rewards(tool[0]) == [-1.0] * K
    assert "not a digit" in tool[1].observation
    assert all(sample.completion_ids for sample in tool[0].samples), "the stop token is what was said"


def test_a_branch_lost_to_infrastructure_leaves_a_smaller_group() -> None:
    """UC-109: statistics over the survivors; the lost one is no sample and no zero."""

    def one_lost(policy: str, prompt: str, sibling: int) -> str:
        return "run lost" if policy == "tool" and sibling == 2 else str(sibling)

    tool = grow(one_lost).groups[0]
    assert rewards(tool) == [0.0, -0.1, -0.3]
    assert tool.lost == 1
    assert sum(sample.advantage for sample in score([tool])[0].samples) == pytest.approx(0)


def test_a_group_of_one_survivor_has_no_signal() -> None:
    """UC-110."""
    tool = grow(lambda policy, prompt, sibling: "run lost" if policy == "tool" and sibling else "1").groups[0]
    assert len(tool.samples) == 1
    assert score([tool])[0].samples[0].advantage == 0.0


def test_an_episode_whose_every_branch_was_lost_ends_without_a_reward() -> None:
    tree = grow(lambda policy, prompt, sibling: "run lost")
    assert tree.stop is StopReason.LOST
    assert tree.groups == []


def test_a_prompt_over_the_limit_is_never_sent_and_ends_the_episode() -> None:
    """UC-130."""
    longest = len(encoder().encode("tool of 1 at 0 heard none"))
    assert grow(by_sibling, max_prompt_tokens=longest).groups, "at the limit it is sent"
    tree = grow(by_sibling, max_prompt_tokens=longest - 1)
    assert tree.stop is StopReason.PROMPT_TOO_LONG
    assert tree.groups == []


def seeds(grower: Any = grow_tree, **changes: Any) -> list[int]:
    """The seeds of all requests of one tree."""
    sampler = ScriptedSampler(lambda policy, prompt, sibling: "0", encoder())
    grow(lambda policy, prompt, sibling: "0", grower, sampler=sampler, **changes)
    return [request.seed for request in sampler.served]


def test_every_node_has_a_seed_of_its_own_that_repeats_with_the_runs() -> None:
    assert len(set(seeds())) == 6, "six turns"
    assert seeds() == seeds() != seeds(seed=1)


def test_every_turn_of_every_trajectory_has_a_seed_of_its_own() -> None:
    """UC-125: K episodes that drew alike would be one."""
    assert len(set(seeds(grow_trajectories))) == 6 * K


def test_k_trajectories_of_an_instance_share_each_batch() -> None:
    """One episode must not wait for the others' end: the in-process sampler gets the K turns together."""
    batches: list[int] = []

    class Noting(ScriptedSampler):
        def generate(self, requests: Any) -> Any:
            batches.append(len(requests))
            return super().generate(requests)

    sampler = Noting(lambda policy, prompt, sibling: "0", encoder())
    grow(by_sibling, grow_trajectories, sampler=sampler)
    assert batches == [K] * 6


def test_trajectory_groups_compare_whole_episodes_by_their_return() -> None:
    """Episode i's planner adds i in each of three cycles; statistics are over the K episodes and not over their turns.
    UC-103.
    """

    def episode_number(policy: str, prompt: str, sibling: int) -> str:
        return "1"

    tree = grow(episode_number, grower=grow_trajectories)
    assert sorted(group.role for group in tree.groups) == ["planner", "tool"]
    for group in tree.groups:
        assert len(group.samples) == 3 * K
        assert {sample.sibling for sample in group.samples} == set(range(K))
        team = 3 / GOAL
        own = -0.3 if group.role == "tool" else -0.03
        assert rewards(group) == [round(team + own, 9)] * (3 * K)


def test_an_episode_with_more_turns_does_not_weigh_more_in_trajectory_grouping() -> None:
    """Episodes that end early give fewer samples; the baseline is the mean of the episodes' returns."""
    replies = iter(["9", "1", "1", "1"] + ["1"] * 40)

    def first_solves(policy: str, prompt: str, sibling: int) -> str:
        return next(replies) if policy == "planner" else "0"

    tree = grow(first_solves, grower=grow_trajectories)
    planner = score([group for group in tree.groups if group.role == "planner"])[0]
    returns = {sample.sibling: sample.reward for sample in planner.samples}
    turns = [sum(sample.sibling == sibling for sample in planner.samples) for sibling in range(K)]
    assert sorted(turns) == [1, 3, 3, 3]
    by_episode = {sample.sibling: sample.advantage for sample in planner.samples}
    assert sum(by_episode.values()) == pytest.approx(0, abs=1e-9), "centred over episodes"
    assert max(by_episode, key=by_episode.__getitem__) == max(returns, key=returns.__getitem__)


def test_uneven_groups_are_never_merged() -> None:
    """UC-104: two tasks, one sample lost; each group is normalised by itself."""

    def lose_one(policy: str, prompt: str, sibling: int) -> str:
        return "run lost" if policy == "tool" and sibling == 3 else str(sibling)

    groups = score([grow(lose_one).groups[0], grow(by_sibling).groups[0]])
    for group in groups:
        assert sum(sample.advantage for sample in group.samples) == pytest.approx(0, abs=1e-9)

"""Which instances are left out of a batch, and what takes their place."""

import itertools
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from at_grpo.advantages import score
from at_grpo.choices import Filter
from at_grpo.rollouts.filtering import is_kept
from at_grpo.rollouts.trajectories import grow_trajectories
from at_grpo.samples import Group
from at_grpo.seeds import instance_indices
from llm_envs.players import Env
from tests.trainer.rollouts.experiences import make_experience, toy_config
from tests.trainer.rollouts.test_tree import encoder, grow
from tests.trainer.samples import group


def scored(team: list[float], local: list[float]) -> Group:
    """A group whose rewards are the sums of team and local rewards."""
    made = group([one + other for one, other in zip(team, local, strict=True)])
    infos = zip(made.samples, team, local, strict=True)
    for sample, one, other in infos:
        object.__setattr__(sample, "info", {"team_reward": one, "local_reward": other})
    return score([made])[0]


FLAT = scored([0.0, 0.0], [0.0, 0.0])
SHAPED = scored([0.0, 0.0], [-0.3, 0.0])
DECIDED = scored([0.0, 1.0], [0.0, 0.0])


@pytest.mark.parametrize(
    ("groups", "rule", "kept"),
    [
        ([FLAT], Filter.NONE, True),
        ([FLAT], Filter.REWARD, False),
        ([SHAPED], Filter.REWARD, True),
        ([FLAT], Filter.OUTCOME, False),
        ([SHAPED], Filter.OUTCOME, False),
        ([DECIDED], Filter.OUTCOME, True),
        ([SHAPED, DECIDED], Filter.OUTCOME, True),
        ([], Filter.NONE, True),
        ([], Filter.REWARD, False),
    ],
)
def test_instances_are_judged_by_rewards_or_by_outcomes(groups: list[Group], rule: Filter, kept: bool) -> None:
    """UC-112: where all failed and only local penalties differ, the outcome filter keeps nothing; a tool, which has no
    team reward of its own, stays with an instance that was decided at another turn.
    """
    assert is_kept(groups, rule) is kept


def test_float_noise_is_no_difference_in_outcome() -> None:
    """UC-107."""
    assert not is_kept([scored([0.1 + 0.2, 0.3], [0.0, -1.0])], Filter.OUTCOME)


class Obeys:
    """Walks where a tool has said something, and stays where it has not."""

    name = "obeys"

    def act(self, env: Env, agent: str, observation: str) -> str:
        return "3" if "heard 1" in observation else "0"


@pytest.mark.parametrize(("tool", "kept"), [("1", False), ("10", True)])
def test_the_outcome_of_an_episode_is_what_all_its_turns_earned(tool: str, kept: bool) -> None:
    """Trajectory grouping: those of a role that is not trained, too. The tool itself never earns for the team."""
    replies = itertools.cycle(tool)
    untrained = {"frozen": {"planner": Obeys()}, "policies": {"tool": "tool"}}
    groups = score(grow(lambda policy, prompt, sibling: next(replies), grow_trajectories, **untrained).groups)
    assert [sample.info["team_reward"] for sample in groups[0].samples] == [0.0] * len(groups[0].samples)
    assert is_kept(groups, Filter.OUTCOME) is kept
    assert is_kept(groups, Filter.REWARD) is kept


def one_in_three(policy: str, prompt: str, sibling: int) -> str:
    """Only in every third instance do the planner's siblings say different things; the tool's always do."""
    return str(sibling) if policy == "tool" or instance_in(prompt) % 3 == 0 else "1"


def collect(folder: Path, **rollout: Any) -> tuple[list[int], list[int], dict[str, float]]:
    """The places in the run's order of the instances that were played and trained on, and the metrics."""
    config = toy_config(folder, instances=4, **rollout)
    experience, sampler = make_experience(config, one_in_three)
    with experience:
        iteration = experience.collect(0)
        trained = {place(sample.prompt_ids) for batch in iteration.micro_batches for sample in batch.samples}
        return sorted({place(asked.prompt_ids) for asked in sampler.served}), sorted(trained), dict(iteration.metrics)


def instance_in(prompt: str) -> int:
    return int(prompt.split(" of ")[1].split(maxsplit=1)[0])


def place(prompt_ids: Sequence[int]) -> int:
    return instance_in(encoder().tokenizer.decode(list(prompt_ids))) - instance_indices(0, 0, 1)[0]


def test_all_instances_are_trained_on_by_default(tmp_path: Path) -> None:
    played, trained, metrics = collect(tmp_path)
    assert played == trained == [0, 1, 2, 3]
    assert "instances/kept" not in metrics


def test_what_the_filter_leaves_out_is_replaced_until_the_batch_is_full(tmp_path: Path) -> None:
    """UC-112: metrics are about all that was sampled, so that the filter does not flatter them."""
    first = instance_indices(0, 0, 1)[0]
    rest = (-first) % 3
    played, trained, metrics = collect(tmp_path, filter="outcome", refill=30)
    assert trained == [rest, rest + 3, rest + 6, rest + 9]
    assert played == list(range(rest + 10))
    assert (metrics["instances/kept"], metrics["instances/played"]) == (4.0, len(played))
    assert metrics["planner/constant_groups"] > 0.5


@pytest.mark.parametrize("backend", ["vllm", "transformers"])
def test_refilling_ends_with_what_there_is_and_says_so(
    tmp_path: Path, backend: str, caplog: pytest.LogCaptureFixture
) -> None:
    """UC-113: bounded, a clear line in the log, and an empty batch is no error."""
    with caplog.at_level(logging.WARNING):
        played, trained, metrics = collect(tmp_path, backend=backend, filter="outcome", refill=3, k=2, select="greedy")
    assert len(played) == 7
    assert len(trained) == metrics["instances/kept"] < 4
    (said,) = caplog.messages
    assert said.startswith(f"step 0: {len(trained)} of 4 instances are trained on: rollout.filter=outcome left out")
    assert "rollout.refill=3 were tried" in said


@pytest.mark.parametrize("grouping", ["turn", "trajectory"])
def test_an_outcome_that_no_turn_can_have_is_told_with_what_to_set(
    tmp_path: Path, grouping: str, caplog: pytest.LogCaptureFixture
) -> None:
    """UC-178: the filter over turns of tools alone leaves nothing; over whole episodes it may."""
    config = toy_config(tmp_path, instances=2, filter="outcome", grouping=grouping, backend="transformers")
    experience, _ = make_experience(config, lambda policy, prompt, sibling: "1")
    with experience, caplog.at_level(logging.WARNING):
        assert not list(experience.collect(0).micro_batches)
    (said,) = caplog.messages
    assert said.startswith("step 0: 0 of 2 instances are trained on: rollout.filter=outcome left out 2")
    assert ("take rollout.filter=reward or rollout.grouping=trajectory" in said) is (grouping == "turn")

"""Every level of specialisation and both groupings, from a configuration to adapters."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM

import llm_envs
from at_grpo.checkpointing import check_complete, read_config
from at_grpo.config import TrainConfig
from llm_envs.episode import Episode, read_episodes
from tests.trainer.end_to_end import look, process
from tests.trainer.end_to_end.settings import OPTIONS, ROLES, small

GAP = 1e-4  # between a token's log-probability in the sampler and in the trainer, float32; measured: 3e-6


def at_temperatures(config: TrainConfig, **temperatures: float) -> TrainConfig:
    roles = {role: replace(section, temperature=temperatures[role]) for role, section in config.roles.items()}
    return replace(config, roles=roles)


def l0(folder: Path, base: Path) -> TrainConfig:
    return small(folder, base, policies={"solver": "solver"}, options={"roles": "single"}, role={"max_tokens": 12})


def l1(folder: Path, base: Path) -> TrainConfig:
    return at_temperatures(small(folder, base, policies=dict.fromkeys(ROLES, "team")), tool=1.2, planner=0.8)


def trajectories(folder: Path, base: Path) -> TrainConfig:
    return small(folder, base, rollout={"grouping": "trajectory"}, optim={"scale_rewards": "group"})


def near_the_start(folder: Path, base: Path) -> TrainConfig:
    config = small(folder, base)
    return replace(config, policies={name: replace(policy, beta=0.1) for name, policy in config.policies.items()})


def two_tools(folder: Path, base: Path) -> TrainConfig:
    return small(folder, base, options={"agents": {"tool": 2}, "max_cycles": 2})


def l3(folder: Path, base: Path) -> TrainConfig:
    """A base model for each role; the other one is a copy, since it has to play well enough to learn."""
    other = folder.with_name("other_base")
    shutil.copytree(base, other, dirs_exist_ok=True)
    config = small(folder, base)
    return replace(config, policies=config.policies | {"tool": replace(config.policies["tool"], base=str(other))})


SETTINGS = {"L0": l0, "L1": l1, "L3": l3, "trajectories": trajectories, "two tools": two_tools, "KL": near_the_start}
POLICIES = {"L0": {"solver"}, "L1": {"team"}, "L2": set(ROLES)} | {
    name: set(ROLES) for name in ("L3", "trajectories", "two tools", "KL")
}


@pytest.fixture(scope="module")
def runs(warm: Path, base: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A run of two iterations for each setting; the two roles with a policy each are the run that made the base."""
    folder = tmp_path_factory.mktemp("levels")
    made = {name: process.train(setting(folder / name, base)) for name, setting in SETTINGS.items()}
    return made | {"L2": warm}


@pytest.mark.parametrize("name", POLICIES)
def test_a_run_trains_every_policy_and_leaves_a_whole_checkpoint(name: str, runs: dict[str, Path]) -> None:
    """UC-160."""
    first, last = runs[name] / "checkpoint-0", runs[name] / "checkpoint-2"
    for checkpoint in (first, last):
        check_complete(checkpoint)
        assert look.adapters(checkpoint).keys() == POLICIES[name]
    for policy, tensors in look.adapters(last).items():
        start = look.adapters(first)[policy]
        assert not any(torch.equal(tensor, start[key]) for key, tensor in tensors.items())
    assert [line["step"] for line in look.training(runs[name])] == [1, 2]


@pytest.mark.parametrize("name", POLICIES)
def test_every_role_is_trained_on_its_own_replies(name: str, runs: dict[str, Path]) -> None:
    """UC-121: the samples of each role are counted, and add up to what the sampler gave."""
    roles = read_config(runs[name] / "checkpoint-2").roles
    counted = dict.fromkeys(roles, 0.0)
    for line in look.training(runs[name]):
        assert {key.partition("/")[0] for key in line if key.endswith("/reward")} == roles.keys()
        counted = {role: count + line[f"{role}/samples"] for role, count in counted.items()}
    replies = dict.fromkeys(POLICIES[name], 0)
    for entry in look.tape(runs[name]):
        replies[entry["policy"]] += len(entry["replies"]) if name == "trajectories" or len(entry["replies"]) > 1 else 0
    by_policy = dict.fromkeys(POLICIES[name], 0.0)
    for role, section in roles.items():
        by_policy[section.policy] += counted[role]
    assert by_policy == replies
    assert json.loads((runs[name] / "training.json").read_text())["samples"] == counted


@pytest.mark.parametrize("name", POLICIES)
def test_the_base_model_is_bit_equal_after_a_run(name: str, runs: dict[str, Path]) -> None:
    before, after = json.loads((runs[name] / "base_digests.json").read_text())
    assert before == after


def test_adapters_of_a_run_differ_between_roles_and_load_in_plain_peft(runs: dict[str, Path], base: Path) -> None:
    """UC-160."""
    saved = look.adapters(runs["L2"] / "checkpoint-2")
    assert look.distance(saved["tool"], saved["planner"]) > 1e-3
    for policy, tensors in saved.items():
        plain = AutoModelForCausalLM.from_pretrained(base)
        model = PeftModel.from_pretrained(plain, runs["L2"] / "checkpoint-2" / policy)
        loaded = {
            name.replace(".default.", "."): value for name, value in model.state_dict().items() if "lora_" in name
        }
        assert look.distance(loaded, tensors) == 0.0


# ---- what is served is what is trained


@pytest.mark.parametrize("name", POLICIES)
def test_the_sampler_s_log_probabilities_are_the_trainer_s_in_every_iteration(name: str, runs: dict[str, Path]) -> None:
    """UC-137: the ratio is 1 where the weights are equal; at two temperatures for one policy (L1), too."""
    lines = look.training(runs[name])
    gaps = [value for line in lines for key, value in line.items() if key.endswith("sampler_gap_max")]
    assert len(gaps) == 2 * len(read_config(runs[name] / "checkpoint-2").roles)
    assert 0 < max(gaps) < GAP
    ratios = [value for line in lines for key, value in line.items() if key.endswith("importance_ratio_max")]
    assert ratios == pytest.approx([1.0] * len(gaps), abs=0.02)


def test_a_sampler_that_serves_the_adapters_of_yesterday_shows_in_the_gap(base: Path, tmp_path: Path) -> None:
    """The negative control of the test above. UC-142."""
    first, second = look.training(process.train(small(tmp_path / "run", base), fault="stale adapters"))
    for role in ROLES:
        assert first[f"{role}/sampler_gap_max"] < GAP
        assert second[f"{role}/sampler_gap_max"] > 10 * GAP


# ---- evaluation


def test_evaluations_are_on_a_split_of_their_own(runs: dict[str, Path]) -> None:
    """Curves and the choice of a checkpoint come from instances that are neither trained on nor reported on."""
    played = list(read_episodes(runs["L2"] / "evaluated.jsonl"))
    assert {(episode.split, episode.index) for episode in played} == {("validation", index) for index in range(20)}
    trained = [e for path in sorted((runs["L2"] / "episodes").iterdir()) for e in read_episodes(path)]
    assert {episode.split for episode in trained} == {"train"}
    held_out = {start_of("test", index) for index in range(200)}
    assert not boards(played) & (boards(trained) | held_out)
    assert boards(trained) & {start_of("train", episode.index) for episode in trained}, "starts are comparable"


def test_evaluations_are_logged_from_the_start_to_the_end(runs: dict[str, Path]) -> None:
    played = list(read_episodes(runs["L2"] / "evaluated.jsonl"))
    logged = {line["step"]: line["eval_success"] for line in look.metrics(runs["L2"]) if "eval_success" in line}
    thirds = [played[start : start + 20] for start in (0, 20, 40)]
    assert logged == {step: sum(episode.success for episode in part) / 20 for step, part in enumerate(thirds)}


def boards(episodes: list[Episode]) -> set[str]:
    return {episode.start for episode in episodes}


def start_of(split: str, index: int) -> str:
    env: Any = llm_envs.make("llm_envs/plan_path-v0", **OPTIONS)
    env.reset(options={"split": split, "index": index})
    return str(env.state())


def test_an_evaluation_leaves_the_metrics_of_training_to_their_own_line(base: Path, tmp_path: Path) -> None:
    """Also where it falls between two lines: every sample is in a line of training, and in one only."""
    run = {"log_steps": 3, "eval_steps": 2, "eval_instances": 5}
    folder = process.train(small(tmp_path / "run", base, optim={"steps": 3}, run=run))
    first, second = look.training(folder)
    assert (first["step"], second["step"]) == (1, 3)
    samples = json.loads((folder / "training.json").read_text())["samples"]
    for role in ROLES:
        assert first[f"{role}/samples"] + 2 * second[f"{role}/samples"] == samples[role]
    evaluations = [line for line in look.metrics(folder) if "eval_success" in line]
    assert [line["step"] for line in evaluations] == [0, 2, 3]
    assert {key for line in evaluations for key in line if not key.startswith("eval_")} == {"step", "epoch"}


# ---- groupings


def test_whole_episodes_are_compared_by_their_returns(runs: dict[str, Path]) -> None:
    """One group an agent and instance, with the replies of K episodes in it; siblings need not share a prompt."""
    for line in look.training(runs["trajectories"]):
        assert [line[f"{role}/groups"] for role in ROLES] == [2, 2]
        assert line["tool/samples"] > 2 * 3, "several turns an episode"
    for line in look.training(runs["L2"]):
        assert line["tool/samples"] == 3 * line["tool/groups"], "in trees each turn is a group"


def test_the_distance_to_a_policy_s_own_start_is_nought_at_its_start(runs: dict[str, Path]) -> None:
    """UC-158."""
    first, second = look.training(runs["KL"])
    for role in ROLES:
        assert first[f"{role}/kl"] == 0.0
        assert second[f"{role}/kl"] > 1e-4
    assert not [key for line in look.training(runs["L2"]) for key in line if key.endswith("/kl")]


def test_agents_of_one_role_share_its_policy(runs: dict[str, Path]) -> None:
    episodes = list(read_episodes(runs["two tools"] / "episodes" / "step-000000.jsonl"))
    for episode in episodes:
        agents = [turn.agent for turn in episode.turns]
        assert agents[:3] == ["tool_0", "tool_1", "planner_0"]
    for line in look.training(runs["two tools"]):
        assert line["tool/samples"] > line["planner/samples"]

"""A mixed run: two roles share a policy, another has one on a base model of its own, and two processes train each.

So there are four processes that train, of which the driver is one.
"""

import json
import os
import random
import signal
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM

from at_grpo.checkpointing import check_complete, part_of
from at_grpo.cli import FAILURE
from at_grpo.config import EnvSection, PolicySection, RoleSection, TrainConfig, UpdateSection
from tests.scale import scaled
from tests.trainer.end_to_end import look, process, vllm_runs
from tests.trainer.end_to_end.settings import small
from tests.trainer.end_to_end.three_env import THREE
from tests.trainer.end_to_end.vllm_runs import ENDLESS, command, said, wait_for, wait_for_step
from tests.trainer.inference.processes import forks_of

STEPS, RESUMED_AT = 3, 1
KILLS = range(1, scaled(fast=1, system=4, long=11))  # beside the one of the fast tier
RATES = {"helper": 4e-3, "leader": 1e-3}
BETA = 0.1


def mixed(folder: Path, base: Path, other_base: Path, steps: int = STEPS) -> TrainConfig:
    run = {"save_steps": 1, "eval_steps": 2, "eval_instances": 4}
    config = small(folder, base, optim={"steps": steps, "weight_decay": 0.01, "micro_batch_size": 3}, run=run)
    seats = {"tool": "helper", "checker": "helper", "planner": "leader"}
    return replace(
        config,
        env=EnvSection(id=THREE, options={"max_cycles": 2}),
        policies={
            "helper": PolicySection(rank=4, lora_alpha=8, learning_rate=RATES["helper"]),
            "leader": PolicySection(rank=8, lora_alpha=16, base=str(other_base), beta=BETA),
        },
        roles={role: RoleSection(policy=policy, max_tokens=8) for role, policy in seats.items()},
        optim=replace(config.optim, learning_rate=RATES["leader"]),
        update=UpdateSection(ranks=2, timeout_s=120.0),
    )


@pytest.fixture(scope="module")
def trained(base: Path, tiny_base_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return process.train(mixed(tmp_path_factory.mktemp("mixed") / "run", base, tiny_base_folder))


def test_each_policy_trains_on_its_base_and_the_checkpoint_is_whole(
    trained: Path, base: Path, tiny_base_folder: Path
) -> None:
    """UC-157, UC-160, UC-161: a checkpoint after every step, with all policies and all optimizers in it."""
    first, last = trained / "checkpoint-0", trained / f"checkpoint-{STEPS}"
    for step in range(STEPS + 1):
        check_complete(trained / f"checkpoint-{step}")
        assert look.adapters(trained / f"checkpoint-{step}").keys() == {"helper", "leader"}
    for policy, tensors in look.adapters(last).items():
        assert look.distance(tensors, look.adapters(first)[policy]) > 1e-4
    for policy, own, rank in (("helper", base, 4), ("leader", tiny_base_folder, 8)):
        model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(own), last / policy)
        loaded = {name.replace(".default.", "."): t for name, t in model.state_dict().items() if "lora_" in name}
        assert look.distance(loaded, look.adapters(last)[policy]) == 0.0
        assert min(loaded[next(iter(loaded))].shape) == rank
    shapes = [{t.shape for t in look.moments(part).values()} for part in (last, part_of(last, "leader"))]
    assert shapes[0] != shapes[1], "each worker's optimizer is its own"


def test_all_that_was_sampled_is_trained_on_by_one_process_or_another(trained: Path) -> None:
    """UC-121; every role's part in the metrics is of all ranks, and the rates and the reference are its policy's."""
    counted = json.loads((trained / "training.json").read_text())["samples"]
    lines = look.training(trained)
    assert [line["step"] for line in lines] == list(range(1, STEPS + 1))
    for role in ("tool", "checker", "planner"):
        assert sum(line[f"{role}/samples"] for line in lines) == counted[role] > 0
        for line in lines:
            assert 0 < line[f"{role}/sampler_gap_max"] < 1e-4, "every policy sampled with the weights it trains"
    for line in lines:
        assert {policy: line[f"{policy}/learning_rate"] for policy in RATES} == RATES
        assert line["loss"] == pytest.approx(line["helper/loss"] + line["leader/loss"], rel=1e-5)
        assert "tool/kl" not in line
    assert lines[0]["planner/kl"] == 0.0
    assert lines[-1]["planner/kl"] > 0.0


def test_the_policies_of_a_run_play_together_from_its_checkpoint(trained: Path) -> None:
    from at_grpo.inference.checkpoint import load_players

    players = load_players(trained / f"checkpoint-{STEPS}")
    assert players.keys() == {"tool", "checker", "planner"}


@pytest.mark.parametrize("kill", [0, *(pytest.param(kill, marks=pytest.mark.system) for kill in KILLS)])
def test_a_worker_that_is_killed_ends_the_run_which_is_resumed_to_the_same_numbers(
    kill: int, trained: Path, base: Path, tiny_base_folder: Path, tmp_path: Path
) -> None:
    """By SIGKILL at a random moment, whichever it is; from a checkpoint before it, the rest is to the bit the same."""
    folder, rng = tmp_path / "run", random.Random(kill)
    running = command(mixed(folder, base, tiny_base_folder, steps=ENDLESS))
    with vllm_runs.ended(running):
        wait_for_step(running, folder, RESUMED_AT + 1 + rng.randrange(3))
        assert running.pid is not None
        workers = forks_of(running.pid)
        assert len(workers) == 3
        victim = rng.choice(workers)
        os.kill(victim, signal.SIGKILL)
        assert process.wait(running) == FAILURE
    last = said(folder).splitlines()[-1]
    policy, rank = [("helper", 1), ("leader", 0), ("leader", 1)][workers.index(victim)]
    expected = f"at-grpo: the update worker of {policy}, rank {rank} of 2 (process {victim}) was ended by SIGKILL."
    assert last.startswith(expected)
    assert last.endswith("Go on from the last checkpoint with --resume.")
    assert "Traceback" not in said(folder)
    wait_for(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers), "the end of the others")

    process.train(mixed(folder, base, tiny_base_folder), folder / f"checkpoint-{RESUMED_AT}")
    ours, theirs = folder / f"checkpoint-{STEPS}", trained / f"checkpoint-{STEPS}"
    assert look.distance(look.weights(ours), look.weights(theirs)) == 0.0
    for part in (Path(), Path("update-workers/leader")):
        assert look.distance(look.moments(ours / part), look.moments(theirs / part)) == 0.0
    assert look.metrics(folder) == look.metrics(trained)
    assert look.distance(look.weights(ours), look.weights(trained / f"checkpoint-{RESUMED_AT}")) > 1e-4


def test_a_worker_that_fails_says_why(base: Path, tiny_base_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    config = mixed(folder, base, tiny_base_folder)
    broken = tmp_path / "broken"
    broken.mkdir()
    for path in tiny_base_folder.iterdir():
        (broken / path.name).write_bytes(path.read_bytes() if path.suffix != ".safetensors" else b"no weights")
    policies = {**config.policies, "leader": replace(config.policies["leader"], base=str(broken))}
    running = command(replace(config, policies=policies))
    with vllm_runs.ended(running):
        assert process.wait(running) == FAILURE
    last = said(folder).splitlines()[-1]
    assert last.startswith("at-grpo: the update worker of leader, rank ")
    assert "failed: " in last


@pytest.mark.system
def test_ranks_that_share_the_work_are_no_other_run_than_one(
    trained: Path, base: Path, tiny_base_folder: Path, tmp_path: Path
) -> None:
    """The gradient of two processes is that of one, here through sampling, training and saving."""
    config = mixed(tmp_path / "run", base, tiny_base_folder)
    alone = process.train(replace(config, update=replace(config.update, ranks=1)))
    first = look.weights(alone / "checkpoint-1")
    assert look.distance(first, look.weights(trained / "checkpoint-1")) < 1e-4
    assert look.distance(first, look.weights(trained / "checkpoint-0")) > 1e-3
    assert torch.isfinite(torch.tensor(look.training(alone)[-1]["loss"]))

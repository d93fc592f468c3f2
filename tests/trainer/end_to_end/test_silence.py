"""Roles that say nothing, replies that are cut, rewards that do not differ: handled and counted."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import AutoTokenizer

from at_grpo.config import EnvSection
from at_grpo.health import CONSTANT_STEPS
from at_grpo.tokenization import PromptEncoder
from tests.trainer.end_to_end import look, process
from tests.trainer.end_to_end.flat_env import FLAT
from tests.trainer.end_to_end.settings import ROLES, small

PROMPT = "tool at 0 0 goal up 1 left 1 blocked 0 0 0 0"


@pytest.fixture(scope="module")
def one_sided(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tool's prompts just fit, the planner's are a few words longer: it never speaks."""
    limit = len(PromptEncoder(AutoTokenizer.from_pretrained(base)).encode(PROMPT))
    folder = tmp_path_factory.mktemp("silent") / "run"
    return process.train(
        small(folder, base, rollout={"max_prompt_tokens": limit}, optim={"steps": 3, "weight_decay": 0.1})
    )


def test_a_step_on_one_role_leaves_the_other_adapter_and_the_base_bit_equal(one_sided: Path) -> None:
    """UC-121. With weight decay, which would move an adapter whose gradient is zero instead of absent."""
    first, last = look.adapters(one_sided / "checkpoint-0"), look.adapters(one_sided / "checkpoint-3")
    assert first.keys() == last.keys() == set(ROLES)
    assert all(torch.equal(tensor, first["planner"][name]) for name, tensor in last["planner"].items())
    assert not any(torch.equal(tensor, first["tool"][name]) for name, tensor in last["tool"].items())
    before, after = json.loads((one_sided / "base_digests.json").read_text())
    assert before == after


def test_a_role_that_never_speaks_is_counted_and_has_no_state(one_sided: Path) -> None:
    """UC-121: no crash, and each role's samples are its spoken turns."""
    for line in look.training(one_sided):
        assert line["stop/prompt_too_long"] == 2, "both instances ended where the planner should have spoken"
        assert line["tool/samples"] == 2 * 3
        assert not [key for key in line if key.startswith("planner/")]
    assert json.loads((one_sided / "training.json").read_text())["samples"] == {"tool": 18, "planner": 0}
    optimizer = torch.load(one_sided / "checkpoint-3" / "optimizer.pt", weights_only=True)
    groups = {group["policy"]: group["params"] for group in optimizer["param_groups"]}
    assert optimizer["state"].keys() == set(groups["tool"])
    assert groups["planner"]


def test_replies_that_are_cut_are_trained_on_and_counted(base: Path, tmp_path: Path) -> None:
    """One token is no program: the tool fails alike in every sibling, which teaches nothing; the planner goes on."""
    config = small(tmp_path / "run", base)
    roles = {"tool": {"max_tokens": 1}, "planner": {"max_tokens": 10}}
    config = replace(config, roles={role: replace(config.roles[role], **roles[role]) for role in ROLES})
    run = process.train(config)
    for line in look.training(run):
        assert line["tool/truncated"] == line["tool/invalid_rate"] == line["tool/completion_length"] == 1.0
        assert line["tool/constant_groups"] == 1.0
        assert line["planner/truncated"] < 1.0
    first, last = look.adapters(run / "checkpoint-0"), look.adapters(run / "checkpoint-2")
    assert look.distance(last["tool"], first["tool"]) == 0.0
    assert look.distance(last["planner"], first["planner"]) > 1e-3


def test_without_any_difference_in_reward_a_run_warns_and_goes_on_and_changes_nothing(
    base: Path, tmp_path: Path
) -> None:
    """UC-106."""
    steps = CONSTANT_STEPS + 1
    config = small(tmp_path / "run", base, rollout={"instances": 1, "k": 2}, optim={"steps": steps})
    run = process.train(replace(config, env=EnvSection(id=FLAT, options={"max_cycles": 1})))
    said = [line for line in (run / process.OUTPUT).read_text().splitlines() if line.startswith("WARNING")]
    for role in ROLES:
        (warning,) = [line for line in said if f"role {role}" in line and "equal rewards" in line]
        assert "100%" in warning
        assert "rollout.k" in warning
    assert [line["step"] for line in look.training(run)] == list(range(1, steps + 1))
    assert all(line["loss"] == line["grad_norm"] == 0.0 for line in look.training(run))
    assert look.distance(look.weights(run / f"checkpoint-{steps}"), look.weights(run / "checkpoint-0")) == 0.0

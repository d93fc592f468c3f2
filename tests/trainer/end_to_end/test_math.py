"""Questions of mathematics, whose answers a judge decides on, are to the trainer an environment like any other."""

from dataclasses import replace
from pathlib import Path

import torch

from at_grpo.config import EnvSection, TrainConfig
from tests.trainer.end_to_end import look, process
from tests.trainer.end_to_end.settings import small

ROLES = ("tool", "reasoner")
# Counts below 30, in one line each: what a model of a few thousand weights hits now and then.
OPTIONS = {"families": "forbidden_seats", "observation": "local", "max_cycles": 2}


def math(folder: Path) -> TrainConfig:
    """Two iterations from a base of the run's own, each role with a policy of its own."""
    config = small(
        folder,
        None,
        policies={role: role for role in ROLES},
        role={"max_tokens": 12},
        rollout={"instances": 3, "k": 8, "max_prompt_tokens": 256},
        run={"eval_steps": 2, "eval_instances": 10},
    )
    return replace(config, env=EnvSection(id="llm_envs/math-v0", options=OPTIONS))


def test_a_family_of_questions_trains_tool_and_reasoner(tmp_path: Path) -> None:
    """Both have samples, most of them valid and not all worth the same, and both adapters move."""
    run = process.train(math(tmp_path / "run"))
    first, last = look.adapters(run / "checkpoint-0"), look.adapters(run / "checkpoint-2")
    assert first.keys() == last.keys() == set(ROLES)
    for role in ROLES:
        assert not any(torch.equal(tensor, first[role][name]) for name, tensor in last[role].items())
    lines = look.training(run)
    assert [line["step"] for line in lines] == [1, 2]
    for line in lines:
        for role in ROLES:
            assert line[f"{role}/samples"] >= 3 * 8
            assert line[f"{role}/invalid_rate"] < 0.5
            assert line[f"{role}/constant_groups"] < 1.0
        assert line["tool/info/program_ran"] > 0.5

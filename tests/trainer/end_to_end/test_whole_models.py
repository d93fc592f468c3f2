"""Whole runs of one policy for both roles whose weights are all trained, in process."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from at_grpo.checkpointing import check_complete
from at_grpo.config import PolicySection, TrainConfig
from tests.trainer.end_to_end import look, process
from tests.trainer.end_to_end.settings import ROLES, small

pytestmark = pytest.mark.system  # for its length; it needs no server

GAP = 1e-4


def full(folder: Path, base: Path, **run: int) -> TrainConfig:
    team = small(
        folder,
        base,
        policies=dict.fromkeys(ROLES, "team"),
        optim={"steps": 2, "learning_rate": 1e-3},
        run={"save_steps": 1, **run},
    )
    return replace(team, policies={"team": PolicySection(weights="full")})


@pytest.fixture(scope="module")
def straight(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return process.train(full(tmp_path_factory.mktemp("full") / "run", base, eval_steps=2, eval_instances=2))


def test_what_is_sampled_is_what_is_trained_in_every_iteration(straight: Path) -> None:
    """UC-137."""
    lines = look.training(straight)
    assert [line["step"] for line in lines] == [1, 2]
    assert all(0 < line[f"{role}/sampler_gap_max"] < GAP for line in lines for role in ROLES)
    assert all(line[f"{role}/samples"] > 0 for line in lines for role in ROLES)


def test_a_checkpoint_is_a_model_with_its_tokenizer_for_plain_transformers(straight: Path, base: Path) -> None:
    checkpoint = straight / "checkpoint-2"
    check_complete(checkpoint)
    model, start = (AutoModelForCausalLM.from_pretrained(one) for one in (checkpoint / "team", base))
    AutoTokenizer.from_pretrained(checkpoint / "team")
    moved = [not torch.equal(value, start.state_dict()[name]) for name, value in model.state_dict().items()]
    assert all(moved)
    card = (checkpoint / "README.md").read_text()
    assert "All weights of" in card
    assert 'AutoModelForCausalLM.from_pretrained("team"' in card
    assert "peft" not in card.partition("## Configuration")[0].lower()


def test_a_run_that_is_resumed_ends_with_the_same_bits(straight: Path, base: Path, tmp_path: Path) -> None:
    config = full(tmp_path / "run", base, eval_steps=2, eval_instances=2)
    process.train(replace(config, optim=replace(config.optim, steps=1)))
    process.train(config, tmp_path / "run" / "checkpoint-1")
    one, other = (
        AutoModelForCausalLM.from_pretrained(run / "checkpoint-2" / "team").state_dict()
        for run in (straight, tmp_path / "run")
    )
    assert all(torch.equal(value, other[name]) for name, value in one.items())

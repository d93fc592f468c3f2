"""A policy whose weights are all trained: gradients, checkpoints, players; servers are in `inference/test_whole.py`."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM

from at_grpo.at_grpo_config import grpo_config
from at_grpo.at_grpo_trainer import ATGRPOTrainer
from at_grpo.checkpointing import committing
from at_grpo.config import ModelSection, PolicySection, RoleSection, TrainConfig
from at_grpo.inference.base import SampleRequest, SamplerError, SamplingParams
from at_grpo.inference.checkpoint import load_players
from at_grpo.inference.transformers import TransformersSampler
from at_grpo.inference.weights import LocalWeights
from at_grpo.policies import build_policies
from at_grpo.samples import Iteration, MicroBatch, Sample
from tests.trainer.tiny_trainer import (
    ROLES,
    KeepGradients,
    base_model,
    cut,
    random_samples,
    relative_error,
    run_config,
    tokenizer,
)

TEAM = {"team": PolicySection(weights="full")}


def rows(seed: int = 0) -> list[Sample]:
    return [replace(row, policy="team") for role in ROLES for row in random_samples(role, 8, seed)]


def batches(seed: int = 0) -> list[MicroBatch]:
    return [batch for role in ROLES for batch in cut([row for row in rows(seed) if row.role == role], 3)]


def config(folder: Path, **optim: Any) -> TrainConfig:
    plain = run_config(folder, **optim)
    roles = {role: RoleSection(policy="team") for role in ROLES}
    return replace(plain, policies=TEAM, roles=roles, run=replace(plain.run, save_steps=1, keep_checkpoints=9))


def trainer_of(settings: TrainConfig, work: Sequence[Sequence[MicroBatch]]) -> tuple[ATGRPOTrainer, KeepGradients]:
    keep = KeepGradients()
    trainer = ATGRPOTrainer(
        build_policies(base_model(), TEAM, seed=0),
        args=grpo_config(settings),
        policies=TEAM,
        temperatures=dict.fromkeys(ROLES, 1.0),
        collect=lambda step: Iteration(work[step], {}),
        commit=lambda checkpoint: committing(checkpoint, settings),
        processing_class=tokenizer(),
        callbacks=[keep],
    )
    return trainer, keep


def tensors(model: Any) -> dict[str, torch.Tensor]:
    return {name: value.detach().clone() for name, value in model.state_dict().items()}


def by_hand(samples: Sequence[Sample]) -> dict[str, torch.Tensor]:
    """The gradient of the token mean of -A log p, which is that of the surrogate where the ratio is 1."""
    model, total = base_model(), torch.zeros(())
    for row in samples:
        ids = torch.tensor([[*row.prompt_ids, *row.completion_ids]])
        logps_T_V = model(ids).logits[0, len(row.prompt_ids) - 1 : -1].log_softmax(-1)
        total = total - row.advantage * logps_T_V.gather(1, torch.tensor(row.completion_ids)[:, None]).sum()
    (total / sum(len(row.completion_ids) for row in samples)).backward()  # type: ignore[no-untyped-call]
    return {name: p.grad for name, p in model.named_parameters() if p.grad is not None}


def test_the_gradient_of_all_weights_is_that_of_the_written_formula_and_all_of_them_move(tmp_path: Path) -> None:
    trainer, keep = trainer_of(config(tmp_path), [batches()])
    before = tensors(trainer.model)
    trainer.train()
    assert relative_error(keep.gradients, by_hand(rows())) < 1e-5
    assert relative_error(keep.gradients, by_hand(rows()[1:])) > 1e-3
    assert not any(torch.equal(value, tensors(trainer.model)[name]) for name, value in before.items())


def test_a_checkpoint_is_the_whole_model_for_plain_transformers_and_a_run_goes_on_from_it_bit_for_bit(
    tmp_path: Path,
) -> None:
    straight, _ = trainer_of(config(tmp_path / "straight", steps=2), [batches(0), batches(1)])
    straight.train()
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path / "straight" / "checkpoint-2" / "team")
    assert all(torch.equal(value, tensors(loaded)[name]) for name, value in tensors(straight.model).items())

    stopped, _ = trainer_of(config(tmp_path / "stopped", steps=2), [batches(0), batches(1)])
    stopped.args.max_steps = 1
    stopped.train()
    resumed, _ = trainer_of(config(tmp_path / "stopped", steps=2), [batches(0), batches(1)])
    resumed.train(resume_from_checkpoint=str(tmp_path / "stopped" / "checkpoint-1"))
    assert all(torch.equal(value, tensors(straight.model)[name]) for name, value in tensors(resumed.model).items())
    assert not torch.equal(straight.model.lm_head.weight, stopped.model.lm_head.weight), "the second step moved it"


def test_what_is_sampled_and_scored_in_the_process_is_the_trained_model(tmp_path: Path) -> None:
    """Also while the trainer has a forward pass of its own on it."""
    trainer, _ = trainer_of(config(tmp_path), [batches()])
    trainer.train()
    sampler = TransformersSampler(trainer.model, stop_token_ids={2}, pad_id=1, policies=["team"])
    request = SampleRequest("team", (5, 6, 7), 3, 0, SamplingParams(max_tokens=6))
    plain = base_model()
    plain.load_state_dict(trainer.model.state_dict())
    for completion in sampler.generate([request])[0]:
        ids = torch.tensor([[5, 6, 7, *completion.token_ids]])
        logps = plain(ids).logits[0, 2:-1].log_softmax(-1).gather(1, torch.tensor(completion.token_ids)[:, None])[:, 0]
        assert completion.logprobs == pytest.approx(logps.tolist(), abs=1e-5)
        scores = LocalWeights(trainer.model, ["team"]).scores("team", (5, 6, 7), completion.token_ids)
        assert scores == pytest.approx(logps.tolist(), abs=1e-5)
    with pytest.raises(SamplerError, match="must be one of team"):
        sampler.check(replace(request, policy="planner"))


def test_the_saved_policy_plays(tmp_path: Path, tiny_base_folder: Path) -> None:
    settings = replace(config(tmp_path), model=ModelSection(base=str(tiny_base_folder)))
    model = AutoModelForCausalLM.from_pretrained(tiny_base_folder)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.05)
    checkpoint = tmp_path / "checkpoint-3"
    with committing(checkpoint, settings):
        LocalWeights(model, ["team"]).save("team", _made(checkpoint) / "team")
        _tokenizer_of(tiny_base_folder, checkpoint / "team")
    players = load_players({"tool": checkpoint})
    sampler: Any = players["tool"]._sampler
    assert all(torch.equal(value, tensors(sampler._model)[name]) for name, value in tensors(model).items())


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def _tokenizer_of(base: Path, folder: Path) -> None:
    from transformers import AutoTokenizer

    AutoTokenizer.from_pretrained(base).save_pretrained(folder)

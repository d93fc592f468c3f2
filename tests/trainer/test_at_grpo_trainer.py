"""What one iteration of `ATGRPOTrainer.train()` does to gradients and weights."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from datasets import Dataset
from transformers import TrainerCallback
from trl import GRPOTrainer

from at_grpo.at_grpo_config import grpo_config
from at_grpo.at_grpo_trainer import ATGRPOTrainer
from at_grpo.config import PolicySection
from at_grpo.samples import MicroBatch
from tests.trainer.tiny_trainer import (
    ROLES,
    adapter_tensors,
    base_tensors,
    cut,
    make_trainer,
    peft_model,
    random_samples,
    relative_error,
    run_config,
    tokenizer,
)

TOLERANCE = 1e-5  # the noise floor in fp32 is 1.7e-6 (the same batch with 16 columns of padding more)


def rows(planner: int = 24, tool: int = 17) -> dict[str, list[Any]]:
    return {"planner": random_samples("planner", planner, 0), "tool": random_samples("tool", tool, 0)}


def gradients(folder: Path, batches: list[MicroBatch], **kwargs: Any) -> dict[str, torch.Tensor]:
    trainer, keep = make_trainer(run_config(folder, **kwargs.pop("optim", {})), [batches], **kwargs)
    trainer.train()
    return keep.gradients


def streamed(size: int = 5) -> list[MicroBatch]:
    """Micro-batches of both roles, interleaved as they would arrive."""
    parts = [cut(samples, size) for samples in rows().values()]
    return [batch for pair in zip(*parts, strict=False) for batch in pair] + parts[0][len(parts[1]) :]


def whole() -> list[MicroBatch]:
    return [cut(samples, len(samples))[0] for samples in rows().values()]


class MeanOfMeans(ATGRPOTrainer):
    """The fault that streaming invites: each micro-batch normalised by its own tokens."""

    def _compute_loss(self, model: Any, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        return super()._compute_loss(model, inputs) / inputs["completion_mask"].sum() * 8


def test_the_streamed_gradient_equals_that_of_one_batch_per_policy(tmp_path: Path) -> None:
    expected = gradients(tmp_path, whole())
    assert relative_error(gradients(tmp_path, streamed()), expected) < TOLERANCE
    assert relative_error(gradients(tmp_path, streamed(1)), expected) < TOLERANCE
    wrong = gradients(tmp_path, streamed(), trainer_class=MeanOfMeans)
    scale = sum(float((wrong[n] * expected[n]).sum()) for n in wrong) / sum(
        float(w.square().sum()) for w in wrong.values()
    )
    assert relative_error({n: w * scale for n, w in wrong.items()}, expected) > 0.01, "even at the best scale it is off"


def test_trls_own_loss_gives_the_same_gradient_on_the_same_samples(tmp_path: Path) -> None:
    ours = gradients(tmp_path, streamed())
    for role in ROLES:
        theirs = _stock_gradients(tmp_path, role, rows()[role])
        mine = {name: value for name, value in ours.items() if f".{role}." in name}
        assert relative_error(mine, theirs) < TOLERANCE
        shifted = [replace(row, advantage=row.advantage + 0.1) for row in rows()[role]]
        assert relative_error(mine, _stock_gradients(tmp_path, role, shifted)) > 0.01


def _stock_gradients(folder: Path, role: str, samples: list[Any]) -> dict[str, torch.Tensor]:
    """Gradients of TRL's untouched trainer, the batch whole, the normaliser its token count."""
    config = run_config(folder)
    model = peft_model(config)
    args = grpo_config(config)
    trainer = GRPOTrainer(
        model,
        reward_funcs=lambda completions, **_: [0.0] * len(completions),
        args=args,
        train_dataset=Dataset.from_dict({"prompt": ["", ""]}),
        processing_class=tokenizer(),
    )
    model.set_adapter(role)
    batch = cut(samples, len(samples))[0]
    inputs = batch.tensors(pad_id=1) | {"num_items_in_batch": torch.tensor(float(batch.tokens))}
    trainer.current_gradient_accumulation_steps = 1
    model.train()
    trainer.compute_loss(model, inputs).backward()
    return {n: p.grad for n, p in model.named_parameters() if p.grad is not None}


def test_a_step_on_one_role_leaves_the_other_adapter_and_the_base_bit_equal(tmp_path: Path) -> None:
    """Also with weight decay and momentum: the silent policy keeps grad None, so AdamW does not see it. UC-121."""
    both, only_tool = streamed(), cut(rows()["tool"], 4)
    config = run_config(tmp_path, steps=2, weight_decay=0.1)
    model = peft_model(config)
    trainer, _ = make_trainer(config, [both, only_tool], model=model)
    before: dict[str, Any] = {}

    class Between(TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if state.global_step == 1:
                before.update(
                    planner=adapter_tensors(model, "planner"),
                    tool=adapter_tensors(model, "tool"),
                    base=base_tensors(model),
                )

    trainer.add_callback(Between())
    trainer.train()
    assert all(torch.equal(value, base_tensors(model)[name]) for name, value in before["base"].items())
    assert all(torch.equal(value, adapter_tensors(model, "planner")[name]) for name, value in before["planner"].items())
    assert not any(torch.equal(value, adapter_tensors(model, "tool")[name]) for name, value in before["tool"].items())


def test_zero_gradients_instead_of_none_would_move_a_silent_adapter(tmp_path: Path) -> None:
    """The negative control of the test above."""
    config = run_config(tmp_path, steps=2, weight_decay=0.1)
    model = peft_model(config)

    class ZeroGradients(ATGRPOTrainer):
        def training_step(self, *args: Any, **kwargs: Any) -> torch.Tensor:
            loss = super().training_step(*args, **kwargs)
            for parameter in self.parameters["planner"]:
                parameter.grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            return loss

    start = adapter_tensors(model, "planner")
    trainer, _ = make_trainer(config, [cut(rows()["tool"], 4)] * 2, model=model, trainer_class=ZeroGradients)
    trainer.train()
    assert not any(torch.equal(value, adapter_tensors(model, "planner")[name]) for name, value in start.items())


def test_an_iteration_without_any_sample_changes_nothing(tmp_path: Path) -> None:
    config = run_config(tmp_path)
    model = peft_model(config)
    start = {**adapter_tensors(model, "planner"), **adapter_tensors(model, "tool")}
    trainer, _ = make_trainer(config, [[]], model=model)
    trainer.train()
    now = {**adapter_tensors(model, "planner"), **adapter_tensors(model, "tool")}
    assert all(torch.equal(value, now[name]) for name, value in start.items())


def test_each_policy_is_clipped_by_itself(tmp_path: Path) -> None:
    loud = [replace(row, advantage=row.advantage * 1000) for row in rows()["tool"]]
    batches = cut(rows()["planner"], 24) + cut(loud, 17)
    free = gradients(tmp_path, batches)
    clipped = gradients(tmp_path, batches, optim={"max_grad_norm": 0.05})
    for role in ROLES:
        norm = math.sqrt(sum(float(v.square().sum()) for n, v in clipped.items() if f".{role}." in n))
        assert norm == pytest.approx(0.05, rel=1e-3), "a loud policy must not take the quiet one's step"
    assert math.sqrt(sum(float(v.square().sum()) for v in free.values())) > 1


def test_the_correction_multiplies_each_token_by_its_truncated_ratio(tmp_path: Path) -> None:
    """With the sampler's log-probabilities far below the trainer's, every ratio meets the cap: the gradient doubles."""
    low = {
        role: [replace(row, logprobs=tuple(-50.0 for _ in row.logprobs)) for row in samples]
        for role, samples in rows().items()
    }
    batches = [cut(samples, 6)[i] for samples in low.values() for i in range(len(cut(samples, 6)))]
    plain = gradients(tmp_path, batches)
    corrected = gradients(tmp_path, batches, optim={"importance_cap": 2.0})
    assert relative_error(corrected, {name: 2 * value for name, value in plain.items()}) < TOLERANCE
    assert relative_error(corrected, plain) > 0.5


def test_each_role_is_trained_at_its_own_temperature(tmp_path: Path) -> None:
    base = gradients(tmp_path, streamed())
    mixed = gradients(tmp_path, streamed(), temperatures={"planner": 1.0, "tool": 0.5})

    def of(role: str, values: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        return {name: value for name, value in values.items() if f".{role}." in name}

    assert relative_error(of("planner", mixed), of("planner", base)) < TOLERANCE
    assert relative_error(of("tool", mixed), of("tool", base)) > 0.1


def test_the_kl_gradient_is_that_of_the_written_formula(tmp_path: Path) -> None:
    """k3 estimator against the base, times the ratio of the current policy (which is 1 but has a gradient)."""
    config = replace(
        run_config(tmp_path),
        policies={
            "planner": PolicySection(rank=8, lora_alpha=16, beta=0.3),
            "tool": PolicySection(rank=8, lora_alpha=16),
        },
    )
    samples = rows()["planner"]
    trainer, keep = make_trainer(config, [cut(samples, 5)])
    trainer.train()
    assert relative_error(keep.gradients, _kl_by_hand(config, samples, beta=0.3)) < TOLERANCE
    assert relative_error(keep.gradients, _kl_by_hand(config, samples, beta=0.0)) > 0.01


def test_the_divergence_of_every_role_starts_at_zero(tmp_path: Path) -> None:
    """UC-158: each policy's reference is its own start. Adapters that have moved (the control) are away from it."""
    policy = PolicySection(rank=8, lora_alpha=16, beta=0.1)
    config = replace(run_config(tmp_path), policies=dict.fromkeys(ROLES, policy))

    def divergences(*, moved: bool) -> list[float]:
        trainer, _ = make_trainer(config, [streamed()], model=peft_model(config, planted=moved))
        trainer.train()
        return [trainer.state.log_history[0][f"{role}/kl"] for role in ROLES]

    assert divergences(moved=False) == [0.0, 0.0]
    assert all(value > 1e-3 for value in divergences(moved=True))


def _kl_by_hand(config: Any, samples: list[Any], beta: float) -> dict[str, torch.Tensor]:
    model = peft_model(config)
    model.set_adapter("planner")
    total = torch.zeros(())
    for row in samples:
        ids = torch.tensor([[*row.prompt_ids, *row.completion_ids]])
        target = torch.tensor(row.completion_ids)[:, None]
        at = slice(len(row.prompt_ids) - 1, -1)
        logps_T = model(ids).logits[0, at].log_softmax(-1).gather(1, target)[:, 0]
        with torch.no_grad(), model.disable_adapter():
            ref_T = model(ids).logits[0, at].log_softmax(-1).gather(1, target)[:, 0]
        ratio_T = (logps_T - logps_T.detach()).exp()
        kl_T = ((ref_T - logps_T).exp() - (ref_T - logps_T) - 1) * ratio_T
        total = total + (-ratio_T * row.advantage + beta * kl_T).sum()
    (total / sum(len(row.completion_ids) for row in samples)).backward()
    return {n: p.grad for n, p in model.named_parameters() if p.grad is not None}


def test_a_gradient_that_is_not_finite_stops_the_run_and_names_step_and_policy(tmp_path: Path) -> None:
    """UC-029."""
    config = run_config(tmp_path)
    model = peft_model(config)
    before = adapter_tensors(model, "tool")
    bad = [replace(rows()["tool"][0], advantage=math.inf)]
    trainer, _ = make_trainer(config, [cut(bad, 1)], model=model)
    with pytest.raises(FloatingPointError, match=r"step 0.*'tool'"):
        trainer.train()
    assert all(torch.equal(value, adapter_tensors(model, "tool")[name]) for name, value in before.items())


@pytest.mark.parametrize("loss_type", ["grpo", "bnpo", "dr_grpo", "luspo", "sapo"])
def test_a_loss_that_averages_inside_a_micro_batch_is_refused(tmp_path: Path, loss_type: str) -> None:
    args = grpo_config(run_config(tmp_path))
    args.loss_type = loss_type
    with pytest.raises(ValueError, match="plain sums"):
        ATGRPOTrainer(
            peft_model(run_config(tmp_path)),
            args=args,
            policies={},
            temperatures={},
            collect=lambda step: None,
            processing_class=tokenizer(),
        )  # type: ignore[arg-type,return-value]


def test_a_checkpoint_whose_policies_are_ordered_otherwise_is_refused(tmp_path: Path) -> None:
    config = run_config(tmp_path, steps=1)
    config = replace(config, run=replace(config.run, save_steps=1))
    trainer, _ = make_trainer(config, [streamed()])
    trainer.train()
    swapped = replace(config, policies=dict(reversed(config.policies.items())), optim=replace(config.optim, steps=2))
    other, _ = make_trainer(swapped, [streamed()] * 2)
    with pytest.raises(ValueError, match="keep their names and their order"):
        other.train(resume_from_checkpoint=str(tmp_path / "checkpoint-1"))


def test_every_role_has_its_own_adapter_in_the_checkpoint(tmp_path: Path) -> None:
    """UC-160."""
    config = run_config(tmp_path)
    config = replace(config, run=replace(config.run, save_steps=1))
    trainer, _ = make_trainer(config, [streamed()])
    trainer.train()
    files = {role: (tmp_path / "checkpoint-1" / role / "adapter_model.safetensors").read_bytes() for role in ROLES}
    assert files["planner"] != files["tool"]


def test_trained_tokens_are_exactly_the_sampled_ones(tmp_path: Path) -> None:
    """The prompt and the padding get no gradient through the loss: changing a padded column changes nothing. UC-119,
    UC-136.
    """
    batch = cut(rows()["planner"], 24)[0]
    tensors = batch.tensors(pad_id=1)
    assert (
        int(tensors["completion_mask"].sum()) == batch.tokens == sum(len(row.completion_ids) for row in batch.samples)
    )
    for row, ids, mask in zip(batch.samples, tensors["completion_ids"], tensors["completion_mask"], strict=True):
        assert tuple(ids[mask.bool()].tolist()) == row.completion_ids
    for row, ids, mask in zip(batch.samples, tensors["prompt_ids"], tensors["prompt_mask"], strict=True):
        assert tuple(ids[mask.bool()].tolist()) == row.prompt_ids

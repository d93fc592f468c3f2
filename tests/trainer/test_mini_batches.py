"""Several optimizer steps on one version: who shares a step, and what the steps do."""

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from peft import PeftModel

from at_grpo.at_grpo_trainer import ATGRPOTrainer
from at_grpo.mini_batches import MiniBatches
from at_grpo.samples import MicroBatch, Sample
from tests.scale import scaled
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
)

TOLERANCE = 1e-5
PLANS = [MiniBatches(count=2, epochs=2, rows=5), MiniBatches(count=2, rows=4), MiniBatches(epochs=3, rows=4)]


def rows() -> dict[str, list[Sample]]:
    return {"planner": random_samples("planner", 11, 0), "tool": random_samples("tool", 5, 0)}


# ---- who shares a step


@given(
    planner=st.integers(0, 12),
    tool=st.integers(0, 12),
    plan=st.builds(MiniBatches, count=st.integers(1, 5), epochs=st.integers(1, 3), rows=st.integers(1, 6)),
    order=st.randoms(use_true_random=False),
)
def test_every_epoch_holds_every_row_once_and_divides_each_policy_s_rows_evenly(
    planner: int, tool: int, plan: MiniBatches, order: random.Random
) -> None:
    samples = random_samples("planner", planner, 1) + random_samples("tool", tool, 1)
    steps = list(plan.cut(samples, step=3))
    assert len(steps) == plan.count * plan.epochs
    for epoch in range(plan.epochs):
        own = steps[epoch * plan.count : (epoch + 1) * plan.count]
        held = Counter(repr(row) for step in own for batch in step for row in batch.samples)
        assert held == Counter(map(repr, samples))
        for policy, count in (("planner", planner), ("tool", tool)):
            parts = [sum(len(batch.samples) for batch in step if batch.policy == policy) for step in own]
            assert sum(parts) == count
            assert max(parts) - min(parts) <= 1
    assert all(1 <= len(batch.samples) <= plan.rows for step in steps for batch in step)
    assert all({row.role for row in batch.samples} == {batch.role} for step in steps for batch in step)
    shuffled = samples[:]
    order.shuffle(shuffled)
    assert list(plan.cut(shuffled, step=3)) == steps, "whichever row arrived first"


def test_epochs_and_iterations_deal_their_rows_out_anew() -> None:
    samples, plan = random_samples("tool", 12, 0), MiniBatches(count=2, epochs=2, rows=12)
    first, _, again, _ = (frozenset(row.sibling for row in batch.samples) for (batch,) in plan.cut(samples, step=0))
    (other,), *_ = plan.cut(samples, step=1)
    assert first != again
    assert first != frozenset(row.sibling for row in other.samples)


# ---- what the steps do


def sgd_trainer(
    folder: Path,
    batches: Sequence[MicroBatch],
    plan: MiniBatches | None,
    trainer_class: type[ATGRPOTrainer] = ATGRPOTrainer,
    **optim: Any,
) -> ATGRPOTrainer:
    """Plain gradient steps, so that nothing magnifies noise as AdamW does where a gradient is nearly zero."""
    config = run_config(folder, **({"learning_rate": 0.3, "epsilon": 0.05, "importance_cap": 2.0} | optim))
    trainer, _ = make_trainer(config, [batches], trainer_class=trainer_class, mini_batches=plan)
    trainer.args.optim = "sgd"
    return trainer


def trained(trainer: ATGRPOTrainer) -> dict[str, torch.Tensor]:
    trainer.train()
    return {name: value for role in ROLES for name, value in adapter_tensors(trainer.model, role).items()}


def streamed(samples: dict[str, list[Sample]]) -> list[MicroBatch]:
    return [batch for own in samples.values() for batch in cut(own, 4)]


def logps(model: PeftModel, row: Sample) -> torch.Tensor:
    ids = torch.tensor([[*row.prompt_ids, *row.completion_ids]])
    logits_T_V = model(ids).logits[0, len(row.prompt_ids) - 1 : -1]
    return logits_T_V.log_softmax(-1).gather(1, torch.tensor(row.completion_ids)[:, None])[:, 0]


def by_hand(folder: Path, samples: dict[str, list[Sample]], plan: MiniBatches) -> Any:
    """PPO's clipped surrogate written out, one row after another (arXiv 1707.06347, eq. 7), times the truncated ratio
    of the old policy to the sampler.
    """
    model = peft_model(run_config(folder))
    everything = [row for own in samples.values() for row in own]
    old: dict[int, torch.Tensor] = {}
    for row in everything:
        model.set_adapter(row.policy)
        old[id(row)] = logps(model, row).detach()
    for step in plan.cut(everything, 0):
        gradients: dict[str, torch.Tensor] = {}
        for policy in ROLES:
            own = [row for batch in step if batch.policy == policy for row in batch.samples]
            if not own:
                continue
            model.set_adapter(policy)
            model.zero_grad()
            total = torch.zeros(())
            for row in own:
                now_T = logps(model, row)
                ratio_T = (now_T - old[id(row)]).exp()
                clipped_T = ratio_T.clamp(1 - 0.05, 1 + 0.05)
                weight_T = (old[id(row)] - torch.tensor(row.logprobs)).exp().clamp(max=2.0)
                total = total - (torch.minimum(ratio_T * row.advantage, clipped_T * row.advantage) * weight_T).sum()
            (total / sum(len(row.completion_ids) for row in own)).backward()
            gradients |= {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if name in gradients:
                    parameter.sub_(0.3 * gradients[name])
    return {name: value for role in ROLES for name, value in adapter_tensors(model, role).items()}


def moved(after: dict[str, torch.Tensor], folder: Path) -> dict[str, torch.Tensor]:
    model = peft_model(run_config(folder))
    start = {name: value for role in ROLES for name, value in adapter_tensors(model, role).items()}
    return {name: after[name] - start[name] for name in start}


class Unfrozen(ATGRPOTrainer):
    """The fault to be told from it: old log-probabilities that follow the policy, so that no ratio leaves 1."""

    def _compute_loss(self, model: Any, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        inputs.pop("old_per_token_logps", None)
        return super()._compute_loss(model, inputs)


@pytest.mark.parametrize("plan", scaled(fast=PLANS[:1], long=PLANS))
def test_mini_batches_and_epochs_do_what_the_written_formula_does(plan: MiniBatches, tmp_path: Path) -> None:
    """Old log-probabilities are those of the version's start; each policy's mean is over its own tokens of the step."""
    trainer = sgd_trainer(tmp_path, streamed(rows()), plan)
    ours = moved(trained(trainer), tmp_path)
    assert relative_error(ours, moved(by_hand(tmp_path, rows(), plan), tmp_path)) < TOLERANCE
    unfrozen = sgd_trainer(tmp_path, streamed(rows()), plan, Unfrozen)
    assert relative_error(ours, moved(trained(unfrozen), tmp_path)) > 1e-3
    line = trainer.state.log_history[0]
    assert trainer.state.global_step == 1, "an iteration stays one step of the loop"
    assert line["planner/clip_ratio/region_mean"] > 0, "the clip is at work"
    assert line["planner/importance_capped"] > 0


def test_a_token_mean_over_all_policies_or_over_all_rows_would_be_noticed(tmp_path: Path) -> None:
    """The negative control of each policy's own normaliser."""
    plan = MiniBatches(count=2, rows=4)

    class JointMean(ATGRPOTrainer):
        def _finish_gradients(self, report: Any) -> None:
            report.tokens = dict.fromkeys(report.tokens, sum(report.tokens.values()))
            super()._finish_gradients(report)

    ours = moved(trained(sgd_trainer(tmp_path, streamed(rows()), plan)), tmp_path)
    joint = moved(trained(sgd_trainer(tmp_path, streamed(rows()), plan, JointMean)), tmp_path)
    assert relative_error(joint, ours) > 1e-2


def test_one_mini_batch_and_one_epoch_change_nothing_to_the_last_bit(tmp_path: Path) -> None:
    plain = trained(sgd_trainer(tmp_path, streamed(rows()), None))
    single = trained(sgd_trainer(tmp_path, streamed(rows()), MiniBatches(rows=4, seed=5)))
    assert all(torch.equal(value, single[name]) for name, value in plain.items())
    two = trained(sgd_trainer(tmp_path, streamed(rows()), MiniBatches(count=2, rows=4)))
    assert not all(torch.equal(value, two[name]) for name, value in plain.items())


def test_a_policy_with_fewer_rows_than_steps_sits_some_of_them_out(tmp_path: Path) -> None:
    """UC-121: its adapter and its optimizer state stay, also under weight decay; and the base is never touched."""
    steps: list[dict[str, Any]] = []

    class Watched(ATGRPOTrainer):
        def _finish_gradients(self, report: Any) -> None:
            super()._finish_gradients(report)
            steps.append({role: [p.grad is not None for p in self.parameters[role]] for role in ROLES})

    config = run_config(tmp_path, weight_decay=0.1)
    samples = {"planner": random_samples("planner", 8, 0), "tool": random_samples("tool", 1, 0)}
    plan = MiniBatches(count=3, rows=4)
    trainer, _ = make_trainer(config, [streamed(samples)], trainer_class=Watched, mini_batches=plan)
    before = base_tensors(trainer.model)
    trainer.train()
    assert [all(step["planner"]) for step in steps] == [True] * 3
    assert [(any(step["tool"]), all(step["tool"])) for step in steps].count((True, True)) == 1
    assert [any(step["tool"]) for step in steps].count(False) == 2
    counts = {
        group["policy"]: {int(trainer.optimizer.state[p]["step"]) for p in group["params"]}
        for group in trainer.optimizer.param_groups
    }
    assert counts == {"planner": {3}, "tool": {1}}
    assert all(torch.equal(value, base_tensors(trainer.model)[name]) for name, value in before.items())


def test_a_resumed_run_ends_with_the_bits_of_one_that_was_not_stopped(tmp_path: Path) -> None:
    """A version is committed whole: checkpoints lie between iterations, whatever the steps within."""
    plan = MiniBatches(count=2, epochs=2, rows=4, seed=1)
    batches = [streamed(rows()), streamed({role: random_samples(role, 10, 1) for role in ROLES})]

    def run(folder: Path, steps: int, resume: str | None = None) -> Any:
        config = run_config(folder, steps=2)
        config = replace(config, run=replace(config.run, save_steps=1))
        trainer, _ = make_trainer(config, batches, mini_batches=plan)
        trainer.args.max_steps = steps
        trainer.train(resume_from_checkpoint=resume)
        return {name: value for role in ROLES for name, value in adapter_tensors(trainer.model, role).items()}

    straight = run(tmp_path / "straight", 2)
    run(tmp_path / "stopped", 1)
    resumed = run(tmp_path / "stopped", 2, str(tmp_path / "stopped" / "checkpoint-1"))
    assert all(torch.equal(value, resumed[name]) for name, value in straight.items())


def test_the_raw_ratio_is_told_before_it_is_truncated(tmp_path: Path) -> None:
    """UC-139: a gap of 0.01 nat a token is the same ratio for short and long replies; half of the tokens that a sampler
    found far less likely are capped, and the largest ratio shows how far they were off.
    """
    config = run_config(tmp_path)
    model = peft_model(config)
    planner = []
    for row in random_samples("planner", 6, 0):
        model.set_adapter("planner")
        own = logps(model, row).tolist()
        planner.append(replace(row, logprobs=tuple(one - 0.01 for one in own)))
    tool = [
        replace(row, logprobs=tuple(-50.0 if at % 2 else 0.0 for at in range(len(row.completion_ids))))
        for row in random_samples("tool", 6, 0)
    ]
    trainer = sgd_trainer(tmp_path, streamed({"planner": planner, "tool": tool}), None)
    trainer.train()
    line = trainer.state.log_history[0]
    for part in ("min", "mean", "max"):
        assert line[f"planner/importance_ratio_{part}"] == pytest.approx(math.exp(0.01), rel=1e-4)
    assert line["planner/importance_capped"] == 0.0
    tokens = sum(len(row.completion_ids) for row in tool)
    capped = sum(len(row.completion_ids) // 2 for row in tool)
    assert line["tool/importance_capped"] == pytest.approx(capped / tokens)
    assert line["tool/importance_ratio_max"] > 1e15
    assert line["tool/importance_ratio_min"] < 0.5

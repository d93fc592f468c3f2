"""TRL's GRPO trainer for several policies on one base: optimizer, clipping, metrics and checkpoints by policy.

Nothing of the algorithm is here; see `at_grpo_trainer`.
"""

import functools
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, cast

import torch
from datasets import Dataset
from peft import PeftModel
from transformers import PreTrainedModel, PreTrainedTokenizerBase, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

from at_grpo.checkpointing import adapters_of
from at_grpo.config import PolicySection
from at_grpo.policies import forward_per_temperature, policies_of
from at_grpo.samples import MicroBatch
from at_grpo.updates.messages import StepReport
from at_grpo.updates.ranks import Ranks


def _alone(report: StepReport) -> StepReport:
    """No other process has anything to tell."""
    return report


class PolicyTrainer(GRPOTrainer):
    """Runs transformers' training loop over policies that share a base.

    An epoch is one empty batch and an iteration one epoch: where the samples come from is the subclass's business.

    Attributes:
        policies: name -> settings, in the order of the optimizer's parameter groups.
        weights: their weights.
        parameters: name -> that policy's parameters.
    """

    # transformers leaves these open until training starts
    model: Any
    optimizer: Any
    lr_scheduler: Any

    def __init__(
        self,
        model: PeftModel | PreTrainedModel,
        *,
        args: GRPOConfig,
        policies: Mapping[str, PolicySection],
        temperatures: Mapping[str, float],
        assess: Callable[[int], dict[str, float]] | None = None,
        commit: Callable[[Path], AbstractContextManager[object]] = nullcontext,
        gather: Callable[[StepReport], StepReport] = _alone,
        ranks: Ranks | None = None,
        processing_class: PreTrainedTokenizerBase,
        callbacks: list[TrainerCallback] | None = None,
    ) -> None:
        """Set up the loop.

        Args:
            model: holds the policies (`policies.build_policies`).
            args: from `at_grpo_config.grpo_config`.
            policies: name -> settings.
            temperatures: role -> sampling temperature, by which the loss divides the logits too.
            assess: number of the next iteration -> plays the evaluation episodes; returns metrics without the `eval_`
                prefix.
            commit: opened around the writing of a checkpoint folder; what makes it whole or not there.
            gather: what this process has done in an iteration -> what all have.
            ranks: the processes that train these policies with this one, None for no other.
            processing_class: the tokenizer.
            callbacks: of transformers.
        """
        self.policies = dict(policies)
        self._assess = assess
        self._commit = commit
        self._gather = gather
        self._ranks = ranks
        self._norm = torch.tensor(0.0)
        self.weights = policies_of(model, self.policies)
        base = self.weights.core
        plain_forward = base.forward  # TRL replaces it with one that has a temperature built in
        super().__init__(
            model=model,
            args=args,
            reward_funcs=[lambda completions, **_: [0.0] * len(completions)],  # demanded by TRL, never called
            train_dataset=Dataset.from_dict({"prompt": [""]}),
            eval_dataset=Dataset.from_dict({"prompt": [""]}),
            processing_class=processing_class,
            callbacks=callbacks,
        )
        self.parameters = self.weights.parameters()
        self._forwards = forward_per_temperature(base, plain_forward, set(temperatures.values()))
        self._temperatures = dict(temperatures)
        # A micro-batch holds one policy, so DDP would wait for gradients that never come.
        self.accelerator.prepare_model = functools.partial(self.accelerator.prepare_model, evaluation_mode=True)

    def get_train_dataloader(self) -> Any:
        return [{}]

    def create_optimizer(self, model: Any = None) -> torch.optim.Optimizer:
        """One parameter group a policy, so that a silent policy's state does not move."""
        self.weights.thaw()
        if self.optimizer is None:
            optimizer_class, kwargs = self.get_optimizer_cls_and_kwargs(self.args, self.model)
            groups = [
                {
                    "params": self.parameters[name],
                    "weight_decay": self.args.weight_decay,
                    "lr": section.learning_rate or self.args.learning_rate,
                    "policy": name,
                }
                for name, section in self.policies.items()
            ]
            self.optimizer = optimizer_class(groups, **kwargs)
        return cast("torch.optim.Optimizer", self.optimizer)

    def _prepare_for_training(self, *args: Any, **kwargs: Any) -> Any:
        prepared = super()._prepare_for_training(*args, **kwargs)  # type: ignore[no-untyped-call]
        if self._ranks is not None:
            self._ranks.meet(self.parameters)
        return prepared

    def clip(self) -> dict[str, float]:
        """Clip each policy by itself: one policy's spike must not shrink another's step. Returns the norms before."""
        norms = {}
        for name, parameters in self.parameters.items():
            present = [parameter for parameter in parameters if parameter.grad is not None]
            if present:
                norm = torch.nn.utils.clip_grad_norm_(present, self.args.max_grad_norm)
                if not torch.isfinite(norm):  # clipping would have turned every gradient of the policy into NaN
                    raise FloatingPointError(
                        f"step {self.state.global_step}: the gradient of policy {name!r} is not finite, so no step was "
                        "taken. Lower optim.learning_rate, or set model.dtype to float32 or bfloat16."
                    )
                norms[name] = norm.item()
        return norms

    def _clip_grad_norm(self, model: Any) -> torch.Tensor:
        """The joint norm, for transformers' log: `clip` has done the rest."""
        return self._norm

    def learning_rates(self) -> dict[str, float]:
        """Policy -> learning rate of the step that comes; transformers logs only the first policy's."""
        return {group["policy"]: group["lr"] for group in self.optimizer.param_groups}

    def step_within(self) -> None:
        """An optimizer step that is not the iteration's last, which is transformers', as is the schedule's."""
        self.control = self.callback_handler.on_pre_optimizer_step(self.args, self.state, self.control)
        self.optimizer.step()
        self.control = self.callback_handler.on_optimizer_step(self.args, self.state, self.control)
        self.model.zero_grad()

    # ---- the model as one of its policies

    def activate(self, micro_batch: MicroBatch) -> Any:
        """Make the model the micro-batch's policy at its role's temperature; returns the tensors on its device."""
        self.weights.activate(micro_batch.policy)
        self.weights.core.forward = self._forwards[self._temperatures[micro_batch.role]]
        return self._prepare_input(micro_batch.tensors(self._tokenizer.pad_token_id))

    def reference_logps(self, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        """Log-probabilities of the policy's own start."""
        with self.weights.start():
            return self.logps(inputs)

    @torch.no_grad()
    def logps(self, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        """Log-probabilities of the completions (B, T) by the model as it is, apart from any loss."""
        ids = torch.cat([inputs["prompt_ids"], inputs["completion_ids"]], dim=1)
        mask = torch.cat([inputs["prompt_mask"], inputs["completion_mask"]], dim=1)
        logps_B_T, _, _ = super()._get_per_token_logps_and_entropies(
            self.model, ids, mask, inputs["completion_ids"].size(1)
        )
        return cast("torch.Tensor", logps_B_T)

    # ---- logs and evaluation

    def add_metrics(self, metrics: Mapping[str, float]) -> None:
        """Metrics of this iteration; TRL averages them over the iterations of a log line."""
        for key, value in metrics.items():
            self._metrics["train"][key].append(value)

    @contextmanager
    def scratch_metrics(self) -> Iterator[dict[str, list[float]]]:
        """Catches what TRL logs for a micro-batch, to be weighted by tokens instead of averaged over micro-batches."""
        outer = self._metrics
        own: defaultdict[str, list[float]] = defaultdict(list)
        self._metrics = {"train": own, "eval": defaultdict(list)}
        try:
            yield own
        finally:
            self._metrics = outer

    def evaluate(self, *args: Any, **kwargs: Any) -> dict[str, float]:
        """Play the evaluation episodes; TRL's would generate single turns."""
        measured = self._assess(self.state.global_step) if self._assess else {}
        metrics = {f"eval_{key}": value for key, value in measured.items()}
        self.model.eval()  # TRL logs what it has gathered in the model's mode, and training may wait for its own line
        self.log(metrics)
        self.model.train()
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    # ---- checkpoints

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        with self._commit(Path(str(self.args.output_dir)) / f"checkpoint-{self.state.global_step}"):
            super()._save_checkpoint(model, trial)  # type: ignore[no-untyped-call]

    def save_under(self, folder: Path) -> Path:
        """Write a checkpoint below a folder other than the run's; returns where it is."""
        self.args.output_dir = str(folder)
        self._save_checkpoint(self.model, None)
        return folder / f"checkpoint-{self.state.global_step}"

    def create_model_card(self, *args: Any, **kwargs: Any) -> None:
        """Written once at the end by `model_card`, not with every checkpoint."""

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        super()._save(str(self.weights.home(Path(output_dir or str(self.args.output_dir)))), state_dict)

    def _load_from_checkpoint(self, checkpoint: str, model: Any = None) -> None:
        self.weights.load(adapters_of(Path(checkpoint)))

    def _load_optimizer_and_scheduler(self, checkpoint: str | None) -> None:
        """Optimizer and schedule; torch restores by position, so the policies' order is checked."""
        if checkpoint is None:
            return
        optimizer = _load(checkpoint, "optimizer.pt")
        saved = [group.get("policy") for group in optimizer["param_groups"]]
        if saved != list(self.policies):
            raise ValueError(
                f"policies={list(self.policies)}: the checkpoint has {saved}; keep their names and their order"
            )
        self.optimizer.load_state_dict(optimizer)
        self.lr_scheduler.load_state_dict(_load(checkpoint, "scheduler.pt"))


def _load(checkpoint: str, name: str) -> Any:
    return torch.load(Path(checkpoint) / name, map_location="cpu", weights_only=True)


def token_means(stats: Mapping[str, list[tuple[int, dict[str, float]]]]) -> dict[str, float]:
    """TRL's micro-batch metrics per role, weighted by tokens; extremes stay extremes."""
    metrics = {}
    for role, parts in stats.items():
        for key in parts[0][1]:
            values = [(tokens, own[key]) for tokens, own in parts if not math.isnan(own[key])]
            if not values:
                continue
            if key.endswith("_max"):
                metrics[f"{role}/{key}"] = max(value for _, value in values)
            elif key.endswith("_min"):
                metrics[f"{role}/{key}"] = min(value for _, value in values)
            else:
                metrics[f"{role}/{key}"] = sum(n * value for n, value in values) / sum(n for n, _ in values)
    return metrics

"""`ATGRPOTrainer`: TRL's GRPO trainer for several policies on one base, fed by tree-structured rollouts.

What stays TRL's: the loss, log-probabilities and entropies, logging. What stays transformers': the loop, optimizer,
schedule, callbacks, checkpoints. What is ours: where samples come from, and that each policy's gradient is the token
mean over that policy's whole batch, whatever the micro-batches.
"""

import functools
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, cast

import torch
from datasets import Dataset
from peft import PeftModel
from transformers import PreTrainedTokenizerBase, TrainerCallback
from trl import GRPOConfig, GRPOTrainer
from trl.trainer.utils import add_fused_lm_head

from at_grpo.config import PolicySection
from at_grpo.policies import policy_parameters
from at_grpo.samples import Iteration, MicroBatch

PLAIN_SUMS = ("dapo", "cispo")  # the losses of TRL that are sums over tokens; the others average inside a micro-batch


class ATGRPOTrainer(GRPOTrainer):
    """One base model, one or more LoRA policies on it, one optimizer step an iteration."""

    # transformers leaves these open until training starts
    model: Any
    optimizer: Any
    lr_scheduler: Any

    def __init__(
        self,
        model: PeftModel,
        *,
        args: GRPOConfig,
        policies: Mapping[str, PolicySection],
        temperatures: Mapping[str, float],
        collect: Callable[[int], Iteration],
        assess: Callable[[], dict[str, float]] | None = None,
        commit: Callable[[Path], AbstractContextManager[object]] = nullcontext,
        processing_class: PreTrainedTokenizerBase,
        callbacks: list[TrainerCallback] | None = None,
    ) -> None:
        """Args:
            model: a PEFT model with one adapter a policy (`policies.build_policies`).
            args: from `at_grpo_config.grpo_config`.
            policies: name -> settings, in the order of the optimizer's parameter groups.
            temperatures: role -> sampling temperature, by which the loss divides the logits too.
            collect: number of the iteration -> its sealed micro-batches and metrics.
            assess: plays the evaluation episodes; returns metrics without the `eval_` prefix.
            commit: opened around the writing of a checkpoint folder; what makes it whole or not there.

        Raises:
            ValueError: a loss that is not a plain sum over tokens.
        """
        if args.loss_type not in PLAIN_SUMS:
            raise ValueError(
                f"loss_type={args.loss_type!r}: must be one of {', '.join(PLAIN_SUMS)} (plain sums over tokens)"
            )
        self.policies = dict(policies)
        self._collect = collect
        self._assess = assess
        self._commit = commit
        base = model.get_base_model()
        plain_forward = base.forward
        super().__init__(
            model=model,
            args=args,
            reward_funcs=[lambda completions, **_: [0.0] * len(completions)],  # demanded by TRL, never called
            train_dataset=Dataset.from_dict({"prompt": [""]}),
            eval_dataset=Dataset.from_dict({"prompt": [""]}),
            processing_class=processing_class,
            callbacks=callbacks,
        )
        self.use_vllm = args.vllm_importance_sampling_correction  # only gates the ratio in `_compute_loss`
        self._forwards = _forward_per_temperature(base, plain_forward, set(temperatures.values()))
        self._temperatures = dict(temperatures)
        self._parameters = policy_parameters(model, self.policies)
        self._current: dict[str, torch.Tensor] | None = None
        # A micro-batch holds one policy, so DDP would wait for gradients that never come: gradients are summed once,
        # by hand.
        self.accelerator.prepare_model = functools.partial(self.accelerator.prepare_model, evaluation_mode=True)

    # ---- the loop of transformers: an epoch is one empty batch, an iteration is one epoch

    def get_train_dataloader(self) -> Any:
        return [{}]

    def create_optimizer(self, model: Any = None) -> torch.optim.Optimizer:
        """One parameter group a policy, so that a silent policy's state does not move."""
        self.model.set_requires_grad(list(self.policies), True)
        if self.optimizer is None:
            optimizer_class, kwargs = self.get_optimizer_cls_and_kwargs(self.args, self.model)
            decay = self.args.weight_decay
            groups = [
                {"params": self._parameters[name], "weight_decay": decay, "policy": name} for name in self.policies
            ]
            self.optimizer = optimizer_class(groups, **kwargs)
        return cast("torch.optim.Optimizer", self.optimizer)

    # ---- one iteration

    def training_step(self, model: Any, inputs: Any, num_items_in_batch: Any = None) -> torch.Tensor:
        """Collect an iteration and leave each policy the gradient of its token-mean loss; a policy without tokens
        keeps None.

        Returns:
            the sum of the policies' losses, for transformers' log.
        """
        if self.state.global_step == 0:  # the policies before their first step, which every comparison needs
            self._save_checkpoint(self.model, None)
        started = time.perf_counter()
        iteration = self._collect(self.state.global_step)
        collected = time.perf_counter()
        model.train()
        tokens = dict.fromkeys(self.policies, 0)
        losses = dict.fromkeys(self.policies, 0.0)
        stats: dict[str, list[tuple[int, dict[str, float]]]] = defaultdict(list)
        for micro_batch in iteration.micro_batches:
            loss, own = self._backward(model, micro_batch)
            tokens[micro_batch.policy] += micro_batch.tokens
            losses[micro_batch.policy] += loss
            stats[micro_batch.role].append((micro_batch.tokens, own))
        self.model.set_requires_grad(list(self.policies), True)  # activating an adapter froze the others
        active = [name for name in self.policies if tokens[name] > 0]
        for name in active:
            for parameter in self._parameters[name]:
                if parameter.grad is not None:
                    parameter.grad.div_(tokens[name])
        self._step += 1
        self.state.num_input_tokens_seen += sum(tokens.values())
        self.add_metrics(iteration.metrics)
        self.add_metrics(_token_means(stats))
        self.add_metrics({f"{name}/loss": losses[name] / tokens[name] for name in active})
        self.add_metrics({"time/rollout": collected - started, "time/train": time.perf_counter() - collected})
        return torch.tensor(sum(losses[name] / tokens[name] for name in active), device=self.args.device)

    def _backward(self, model: Any, micro_batch: MicroBatch) -> tuple[float, dict[str, float]]:
        """Add a micro-batch's summed loss to its policy's gradient; returns the sum and TRL's metrics of it."""
        if self.model.active_adapter != micro_batch.policy:
            self.model.set_adapter(micro_batch.policy)
        inputs: Any = self._prepare_input(micro_batch.tensors(self._tokenizer.pad_token_id))
        self.model.get_base_model().forward = self._forwards[self._temperatures[micro_batch.role]]
        self.beta = self.policies[micro_batch.policy].beta
        if self.beta != 0.0:
            inputs["ref_per_token_logps"] = self._reference_logps(inputs)
        with self._scratch_metrics() as own, self.compute_loss_context_manager():
            loss = self.compute_loss(model, inputs)
        self.accelerator.backward(loss)
        return loss.item(), {key: values[-1] for key, values in own.items()}

    def _compute_loss(self, model: Any, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        """TRL's loss as a plain sum over tokens, the normaliser being 1."""
        inputs["num_items_in_batch"] = torch.tensor(1.0, device=self.args.device)
        self._current = inputs
        try:
            loss: torch.Tensor = super()._compute_loss(model, inputs)  # type: ignore[no-untyped-call]
            return loss
        finally:
            self._current = None

    def _get_per_token_logps_and_entropies(self, *args: Any, **kwargs: Any) -> Any:
        """TRL's, which also gives the correction for the sampler's numerics: the ratio of this forward to the sampler's
        log-probabilities, truncated, by token. Old and current policy are one here, so no second forward is needed.
        """
        result = super()._get_per_token_logps_and_entropies(*args, **kwargs)
        if self._current is not None and self.use_vllm:
            gap_B_T = (result[0].detach() - self._current["sampling_per_token_logps"]) * self._current[
                "completion_mask"
            ]
            ratio_B_T = gap_B_T.exp().clamp(max=self.vllm_importance_sampling_clip_max)
            self._current["importance_sampling_ratio"] = ratio_B_T
            self._metrics["train"]["sampler_gap_max"].append(gap_B_T.abs().max().item())
            self._metrics["train"]["importance_ratio_max"].append(gap_B_T.max().exp().item())
        return result

    @torch.no_grad()
    def _reference_logps(self, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        """Log-probabilities of the policy's own start, which is the base: fresh adapters have B = 0."""
        ids = torch.cat([inputs["prompt_ids"], inputs["completion_ids"]], dim=1)
        mask = torch.cat([inputs["prompt_mask"], inputs["completion_mask"]], dim=1)
        with self.model.disable_adapter():
            logps_B_T, _, _ = super()._get_per_token_logps_and_entropies(
                self.model, ids, mask, inputs["completion_ids"].size(1)
            )
        return cast("torch.Tensor", logps_B_T)

    def _clip_grad_norm(self, model: Any) -> torch.Tensor:
        """Clip each policy by itself: one policy's spike must not shrink another's step. Returns the joint norm."""
        norms = []
        for name, parameters in self._parameters.items():
            present = [parameter for parameter in parameters if parameter.grad is not None]
            if present:
                norm = torch.nn.utils.clip_grad_norm_(present, self.args.max_grad_norm)
                if not torch.isfinite(norm):  # clipping would have turned every gradient of the policy into NaN
                    raise FloatingPointError(
                        f"step {self.state.global_step}: the gradient of policy {name!r} is not finite, so no step was "
                        "taken. Lower optim.learning_rate, or set model.dtype to float32 or bfloat16."
                    )
                self.add_metrics({f"{name}/grad_norm": norm.item()})
                norms.append(norm)
        return torch.linalg.vector_norm(torch.stack(norms)) if norms else torch.tensor(0.0)

    # ---- logs and evaluation

    def add_metrics(self, metrics: Mapping[str, float]) -> None:
        """Metrics of this iteration; TRL averages them over the iterations of a log line."""
        for key, value in metrics.items():
            self._metrics["train"][key].append(value)

    @contextmanager
    def _scratch_metrics(self) -> Iterator[dict[str, list[float]]]:
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
        metrics = {f"eval_{key}": value for key, value in (self._assess() if self._assess else {}).items()}
        self.log(metrics)
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    # ---- checkpoints

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        with self._commit(Path(str(self.args.output_dir)) / f"checkpoint-{self.state.global_step}"):
            super()._save_checkpoint(model, trial)  # type: ignore[no-untyped-call]

    def create_model_card(self, *args: Any, **kwargs: Any) -> None:
        """Written once at the end by `model_card`, not with every checkpoint."""

    def _load_from_checkpoint(self, checkpoint: str, model: Any = None) -> None:
        for name in self.policies:
            self.model.load_adapter(str(Path(checkpoint) / name), name, is_trainable=True)
        self.model.set_adapter(next(iter(self.policies)))

    def _load_best_model(self) -> None:
        self._load_from_checkpoint(str(self.state.best_model_checkpoint))

    def _load_optimizer_and_scheduler(self, checkpoint: str | None) -> None:
        """Optimizer and schedule; torch restores by position, so the policies' order is checked."""
        if checkpoint is None:
            return
        saved = [group.get("policy") for group in _load(checkpoint, "optimizer.pt")["param_groups"]]
        if saved != list(self.policies):
            raise ValueError(
                f"policies={list(self.policies)}: the checkpoint has {saved}; keep their names and their order"
            )
        self.optimizer.load_state_dict(_load(checkpoint, "optimizer.pt"))
        self.lr_scheduler.load_state_dict(_load(checkpoint, "scheduler.pt"))


def _load(checkpoint: str, name: str) -> Any:
    return torch.load(Path(checkpoint) / name, map_location="cpu", weights_only=True)


def _forward_per_temperature(base: Any, plain_forward: Any, temperatures: set[float]) -> dict[float, Any]:
    """TRL bakes one temperature into the model's fused forward; roles may differ, so there is one forward a
    temperature.
    """
    forwards = {}
    for temperature in temperatures:
        base.forward = plain_forward
        add_fused_lm_head(base, temperature=temperature, outputs=("log_probs", "entropy"))
        forwards[temperature] = base.forward
    return forwards


def _token_means(stats: Mapping[str, list[tuple[int, dict[str, float]]]]) -> dict[str, float]:
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

"""`ATGRPOTrainer`: what one iteration of AT-GRPO does to the policies.

TRL computes log-probabilities, entropies and the loss; transformers runs the loop, the optimizer and the checkpoints.
Ours is where the samples come from, and that each policy's gradient is the token mean over that policy's whole batch,
whatever the micro-batches.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, cast

import torch
from peft import PeftModel
from trl import GRPOConfig

from at_grpo.metrics import step_times
from at_grpo.policies import forward_per_temperature
from at_grpo.policy_trainer import PolicyTrainer, token_means
from at_grpo.samples import Iteration, MicroBatch

PLAIN_SUMS = ("dapo", "cispo")  # the losses of TRL that are sums over tokens; the others average inside a micro-batch


class ATGRPOTrainer(PolicyTrainer):
    """One base model, one or more LoRA policies on it, one optimizer step an iteration (arXiv 2510.11062, Alg. 1)."""

    def __init__(
        self,
        model: PeftModel,
        *,
        args: GRPOConfig,
        temperatures: Mapping[str, float],
        collect: Callable[[int], Iteration],
        **kwargs: Any,
    ) -> None:
        """Set up a trainer.

        Args:
            model: a PEFT model with one adapter a policy (`policies.build_policies`).
            args: from `at_grpo_config.grpo_config`.
            temperatures: role -> sampling temperature, by which the loss divides the logits too.
            collect: number of the iteration -> its micro-batches and metrics.
            **kwargs: see `PolicyTrainer`.

        Raises:
            ValueError: a loss that is not a plain sum over tokens.
        """
        if args.loss_type not in PLAIN_SUMS:
            raise ValueError(
                f"loss_type={args.loss_type!r}: must be one of {', '.join(PLAIN_SUMS)} (plain sums over tokens)"
            )
        base = model.get_base_model()
        plain_forward = base.forward  # TRL replaces it with one that has a temperature built in
        super().__init__(model, args=args, **kwargs)
        self.use_vllm = args.vllm_importance_sampling_correction  # only gates the ratio in `_compute_loss`
        self._forwards = forward_per_temperature(base, plain_forward, set(temperatures.values()))
        self._temperatures = dict(temperatures)
        self._collect = collect
        self._current: dict[str, torch.Tensor] | None = None

    def training_step(self, model: Any, inputs: Any, num_items_in_batch: Any = None) -> torch.Tensor:
        """Collect an iteration and leave each policy the gradient of its token-mean loss; a policy without tokens
        keeps None.

        Returns:
            the sum of the policies' losses, for transformers' log.
        """
        if self.state.global_step == 0:  # the policies before their first step, which every comparison needs
            self._save_checkpoint(self.model, None)
            if self.args.eval_strategy != "no":  # transformers' `eval_on_start` would do it after every resume
                self.evaluate()
        started, training = time.perf_counter(), 0.0
        iteration = self._collect(self.state.global_step)
        model.train()
        tokens = dict.fromkeys(self.policies, 0)
        losses = dict.fromkeys(self.policies, 0.0)
        stats: dict[str, list[tuple[int, dict[str, float]]]] = defaultdict(list)
        for micro_batch in iteration.micro_batches:  # may wait for rollouts that are still going on
            taken = time.perf_counter()
            loss, own = self._backward(model, micro_batch)
            training += time.perf_counter() - taken
            tokens[micro_batch.policy] += micro_batch.tokens
            losses[micro_batch.policy] += loss
            stats[micro_batch.role].append((micro_batch.tokens, own))
        self.model.set_requires_grad(list(self.policies), True)  # activating an adapter froze the others
        active = [name for name in self.policies if tokens[name] > 0]
        for name in active:
            for parameter in self.parameters[name]:
                if parameter.grad is not None:
                    parameter.grad.div_(tokens[name])
        self._step += 1
        self.state.num_input_tokens_seen += sum(tokens.values())
        self.add_metrics(iteration.metrics)
        self.add_metrics(token_means(stats))
        self.add_metrics({f"{name}/loss": losses[name] / tokens[name] for name in active})
        self.add_metrics(step_times(iteration.metrics, time.perf_counter() - started, training))
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
        with self.scratch_metrics() as own, self.compute_loss_context_manager():
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

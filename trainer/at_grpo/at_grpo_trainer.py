"""`ATGRPOTrainer`: what one iteration of AT-GRPO does to the policies.

TRL computes log-probabilities, entropies and the loss; transformers runs the loop, the optimizer and the checkpoints.
Ours is where the samples come from, and that each policy's gradient is the token mean over that policy's whole batch,
whatever the micro-batches.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from peft import PeftModel
from transformers import PreTrainedModel
from trl import GRPOConfig

from at_grpo.metrics import step_times
from at_grpo.mini_batches import MiniBatches
from at_grpo.policy_trainer import PolicyTrainer, token_means
from at_grpo.samples import Iteration, MicroBatch, Sample
from at_grpo.updates.messages import StepReport, add_up

PLAIN_SUMS = ("dapo", "cispo")  # the losses of TRL that are sums over tokens; the others average inside a micro-batch


class ATGRPOTrainer(PolicyTrainer):
    """One base model, one or more policies on it, one step of transformers' loop an iteration (arXiv 2510.11062,
    Alg. 1). That is one optimizer step, or with mini-batches and epochs several.
    """

    def __init__(
        self,
        model: PeftModel | PreTrainedModel,
        *,
        args: GRPOConfig,
        collect: Callable[[int], Iteration],
        mini_batches: MiniBatches | None = None,
        **kwargs: Any,
    ) -> None:
        """Set up a trainer.

        Args:
            model: holds the policies (`policies.build_policies`).
            args: from `at_grpo_config.grpo_config`.
            collect: number of the iteration -> its micro-batches and metrics.
            mini_batches: the optimizer steps of an iteration, None for one.
            **kwargs: see `PolicyTrainer`.

        Raises:
            ValueError: a loss that is not a plain sum over tokens.
        """
        if args.loss_type not in PLAIN_SUMS:
            raise ValueError(
                f"loss_type={args.loss_type!r}: must be one of {', '.join(PLAIN_SUMS)} (plain sums over tokens)"
            )
        super().__init__(model, args=args, **kwargs)
        self.use_vllm = args.vllm_importance_sampling_correction  # only gates the ratio in `_compute_loss`
        self._collect = collect
        self._mini_batches = mini_batches or MiniBatches()
        self._busy_s = 0.0  # of this iteration, in forward and backward passes
        self._current: dict[str, torch.Tensor] | None = None

    def training_step(self, model: Any, inputs: Any, num_items_in_batch: Any = None) -> torch.Tensor:
        """Collect an iteration and leave each policy the gradient of its token-mean loss; a policy without tokens
        keeps None.

        Returns:
            the sum of the policies' losses, for transformers' log.
        """
        if self.state.global_step == 0 and self.args.save_strategy != "no":  # the start, which every comparison needs
            self._save_checkpoint(self.model, None)
            if self.args.eval_strategy != "no":  # transformers' `eval_on_start` would do it after every resume
                self.evaluate()
        started, self._busy_s = time.perf_counter(), 0.0
        iteration = self._collect(self.state.global_step)
        model.train()
        reports: list[StepReport] = []
        for mini_batch in self._optimizer_steps(iteration.micro_batches):
            if reports:
                self.step_within()
            reports.append(self._accumulate(model, mini_batch))
            self._finish_gradients(reports[-1])
        everything = self._gather(add_up(reports))
        norms = [value for key, value in everything.metrics.items() if key.endswith("/grad_norm")]
        self._norm = torch.linalg.vector_norm(torch.tensor(norms))
        self._step += 1
        self.state.num_input_tokens_seen += sum(everything.tokens.values())
        self.add_metrics(iteration.metrics)
        self.add_metrics(token_means(everything.stats))
        self.add_metrics(everything.metrics)
        self.add_metrics(step_times(iteration.metrics, time.perf_counter() - started, self._busy_s))
        return torch.tensor(everything.loss, device=self.args.device)

    def _optimizer_steps(self, micro_batches: Iterable[MicroBatch]) -> Iterator[Iterable[MicroBatch]]:
        """The micro-batches of each optimizer step: all as they come, or those that are dealt out once all are there
        and have the log-probabilities of the weights before the first step.
        """
        if self._mini_batches.single:
            yield micro_batches
            return
        rows = [row for micro_batch in micro_batches for row in self._with_old_logprobs(micro_batch)]
        yield from self._mini_batches.cut(rows, self.state.global_step)

    def _accumulate(self, model: Any, micro_batches: Iterable[MicroBatch]) -> StepReport:
        """Add the summed losses of one optimizer step to the gradients."""
        report = StepReport(dict.fromkeys(self.policies, 0), dict.fromkeys(self.policies, 0.0), {})
        for micro_batch in micro_batches:  # may wait for rollouts that are still going on
            with self._training():
                loss, own = self._backward(model, micro_batch)
            report.tokens[micro_batch.policy] += micro_batch.tokens
            report.losses[micro_batch.policy] += loss
            report.stats.setdefault(micro_batch.role, []).append((micro_batch.tokens, own))
        return report

    @contextmanager
    def _training(self) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self._busy_s += time.perf_counter() - began

    def _finish_gradients(self, report: StepReport) -> None:
        """From the sums of this process to each policy's token mean over all ranks, clipped."""
        self.weights.thaw()
        if self._ranks is not None:
            self._ranks.sum(report.tokens, report.losses, self.parameters)
        active = [name for name in self.policies if report.tokens[name] > 0]
        for name in active:
            for parameter in self.parameters[name]:
                if parameter.grad is not None:
                    parameter.grad.div_(report.tokens[name])
        report.metrics |= {f"{name}/loss": report.losses[name] / report.tokens[name] for name in active}
        report.metrics |= {f"{name}/grad_norm": norm for name, norm in self.clip().items()}
        rates = self.learning_rates()
        report.metrics |= {f"{name}/learning_rate": rates[name] for name in active}

    def _backward(self, model: Any, micro_batch: MicroBatch) -> tuple[float, dict[str, float]]:
        """Add a micro-batch's summed loss to its policy's gradient; returns the sum and TRL's metrics of it."""
        inputs = self.activate(micro_batch)
        self.beta = self.policies[micro_batch.policy].beta
        if self.beta != 0.0:
            inputs["ref_per_token_logps"] = self.reference_logps(inputs)
        with self.scratch_metrics() as own, self.compute_loss_context_manager():
            loss = self.compute_loss(model, inputs)
        self.accelerator.backward(loss)
        return loss.item(), {key: values[-1] for key, values in own.items()}

    def _with_old_logprobs(self, micro_batch: MicroBatch) -> list[Sample]:
        """The rows with the log-probabilities that the policy, as it is now, gives them."""
        with self._training(), self.compute_loss_context_manager():
            logps_B_T = self.logps(self.activate(micro_batch)).tolist()
        return [
            replace(row, old_logprobs=tuple(logps[: len(row.completion_ids)]))
            for row, logps in zip(micro_batch.samples, logps_B_T, strict=True)
        ]

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
        """TRL's, which also gives the correction for what sampled: the ratio of the policy before the version's first
        optimizer step to the sampler, by token, truncated. It is 1 but for numerics where the sampler had the same
        weights. With one step that policy is this very forward, so no second one is needed.
        """
        result = super()._get_per_token_logps_and_entropies(*args, **kwargs)
        if self._current is not None and self.use_vllm:
            old_B_T = self._current.get("old_per_token_logps", result[0].detach())
            mask_B_T = self._current["completion_mask"]
            gap_B_T = (old_B_T - self._current["sampling_per_token_logps"]) * mask_B_T
            cap: Any = self.vllm_importance_sampling_clip_max
            self._current["importance_sampling_ratio"] = gap_B_T.exp().clamp(max=cap)
            self._tell_ratio(gap_B_T[mask_B_T.bool()], cap)
        return result

    def _tell_ratio(self, gap_N: torch.Tensor, cap: float) -> None:
        """Metrics of the correction before it is truncated: logarithms of ratios, a token each."""
        ratio_N, own = gap_N.exp(), self._metrics["train"]
        own["sampler_gap_max"].append(gap_N.abs().max().item())
        own["importance_ratio_min"].append(ratio_N.min().item())
        own["importance_ratio_mean"].append(ratio_N.mean().item())
        own["importance_ratio_max"].append(ratio_N.max().item())
        own["importance_capped"].append((ratio_N > cap).float().mean().item())

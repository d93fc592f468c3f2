"""From a `TrainConfig` to the `GRPOConfig` that TRL and transformers read."""

import torch
from trl import GRPOConfig

from at_grpo.config import TrainConfig


def grpo_config(config: TrainConfig, *, driver: bool = True) -> GRPOConfig:
    """TRL's arguments for a run; `driver`: whether this process logs, evaluates and saves by itself.

    Fixed by the design: one optimizer step an iteration, plain-sum losses, no dropout. The batch sizes are
    placeholders that satisfy TRL's checks; the micro-batches come from the store.
    """
    optim, run = config.optim, config.run
    return GRPOConfig(
        output_dir=run.output_dir,
        seed=run.seed,
        max_steps=optim.steps,
        learning_rate=optim.learning_rate,
        adam_beta1=optim.adam_beta1,
        adam_beta2=optim.adam_beta2,
        weight_decay=optim.weight_decay,
        max_grad_norm=optim.max_grad_norm,
        lr_scheduler_type=optim.scheduler,
        warmup_steps=optim.warmup_steps,
        loss_type=optim.loss_type,
        epsilon=optim.epsilon,
        beta=0.0,  # TRL would look up an adapter called "default"; the trainer applies each policy's own beta
        use_bias_correction_kl=True,  # the KL gradient is that of samples from the current policy
        vllm_importance_sampling_correction=optim.importance_cap > 0,
        vllm_importance_sampling_mode="token_truncate",
        vllm_importance_sampling_clip_max=optim.importance_cap or None,
        temperature=1.0,  # set per role before each micro-batch
        per_device_train_batch_size=2,
        num_generations=2,
        gradient_accumulation_steps=1,
        gradient_checkpointing=False,
        disable_dropout=True,
        bf16=config.model.dtype == "bfloat16",
        fp16=False,
        use_cpu=not torch.cuda.is_available(),
        eval_strategy="steps" if driver and run.eval_steps else "no",
        eval_steps=run.eval_steps or None,
        per_device_eval_batch_size=2,
        save_strategy="steps" if driver else "no",
        save_steps=run.save_steps,
        logging_strategy="steps" if driver else "no",
        logging_steps=run.log_steps,
        logging_first_step=driver,
        logging_nan_inf_filter=False,  # a NaN loss must be seen
        report_to=list(run.report_to) or "none" if driver else "none",
        disable_tqdm=True,
        dataloader_pin_memory=False,
    )

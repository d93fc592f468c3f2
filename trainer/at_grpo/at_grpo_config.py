"""From a `TrainConfig` to the `GRPOConfig` that TRL and transformers read."""

from typing import Any

import torch
from trl import GRPOConfig

from at_grpo.config import TrainConfig

# One optimizer step an iteration and no dropout, by design. The batch sizes are placeholders that satisfy TRL's checks:
# the micro-batches come from the store.
FIXED: dict[str, Any] = {
    "beta": 0.0,  # TRL would look up an adapter called "default"; the trainer applies each policy's own beta
    "use_bias_correction_kl": True,  # the KL gradient is that of samples from the current policy
    "vllm_importance_sampling_mode": "token_truncate",
    "temperature": 1.0,  # set per role before each micro-batch
    "per_device_train_batch_size": 2,
    "per_device_eval_batch_size": 2,
    "num_generations": 2,
    "gradient_accumulation_steps": 1,
    "gradient_checkpointing": False,
    "disable_dropout": True,
    "fp16": False,
    "logging_nan_inf_filter": False,  # a NaN loss must be seen
    "disable_tqdm": True,
    "dataloader_pin_memory": False,
}


def grpo_config(config: TrainConfig, *, driver: bool = True) -> GRPOConfig:
    """TRL's arguments for a run; `driver`: whether this process logs, evaluates and saves by itself."""
    optim, run = config.optim, config.run
    return GRPOConfig(
        **FIXED,
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
        vllm_importance_sampling_correction=optim.importance_cap > 0,
        vllm_importance_sampling_clip_max=optim.importance_cap or None,
        bf16=config.model.dtype == "bfloat16",
        use_cpu=not torch.cuda.is_available(),
        eval_strategy="steps" if driver and run.eval_steps else "no",
        eval_steps=run.eval_steps or None,
        save_strategy="steps" if driver else "no",
        save_steps=run.save_steps,
        logging_strategy="steps" if driver else "no",
        logging_steps=run.log_steps,
        logging_first_step=driver,
        report_to=list(run.report_to) or "none" if driver else "none",
    )

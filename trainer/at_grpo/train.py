"""One run, from a configuration to trained adapters.

The algorithm reads in this order: this file, `rollouts/tree.py` (how episodes are sampled), `advantages.py` (how
replies are scored), `at_grpo_trainer.py` (how policies are updated).
"""

import functools
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

import llm_envs
from at_grpo.at_grpo_config import grpo_config
from at_grpo.at_grpo_trainer import ATGRPOTrainer
from at_grpo.checkpointing import committing
from at_grpo.config import TrainConfig
from at_grpo.inference.base import SamplingParams
from at_grpo.inference.player import PolicyPlayer
from at_grpo.inference.transformers import TransformersSampler
from at_grpo.policies import build_policies
from at_grpo.reporting import RunReport
from at_grpo.rollouts.engine import RolloutEngine
from at_grpo.rollouts.experience import Experience
from at_grpo.rollouts.limits import Select
from at_grpo.rollouts.tree import Recipe
from at_grpo.tokenization import PromptEncoder, stop_token_ids
from at_grpo.warm_start import build_base
from llm_envs.core.errors import UsageError
from llm_envs.sandbox import get_sandbox


def run(config: TrainConfig, resume: Path | None = None) -> Path:
    """Train every policy of the configuration; returns the run's folder.

    Args:
        config: see `config.TrainConfig`.
        resume: a complete checkpoint of the same configuration, or None to start anew.

    Raises:
        UsageError: a base model that can't be found, a tokenizer without a chat template, a checkpoint of another
        configuration.
    """
    folder = Path(config.run.output_dir)
    began = time.monotonic()
    base, tokenizer = load_base(config, folder)
    model = build_policies(base, config.policies, seed=config.run.seed)
    ready = time.monotonic()
    report = RunReport(config, folder)
    versions = dict.fromkeys(config.policies, 0)
    engine, players = rollouts(config, model, tokenizer, versions)
    experience = Experience(config, engine, players, versions, report.on_step)
    if resume is not None:
        experience.restore(resume)
    trainer = ATGRPOTrainer(
        model,
        args=grpo_config(config),
        policies=config.policies,
        temperatures={role: section.temperature for role, section in config.roles.items()},
        collect=experience.collect,
        assess=experience.assess,
        commit=functools.partial(_commit, config, experience),
        processing_class=tokenizer,
        callbacks=report.callbacks,
    )
    with report.running(trainer):
        trainer.train(resume_from_checkpoint=None if resume is None else str(resume))
    report.finish(
        experience.totals, str(base.name_or_path), {"prepare": ready - began, "train": time.monotonic() - ready}
    )
    return folder


@contextmanager
def _commit(config: TrainConfig, experience: Experience, checkpoint: Path) -> Iterator[None]:
    """A checkpoint that is whole or not there, with the run's counts in it."""
    with committing(checkpoint, config):
        yield
        experience.save(checkpoint)


def load_base(config: TrainConfig, folder: Path) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """The frozen base model, made here where the configuration says `warm_start`, and its tokenizer."""
    source = str(build_base(config, folder / "base")) if config.model.warm_start else config.model.base
    try:
        tokenizer = AutoTokenizer.from_pretrained(source)
        model = AutoModelForCausalLM.from_pretrained(source, dtype=getattr(torch, config.model.dtype))
    except OSError as error:
        raise UsageError(
            f"model.base={source!r}: no folder of that name, and the hub does not give it. Name a local folder with "
            "config.json, weights and tokenizer, or log in to the hub and check the spelling."
        ) from error
    return model, tokenizer


def rollouts(
    config: TrainConfig, model: PeftModel, tokenizer: PreTrainedTokenizerBase, versions: Mapping[str, int]
) -> tuple[RolloutEngine, dict[str, PolicyPlayer]]:
    """The engine that samples with the current policies, and the same policies as players for evaluation episodes."""
    encoder = PromptEncoder(tokenizer)
    stops = stop_token_ids(model.generation_config, tokenizer)
    sampler = TransformersSampler(
        model, stop_token_ids=stops, pad_id=tokenizer.pad_token_id, versions=versions, decode=encoder.tokenizer.decode
    )
    params = {
        role: SamplingParams(temperature=section.temperature, max_tokens=section.max_tokens, stop=section.stop)
        for role, section in config.roles.items()
    }
    recipe = Recipe(
        sampler=sampler,
        encoder=encoder,
        policies={role: section.policy for role, section in config.roles.items()},
        params=params,
        k=config.rollout.k,
        select=Select(config.rollout.select),
        max_prompt_tokens=config.rollout.max_prompt_tokens,
        seed=config.run.seed,
    )
    engine = RolloutEngine(
        functools.partial(llm_envs.make, config.env.id, **config.env.options),
        recipe,
        env_id=config.env.id,
        split=config.env.train_split,
        grouping=config.rollout.grouping,
        sandbox=get_sandbox(config.rollout.sandbox),
        max_lost_share=config.rollout.max_lost_share,
    )
    players = {
        role: PolicyPlayer(sampler, encoder, recipe.policies[role], params[role], config.run.seed) for role in params
    }
    return engine, players

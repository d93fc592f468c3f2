"""One run, from a configuration to trained adapters.

The algorithm reads in this order: this file, `rollouts/tree.py` (how episodes are sampled), `advantages.py` (how
replies are scored), `at_grpo_trainer.py` (how policies are updated).
"""

import functools
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from at_grpo.at_grpo_config import grpo_config
from at_grpo.at_grpo_trainer import ATGRPOTrainer
from at_grpo.checkpointing import committing
from at_grpo.config import TrainConfig
from at_grpo.inference.base_model import load_base
from at_grpo.inference.frozen import frozen_players
from at_grpo.inference.serving import serving
from at_grpo.placement import place, visible_gpus
from at_grpo.policies import build_policies
from at_grpo.reporting import RunReport
from at_grpo.rollouts.assembly import build_engine
from at_grpo.rollouts.experience import Experience
from at_grpo.tokenization import PromptEncoder
from at_grpo.warm_start import build_base


def run(config: TrainConfig, resume: Path | None = None) -> Path:
    """Train every policy of the configuration; returns the run's folder.

    Args:
        config: see `config.TrainConfig`.
        resume: a complete checkpoint of the same configuration, or None to start anew.

    Raises:
        UsageError: a base model, a GPU, a vLLM or a player's key that can't be found, a tokenizer without a chat
            template.
        SamplerError: a server that does not start, is lost for good, or serves other weights.
        InterruptedRun: it was asked to stop, and has saved what it had.
    """
    folder = Path(config.run.output_dir)
    began = time.monotonic()
    placement = place(config.inference, visible_gpus())
    placement.confine()
    source = str(build_base(config, folder / "base")) if config.model.warm_start else config.model.base
    base, tokenizer = load_base(source, config.model.dtype)
    model = build_policies(base, config.policies, seed=config.run.seed)
    ready = time.monotonic()

    encoder, report, frozen = PromptEncoder(tokenizer), RunReport(config, folder), frozen_players(config)
    versions = dict.fromkeys(config.policies, 0)
    with serving(config, model, encoder, source, versions=versions, placement=placement) as inference:
        engine, players = build_engine(config, inference.sampler, encoder, frozen)
        experience = Experience(config, engine, players, inference.publication, report.on_step)
        if resume is not None:
            experience.restore(resume)
        trainer = ATGRPOTrainer(
            model,
            args=grpo_config(config),
            policies=config.policies,
            temperatures={role: section.temperature for role, section in config.trained.items()},
            collect=experience.collect,
            assess=experience.assess,
            commit=functools.partial(_commit, config, experience),
            processing_class=tokenizer,
            callbacks=report.callbacks,
        )
        with report.running(trainer), experience:
            trainer.train(resume_from_checkpoint=None if resume is None else str(resume))
    report.finish(experience.totals, source, {"prepare": ready - began, "train": time.monotonic() - ready})
    return folder


@contextmanager
def _commit(config: TrainConfig, experience: Experience, checkpoint: Path) -> Iterator[None]:
    """A checkpoint that is whole or not there, with the run's counts in it."""
    with committing(checkpoint, config):
        yield
        experience.save(checkpoint)
    experience.commit(checkpoint)

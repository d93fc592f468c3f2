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
from at_grpo.inference.frozen import frozen_players
from at_grpo.inference.serving import serving
from at_grpo.inference.trained import LocalPool, encoders_of, load_pool
from at_grpo.mini_batches import mini_batches_of
from at_grpo.placement import place, visible_gpus
from at_grpo.pools import MADE, pools_of
from at_grpo.reporting import RunReport
from at_grpo.rollouts.assembly import build_engine
from at_grpo.rollouts.experience import Experience
from at_grpo.updates.workers import UpdateWorkers, update_workers
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
        WorkerError: another process that trains is lost or has failed.
        InterruptedRun: it was asked to stop, and has saved what it had.
    """
    folder, pools = Path(config.run.output_dir), pools_of(config)
    began = time.monotonic()
    placement = place(config, visible_gpus())
    placement.confine()
    if config.model.warm_start:
        build_base(config, folder / MADE)
    with update_workers(config, pools, placement, resume) as workers:
        own = load_pool(pools[0], config.model.dtype, config.run.seed)
        workers.join()
        others, ready = workers.pools(), time.monotonic()
        encoders = encoders_of([own, *others])
        report, versions = RunReport(config, folder), dict.fromkeys(config.policies, 0)
        with serving(config, own, others, versions=versions, placement=placement) as inference:
            engine, players = build_engine(config, inference.sampler, encoders, frozen_players(config))
            experience = Experience(config, engine, players, inference.publication, report.on_step)
            if resume is not None:
                experience.restore(resume)
            trainer = _trainer(config, own, workers, experience, report)
            with report.running(trainer), experience:
                workers.begin()
                trainer.train(resume_from_checkpoint=None if resume is None else str(resume))
    report.finish(experience.totals, {"prepare": ready - began, "train": time.monotonic() - ready})
    return folder


def _trainer(
    config: TrainConfig, own: LocalPool, workers: UpdateWorkers, experience: Experience, report: RunReport
) -> ATGRPOTrainer:
    """The trainer of this process: its policies, learning from its share of the experience."""
    return ATGRPOTrainer(
        own.model,
        args=grpo_config(config),
        policies=own.pool.policies,
        temperatures={role: section.temperature for role, section in own.pool.roles.items()},
        collect=workers.share(experience.collect),
        gather=workers.gather,
        ranks=workers.ranks,
        mini_batches=mini_batches_of(config),
        assess=experience.assess,
        commit=functools.partial(_commit, config, experience, workers),
        processing_class=own.encoder.tokenizer,
        callbacks=report.callbacks,
    )


@contextmanager
def _commit(config: TrainConfig, experience: Experience, workers: UpdateWorkers, checkpoint: Path) -> Iterator[None]:
    """A checkpoint that is whole or not there, with every worker's part and the run's counts in it."""
    with committing(checkpoint, config):
        yield
        workers.save(checkpoint)
        experience.save(checkpoint)
    experience.commit(checkpoint)

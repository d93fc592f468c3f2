"""A process of an update worker other than the driver: the same trainer, whose micro-batches come through a pipe."""

import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from tqdm import tqdm  # type: ignore[import-untyped]
from transformers import PrinterCallback
from transformers.utils.logging import disable_progress_bar

from at_grpo.at_grpo_config import grpo_config
from at_grpo.at_grpo_trainer import ATGRPOTrainer
from at_grpo.checkpointing import part_of
from at_grpo.inference.base import SamplerError
from at_grpo.inference.base_model import load_base
from at_grpo.inference.transformers import TransformersSampler
from at_grpo.inference.weights import LocalWeights
from at_grpo.mini_batches import mini_batches_of
from at_grpo.policies import build_policies
from at_grpo.samples import Iteration, MicroBatch
from at_grpo.tokenization import stop_token_ids
from at_grpo.updates import messages
from at_grpo.updates.messages import StepReport, WorkerPlan
from at_grpo.updates.ranks import Ranks


class _RunIsOver(Exception):  # noqa: N818  # no error: it leaves transformers' loop from within
    """The driver has said `End`."""


class UpdateWorker:
    """Trains the policies of a pool, or takes a share of their micro-batches, as the driver says.

    Between two iterations and within one, it also saves, scores and generates: all on one thread, so nothing sees
    weights that are changing.
    """

    def __init__(self, connection: Connection, plan: WorkerPlan) -> None:
        """Load the base model and join the other ranks.

        Args:
            connection: to the driver.
            plan: what to train.

        Raises:
            UsageError: the base model can't be loaded.
        """
        disable_progress_bar()
        tqdm.set_lock(threading.RLock())  # its own is a semaphore of the system, which a killed process leaves behind
        self._connection, self._plan = connection, plan
        self._inbox: SimpleQueue[Any] = SimpleQueue()
        threading.Thread(target=self._read, name="orders of the driver", daemon=True).start()
        pool = plan.pool
        base, tokenizer = load_base(pool.base, pool.dtype(plan.config.model.dtype), pool.base_option)
        model = build_policies(base, pool.policies, seed=plan.config.run.seed)
        stops = stop_token_ids(base.generation_config, tokenizer)
        self._weights = LocalWeights(model, pool.policies)
        self._versions = dict.fromkeys(pool.policies, 0)
        self._sampler = TransformersSampler(
            model,
            stop_token_ids=stops,
            pad_id=tokenizer.pad_token_id,
            policies=pool.policies,
            versions=self._versions,
            decode=tokenizer.decode,
        )
        self._ranks = _join(plan)
        self._trainer = ATGRPOTrainer(
            model,
            args=grpo_config(plan.config, driver=False),
            policies=pool.policies,
            temperatures={role: section.temperature for role, section in pool.roles.items()},
            collect=self._collect,
            mini_batches=mini_batches_of(plan.config),
            gather=self._tell,
            ranks=self._ranks,
            processing_class=tokenizer,
        )
        self._trainer.remove_callback(PrinterCallback)
        # Now that the model is on its device: the driver would wait in vain, and deaf to signals, for a rank to meet.
        connection.send(messages.Ready(stops))

    def run(self) -> None:
        """Train from when the driver begins until it ends it."""
        resume = self._plan.resume
        try:
            for _ in self._micro_batches():
                raise RuntimeError("a micro-batch came before the first iteration")
            self._trainer.train(resume_from_checkpoint=None if resume is None else str(resume))
            for _ in self._micro_batches():
                raise RuntimeError("a micro-batch came after the last iteration")
        except _RunIsOver:
            pass
        if self._ranks is not None:
            self._ranks.close()

    def _read(self) -> None:
        """On a thread of its own, so that the driver never waits until this process reads, and its death is seen."""
        try:
            while True:
                self._inbox.put(self._connection.recv())
        except (EOFError, OSError):  # the latter where it had not read all that this process told
            with suppress(OSError):
                self._plan.rendezvous.unlink(missing_ok=True)  # the driver's to remove, which has died
            os._exit(1)  # nobody wants what the main thread is doing

    def _collect(self, step: int) -> Iteration:  # the driver counts
        return Iteration(self._micro_batches(), {})

    def _micro_batches(self) -> Iterator[MicroBatch]:
        """Those of an iteration, up to its seal; other orders are carried out in between. None up to the beginning."""
        while True:
            match self._inbox.get():
                case messages.Train(micro_batch):
                    yield micro_batch
                case messages.Begin() | messages.Seal():
                    return
                case messages.End():
                    raise _RunIsOver
                case order:
                    self._connection.send(self._carry_out(order))

    def _carry_out(self, order: Any) -> messages.Answer:
        match order:
            case messages.SaveAdapter(policy, folder):
                self._weights.save(policy, folder)
                return messages.Answer()
            case messages.Score(policy, prompt_ids, token_ids):
                return messages.Answer(self._weights.scores(policy, prompt_ids, token_ids))
            case messages.SaveCheckpoint(checkpoint):
                self._save(checkpoint)
                return messages.Answer()
            case messages.Generate(requests, versions):
                self._versions.update(versions)
                try:
                    for request in requests:
                        self._sampler.check(request)
                    return messages.Answer(self._sampler.generate(requests))
                except SamplerError as error:
                    return messages.Answer(refusal=str(error))
        raise TypeError(f"{order!r}: is no order that an update worker knows")

    def _tell(self, report: StepReport) -> StepReport:
        """The driver logs what all have done; the optimizer has yet to step, and does so before the next order."""
        self._connection.send(report)
        return report

    def _save(self, checkpoint: Path) -> None:
        """Adapters go to where every policy has its own, the rest into this worker's part."""
        part = part_of(checkpoint, self._plan.pool.name)
        part.mkdir(parents=True)
        saved = self._trainer.save_under(part)
        for path in saved.iterdir():
            path.rename((checkpoint if path.name in self._plan.pool.policies else part) / path.name)
        saved.rmdir()


def _join(plan: WorkerPlan) -> Ranks | None:
    timeout_s = plan.config.update.timeout_s
    return Ranks(plan.rendezvous, plan.rank, plan.ranks, timeout_s) if plan.ranks > 1 else None

"""All processes that train, as the driver sees them; it is itself the first rank of the first update worker.

A run with one base model and one rank has no other process, and nothing here stands between its trainer and its
experience.
"""

import tempfile
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing.connection import wait
from pathlib import Path
from queue import SimpleQueue

from at_grpo.checkpointing import part_of
from at_grpo.config import TrainConfig
from at_grpo.inference.base import SamplerError
from at_grpo.inference.base_model import load_tokenizer
from at_grpo.inference.trained import RemotePool
from at_grpo.placement import Placement
from at_grpo.pools import Pool
from at_grpo.samples import Iteration, MicroBatch
from at_grpo.stopping import InterruptedRun, WorkerError
from at_grpo.tokenization import PromptEncoder
from at_grpo.updates import messages
from at_grpo.updates.messages import StepReport, WorkerPlan
from at_grpo.updates.ranks import Ranks
from at_grpo.updates.remote import OBITUARY_S, RemoteWorker

Collect = Callable[[int], Iteration]
GONE = "an update worker has ended"  # `obituary` says which and why


@dataclass(slots=True, eq=False)
class _Own:
    """The driver's share of an iteration, in the shape of a `RemoteWorker`."""

    orders: "SimpleQueue[object]"
    assigned: int = 0

    def send(self, order: object) -> None:
        self.orders.put(order)

    def micro_batches(self) -> Iterator[MicroBatch]:
        while True:
            match self.orders.get():
                case messages.Train(micro_batch):
                    yield micro_batch
                case BaseException() as failure:
                    raise failure
                case _:
                    return


class UpdateWorkers:
    """The other processes of all update workers.

    Attributes:
        ranks: the group of the driver's own worker, None where it has no other rank.
    """

    def __init__(self, config: TrainConfig, plans: Sequence[WorkerPlan]) -> None:
        """Nothing is started yet.

        Args:
            config: of the run.
            plans: of every rank of every pool in their order, the driver's first; that one starts nothing.
        """
        self._config, self._driver, self._plans = config, plans[0], plans[1:]
        self.ranks: Ranks | None = None
        self._own = _Own(SimpleQueue())
        self._remote: list[RemoteWorker] = []
        self._lost, self._closing = threading.Event(), threading.Event()
        self._ready: dict[str, messages.Ready] = {}

    def start(self) -> None:
        """Start the processes. Raises OSError; those that were started by then are for `close`."""
        for plan in self._plans:
            self._remote.append(RemoteWorker(plan))
        if self._remote:
            threading.Thread(target=self._watch, name="watch of the update workers", daemon=True).start()

    @property
    def _leaders(self) -> list[RemoteWorker]:
        """The first rank of every worker but the driver's own, which stands for its weights."""
        return [one for one in self._remote if one.plan.rank == 0]

    def join(self) -> None:
        """Wait until all have loaded their base models.

        Raises:
            WorkerError: one is lost, or takes longer than `update.start_timeout_s`.
        """
        for one in self._remote:
            self._ready.setdefault(one.plan.pool.name, one.wait_ready())
        if self._driver.ranks > 1:
            plan = self._driver
            timeout_s, lost = self._config.update.timeout_s, self._lost.is_set
            self.ranks = Ranks(plan.rendezvous, plan.rank, plan.ranks, timeout_s, lost)

    def pools(self) -> list[RemotePool]:
        """The policies that other workers train, pool by pool.

        Raises:
            UsageError: a tokenizer without a chat template.
        """
        return [
            RemotePool(
                one.plan.pool,
                one,
                PromptEncoder(load_tokenizer(one.plan.pool.base, one.plan.pool.base_option), one.plan.pool.template),
                self._ready[one.plan.pool.name].stop_token_ids,
            )
            for one in self._leaders
        ]

    def begin(self) -> None:
        """Have all begin to train; `ranks` meet now. Raises `WorkerError`."""
        for one in self._remote:
            one.send(messages.Begin())

    # ---- an iteration

    def share(self, collect: Collect) -> Collect:
        """The driver's part of what `collect` gives; the others' parts go to them as soon as they are there."""
        if not self._remote:
            return collect

        def collect_own(step: int) -> Iteration:
            self._own = _Own(SimpleQueue())
            if self._lost.is_set():
                raise WorkerError(GONE)
            iteration = collect(step)
            for one in self._remote:
                one.assigned = 0
            # On a thread of its own, so that nobody waits for work until the driver has finished a piece of its own.
            threading.Thread(target=self._route, args=(iteration.micro_batches,), name="router", daemon=True).start()
            return Iteration(self._own.micro_batches(), iteration.metrics)

        return collect_own

    def _route(self, micro_batches: Iterable[MicroBatch]) -> None:
        """Each micro-batch goes to a worker that trains its policy, to the rank that has got the fewest tokens."""
        own = self._own
        try:
            for micro_batch in micro_batches:
                ranks = self._ranks_of(micro_batch.policy)
                chosen = min(ranks, key=lambda one: one.assigned)
                chosen.assigned += sum(len(row.prompt_ids) + len(row.completion_ids) for row in micro_batch.samples)
                chosen.send(messages.Train(micro_batch if chosen is own else _lean(micro_batch)))
            for one in self._remote:
                one.send(messages.Seal())
            own.send(messages.Seal())
        except BaseException as error:  # noqa: BLE001  # the boundary of the thread: the driver's trainer gets it
            own.send(error)

    def _ranks_of(self, policy: str) -> list["RemoteWorker | _Own"]:
        own = [self._own] if policy in self._driver.pool.policies else []
        return [*own, *(one for one in self._remote if policy in one.plan.pool.policies)]

    def gather(self, report: StepReport) -> StepReport:
        """The driver's report and all others', in a fixed order. Raises `WorkerError`."""
        return messages.merge([report, *(one.report() for one in self._remote)])

    def save(self, checkpoint: Path) -> None:
        """Have every worker but the driver's add its part to a checkpoint. Raises `WorkerError`."""
        for one in self._leaders:
            one.send(messages.SaveCheckpoint(checkpoint.resolve()))
        for one in self._leaders:
            one.answer()

    # ---- losses, and the end

    def _watch(self) -> None:
        """On a thread of its own: tell the driver's trainer at once, which may wait for rollouts that take minutes."""
        wait([one.process.sentinel for one in self._remote])
        if not self._closing.is_set():
            self._lost.set()
            self._own.send(WorkerError(GONE))

    def obituary(self) -> WorkerError | None:
        """Why a process is gone, if one is: first those that were ended from outside, of which others only hear."""
        if self._remote:
            wait([one.process.sentinel for one in self._remote], OBITUARY_S)
        gone = [one for one in self._remote if one.ended]
        gone.sort(key=lambda one: not one.killed)
        return gone[0].last_words() if gone else None

    def close(self, *, at_once: bool) -> None:
        """End the processes."""
        self._closing.set()
        for one in [] if at_once else self._remote:
            one.tell_end()
        for one in self._remote:
            one.kill() if at_once else one.wait_end()
        if self.ranks is not None and not at_once:  # without the others it might wait for them
            self.ranks.close()


@contextmanager
def update_workers(
    config: TrainConfig, pools: Sequence[Pool], placement: Placement, resume: Path | None
) -> Iterator[UpdateWorkers]:
    """The processes that train; they end with the context.

    Args:
        config: of the run.
        pools: of the run; the driver trains the first.
        placement: their GPUs.
        resume: a checkpoint of the run, or None.

    Raises:
        WorkerError: one is lost, or fails.
    """
    # Made by ranks that meet, if there are several; a worker that outlives the driver removes it, too.
    meeting = Path(tempfile.gettempdir()) / f"at-grpo-ranks-{uuid.uuid4().hex}"
    plans = [
        WorkerPlan(
            config, pool, rank, len(place.ranks), gpu, meeting.with_suffix(f".{pool.name}"), _part(resume, pool, number)
        )
        for number, (pool, place) in enumerate(zip(pools, placement.pools, strict=True))
        for rank, gpu in enumerate(place.ranks)
    ]
    workers, at_once = UpdateWorkers(config, plans), True
    try:
        workers.start()
        yield workers
        at_once = False
    except InterruptedRun:
        at_once = False
        raise
    except (WorkerError, SamplerError) as error:
        reason = workers.obituary()
        if reason is not None:
            raise reason from error
        raise
    finally:
        workers.close(at_once=at_once)
        for plan in plans:
            plan.rendezvous.unlink(missing_ok=True)


def _part(resume: Path | None, pool: Pool, number: int) -> Path | None:
    """The driver's worker has its part in the checkpoint itself."""
    return resume if resume is None or number == 0 else part_of(resume, pool.name)


def _lean(micro_batch: MicroBatch) -> MicroBatch:
    """Without what only logs look at."""
    return replace(micro_batch, samples=tuple(replace(row, info={}, text="") for row in micro_batch.samples))

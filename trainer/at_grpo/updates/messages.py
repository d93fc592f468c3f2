"""What the driver and the other processes of the update workers say to one another, pickled through a pipe.

A worker answers what asks for an answer in the order in which it was asked. Orders to train ask for none; their end is
answered by a `StepReport`.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from at_grpo.config import TrainConfig
from at_grpo.inference.base import SampleRequest
from at_grpo.pools import Pool
from at_grpo.samples import MicroBatch


@dataclass(frozen=True, slots=True)
class WorkerPlan:
    """What a process of an update worker is started with.

    Attributes:
        config: of the run.
        pool: what it trains.
        rank, ranks: which of the worker's processes it is.
        gpu: its device, None for the CPU.
        rendezvous: a file by which the ranks find one another.
        resume: the folder of a checkpoint with its optimizer and schedule, or None.
    """

    config: TrainConfig
    pool: Pool
    rank: int
    ranks: int
    gpu: str | None
    rendezvous: Path
    resume: Path | None

    @property
    def title(self) -> str:
        """How messages call the process."""
        which = f", rank {self.rank} of {self.ranks}" if self.ranks > 1 else ""
        return f"the update worker of {', '.join(self.pool.policies)}{which}"


# ---- from the driver


@dataclass(frozen=True, slots=True)
class Begin:
    """Take the weights of the checkpoint, if there is one, and begin the first iteration. Not answered.

    What is asked before is answered by the weights of the start, with which servers are compared.
    """


@dataclass(frozen=True, slots=True)
class Train:
    """Add a micro-batch to the gradients. Not answered."""

    micro_batch: MicroBatch


@dataclass(frozen=True, slots=True)
class Seal:
    """That was the iteration's last micro-batch: take the step. Answered by a `StepReport`."""


@dataclass(frozen=True, slots=True)
class SaveAdapter:
    """See `PolicyWeights.save`."""

    policy: str
    folder: Path


@dataclass(frozen=True, slots=True)
class Score:
    """See `PolicyWeights.scores`."""

    policy: str | None
    prompt_ids: tuple[int, ...]
    token_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Generate:
    """See `BatchingSampler.generate`; the completions are stamped with these versions."""

    requests: tuple[SampleRequest, ...]
    versions: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class SaveCheckpoint:
    """Add this worker's part to a checkpoint that is being written."""

    checkpoint: Path


@dataclass(frozen=True, slots=True)
class End:
    """The run is over. Not answered."""


# ---- from a worker


@dataclass(frozen=True, slots=True)
class Ready:
    """The base is loaded, and all is there to train it. `stop_token_ids`: that end its replies."""

    stop_token_ids: frozenset[int]


@dataclass(frozen=True, slots=True)
class Answer:
    """What was asked for; or why it can't be done, and then the worker goes on."""

    value: Any = None
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """The worker has failed and ends. `details`: where in its code."""

    reason: str
    details: str


@dataclass(slots=True)
class StepReport:
    """What a process adds to the record of an iteration.

    Attributes:
        tokens: policy -> tokens of all ranks of its worker.
        losses: policy -> sum over those tokens.
        stats: role -> TRL's metrics of each of its micro-batches in this process, with the tokens that weigh them.
        metrics: further ones, of the worker.
    """

    tokens: dict[str, int]
    losses: dict[str, float]
    stats: dict[str, list[tuple[int, dict[str, float]]]]
    metrics: dict[str, float] = field(default_factory=dict)

    @property
    def loss(self) -> float:
        """The policies' token-mean losses, added up."""
        return sum(self.losses[name] / count for name, count in self.tokens.items() if count)


def add_up(reports: list[StepReport]) -> StepReport:
    """The reports of one process on the optimizer steps of an iteration as one; metrics become means over steps."""
    whole = StepReport(dict.fromkeys(reports[0].tokens, 0), dict.fromkeys(reports[0].losses, 0.0), {})
    metrics: defaultdict[str, list[float]] = defaultdict(list)
    for report in reports:
        for name in whole.tokens:
            whole.tokens[name] += report.tokens[name]
            whole.losses[name] += report.losses[name]
        for role, parts in report.stats.items():
            whole.stats.setdefault(role, []).extend(parts)
        for key, value in report.metrics.items():
            metrics[key].append(value)
    whole.metrics |= {key: sum(values) / len(values) for key, values in metrics.items()}
    return whole


def merge(reports: list[StepReport]) -> StepReport:
    """The reports of several processes as one; ranks of a worker agree on all but their own micro-batches."""
    whole = StepReport({}, {}, {})
    for report in reports:
        whole.tokens |= report.tokens
        whole.losses |= report.losses
        whole.metrics |= report.metrics
        for role, parts in report.stats.items():
            whole.stats.setdefault(role, []).extend(parts)
    return whole

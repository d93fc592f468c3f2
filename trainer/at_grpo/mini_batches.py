"""Several optimizer steps on the samples of one version: how its rows are divided among them.

The paper's batch of 128 with mini-batches of 64 is `optim.mini_batches: 2` (arXiv 2510.11062). All happens
after the seal and on frozen old log-probabilities, so the ratio to the old policy leaves 1 and the clip is at work.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from at_grpo.config import TrainConfig
from at_grpo.samples import MicroBatch, Sample


@dataclass(frozen=True, slots=True)
class MiniBatches:
    """How the rows of a version are trained on.

    Attributes:
        count: optimizer steps an epoch.
        epochs: passes over all rows.
        rows: most rows of a forward pass.
        seed: of the order in which rows are dealt out.
    """

    count: int = 1
    epochs: int = 1
    rows: int = 16
    seed: int = 0

    @property
    def single(self) -> bool:
        """Whether a version is one optimizer step on all rows: strictly on-policy, and nothing need be dealt out."""
        return self.count == self.epochs == 1

    def cut(self, samples: Iterable[Sample], step: int) -> Iterator[list[MicroBatch]]:
        """The micro-batches of each optimizer step, in turn.

        Every epoch holds every row once. Each policy's rows are dealt out by themselves, as evenly as they go, so that
        its token mean is over its own part; a policy with fewer rows than there are steps sits some of them out. Which
        rows share a step depends on (seed, step, epoch, row) and not on the order in which they arrived. Each rank of
        an update worker deals out the rows that it was given, and with servers these depend on the order.
        """
        by_policy: dict[str, list[Sample]] = {}
        for sample in samples:
            by_policy.setdefault(sample.policy, []).append(sample)
        for epoch in range(self.epochs):
            dealt = [
                sorted(by_policy[policy], key=lambda sample: _draw(sample, self.seed, step, epoch))
                for policy in sorted(by_policy)
            ]
            for number in range(self.count):
                yield [
                    micro_batch
                    for rows in dealt
                    for micro_batch in self._micro_batches(
                        rows[len(rows) * number // self.count : len(rows) * (number + 1) // self.count]
                    )
                ]

    def _micro_batches(self, samples: Sequence[Sample]) -> Iterator[MicroBatch]:
        """One role each, rows of similar length together to save padding."""
        for role in sorted({sample.role for sample in samples}):
            rows = sorted(
                (sample for sample in samples if sample.role == role),
                key=lambda sample: len(sample.prompt_ids) + len(sample.completion_ids),
            )
            for at in range(0, len(rows), self.rows):
                yield MicroBatch(rows[0].policy, role, tuple(rows[at : at + self.rows]))


def mini_batches_of(config: TrainConfig) -> MiniBatches:
    """As a configuration says."""
    optim = config.optim
    return MiniBatches(optim.mini_batches, optim.epochs, optim.micro_batch_size, config.run.seed)


def _draw(sample: Sample, *seed: int) -> bytes:
    """A random number that belongs to a row, whenever and wherever it is asked for."""
    ids = array("q", [*seed, sample.sibling, *sample.prompt_ids, -1, *sample.completion_ids])
    return blake2b(ids.tobytes(), digest_size=8).digest()

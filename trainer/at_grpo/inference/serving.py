"""From a configuration to whoever generates: the processes that train, vLLM servers that the run starts, or servers
that run.
"""

import secrets
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from at_grpo.choices import Backend
from at_grpo.config import TrainConfig
from at_grpo.inference.base import Sampler
from at_grpo.inference.pooled import Part, PooledSampler, RoutedSampler, part_of
from at_grpo.inference.publishing import InProcess, Publication
from at_grpo.inference.served_pools import ServedPool, check_servers, retire, start_servers
from at_grpo.inference.trained import LocalPool, RemotePool
from at_grpo.inference.transformers import TransformersSampler
from at_grpo.placement import Placement
from at_grpo.stopping import InterruptedRun

SERVED = "served"  # where the run keeps what servers load


@dataclass(frozen=True, slots=True)
class Inference:
    """Who generates, and how the policies' weights get there."""

    sampler: Sampler
    publication: Publication


@contextmanager
def serving(
    config: TrainConfig,
    own: LocalPool,
    others: Sequence[RemotePool],
    *,
    versions: MutableMapping[str, int],
    placement: Placement,
) -> Iterator[Inference]:
    """The inference of a run; servers that it starts end with the context.

    Args:
        config: of the run.
        own: the policies that this process trains.
        others: those that other processes train, pool by pool.
        versions: policy -> version that samples are stamped with; kept up to date by the publication.
        placement: which GPUs the servers get.

    Raises:
        UsageError: vLLM is not installed, or a server's context is too short.
        SamplerError: a server does not start, or serves something else.
    """
    if config.inference.backend == Backend.TRANSFORMERS:
        yield _in_process(own, others, versions)
    else:
        with _by_servers(config, [own, *others], versions, placement) as inference:
            yield inference


def _in_process(own: LocalPool, others: Sequence[RemotePool], versions: MutableMapping[str, int]) -> Inference:
    """Every policy generates where it is trained."""
    sampler = TransformersSampler(
        own.model,
        stop_token_ids=own.stop_token_ids,
        pad_id=own.encoder.tokenizer.pad_token_id,
        policies=own.pool.policies,
        versions=versions,
        decode=own.encoder.tokenizer.decode,
    )
    if not others:
        return Inference(sampler, InProcess(versions))
    parts = {
        policy: part
        for pool in others
        for part in [Part(partial(pool.worker.begin_generating, versions=versions))]
        for policy in pool.pool.policies
    }
    parts |= dict.fromkeys(own.pool.policies, part_of(sampler))
    return Inference(PooledSampler(parts), InProcess(versions))


@contextmanager
def _by_servers(
    config: TrainConfig,
    trained: Sequence[LocalPool | RemotePool],
    versions: MutableMapping[str, int],
    placement: Placement,
) -> Iterator[Inference]:
    """Every pool has servers of its own base model."""
    served, run = Path(config.run.output_dir).resolve() / SERVED, secrets.token_hex(4)
    several = len(trained) > 1
    with ExitStack() as stack:
        servers = start_servers(config, [one.pool for one in trained], placement, run, stack)
        check_servers(config, [one.pool for one in trained], servers)
        pools = [
            ServedPool(
                config, one, own, folder=served / one.pool.name if several else served, versions=versions, run=run
            )
            for one, own in zip(trained, servers, strict=True)
        ]
        sampler = RoutedSampler({policy: one.sampler for one in pools for policy in one.policies})
        inference = Inference(sampler, Publications([one.publication for one in pools]))
        if len(pools) == 1:
            inference = Inference(pools[0].sampler, pools[0].publication)
        try:
            yield inference
        except InterruptedRun:
            retire(pools)
            raise
        retire(pools)


class Publications:
    """A `Publication` to the servers of several pools, one after another."""

    def __init__(self, publications: Sequence[Publication]) -> None:
        """Args:
        publications: of each pool.
        """
        self._publications = tuple(publications)

    def publish(self, version: int) -> Mapping[str, float]:
        """See `Publication`."""
        measured: dict[str, float] = {}
        for publication in self._publications:
            measured |= publication.publish(version)
        return measured

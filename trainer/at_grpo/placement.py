"""Which process of a run gets which GPUs: update workers first, then the servers, by what is named or what is left."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, cycle, islice

from at_grpo.choices import Backend
from at_grpo.config import TrainConfig
from at_grpo.pools import Pool, pools_of
from llm_envs.core.errors import UsageError

VISIBLE = "CUDA_VISIBLE_DEVICES"
SERVER_SHARE = 0.5  # of the memory of a GPU that a trainer uses, too; a server alone would take nine tenths
SERVERS_SHARE = 0.9  # of the memory of a GPU that several servers use


@dataclass(frozen=True, slots=True)
class PoolPlacement:
    """GPUs by the names that `CUDA_VISIBLE_DEVICES` knows them by.

    Attributes:
        ranks: of each process of the update worker; None for the CPU.
        servers: of each server; empty for the CPU. There are none where no server is started.
    """

    ranks: tuple[str | None, ...]
    servers: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Placement:
    """The placements of a run's pools, in their order."""

    pools: tuple[PoolPlacement, ...]

    @property
    def trainer(self) -> str | None:
        """The GPU of the process that drives the run, which is the first rank of the first pool."""
        return self.pools[0].ranks[0]

    @property
    def servers(self) -> tuple[tuple[str, ...], ...]:
        """The GPUs of every server of every pool."""
        return tuple(chain.from_iterable(pool.servers for pool in self.pools))

    def share(self, gpus: Sequence[str]) -> float | None:
        """The share of the memory of its GPUs that a server may take, None for as much as vLLM likes."""
        servers = max((sum(gpu in other for other in self.servers) for gpu in gpus), default=1)
        if {rank for pool in self.pools for rank in pool.ranks} & set(gpus):
            return SERVER_SHARE / servers
        return SERVERS_SHARE / servers if servers > 1 else None

    def confine(self) -> None:
        """Leave this process its own GPU: TRL refuses a process that sees several. To be called before CUDA is used."""
        confine(self.trainer)


def confine(gpu: str | None) -> None:
    """Leave this process one GPU; None changes nothing. To be called before CUDA is used."""
    if gpu is not None:
        os.environ[VISIBLE] = gpu


@cache
def visible_gpus() -> tuple[str, ...]:
    """The GPUs that CUDA gives to this process, in its order; as it was when this was asked first, so that it still
    holds when the process has been confined.
    """
    import torch

    count = torch.cuda.device_count()
    named = [name.strip() for name in os.environ.get(VISIBLE, "").split(",") if name.strip()]
    return tuple(named[:count]) if named else tuple(map(str, range(count)))


def place(config: TrainConfig, visible: tuple[str, ...]) -> Placement:
    """Give update workers and servers the GPUs that are named for them, and the others what is left.

    Numbers count among the visible GPUs, as torch does. What `inference.gpus` and `pools` do not name goes to the
    update workers, one GPU for each of their processes, and then to servers for which none is named. Where there are
    too few, workers share them with one another, and servers with their worker.

    Raises:
        UsageError: a GPU that is not there, or fewer than the ranks of one worker.
    """
    pools = pools_of(config)
    named = named_gpus(config)
    _check(named, visible)
    if not visible:
        return Placement(tuple(PoolPlacement((None,) * ranks(config, pool), _nowhere(config, pool)) for pool in pools))
    left = [name for number, name in enumerate(visible) if number not in set(chain.from_iterable(named.values()))]
    takers = sum(ranks(config, pool) for pool in pools if not pool.section.update_gpus)
    updates = _updates(config, pools, visible, left or list(visible))
    servers = _servers(config, pools, visible, left[takers:])
    return Placement(
        tuple(
            PoolPlacement(own, ((own[0],),) * server_count(config, pool) if found is None else found)
            for pool, own, found in zip(pools, updates, servers, strict=True)
        )
    )


def named_gpus(config: TrainConfig) -> dict[str, tuple[int, ...]]:
    """Option -> the GPUs that it names."""
    named = {"inference.gpus": config.inference.gpus}
    for name, pool in config.pools.items():
        named[f"pools.{name}.rollout_gpus"] = pool.rollout_gpus
        named[f"pools.{name}.update_gpus"] = pool.update_gpus
    return named


def ranks(config: TrainConfig, pool: Pool) -> int:
    """How many processes train a pool."""
    return len(pool.section.update_gpus) or config.update.ranks


def server_count(config: TrainConfig, pool: Pool) -> int:
    """How many servers are started for a pool."""
    if config.inference.backend != Backend.VLLM or config.inference.urls or pool.section.urls:
        return 0
    return pool.section.servers or config.inference.servers


def _check(named: Mapping[str, tuple[int, ...]], visible: tuple[str, ...]) -> None:
    seen = f"among the {len(visible)} that are visible, counted from 0" if visible else "empty: no GPU is visible"
    for option, gpus in named.items():
        if any(gpu >= len(visible) for gpu in gpus):
            raise UsageError(
                f"{option}={list(gpus)}: must be {seen}. See `nvidia-smi`, {VISIBLE}, and whether torch is a CUDA "
                "build (`at-grpo doctor`)."
            )


def _nowhere(config: TrainConfig, pool: Pool) -> tuple[tuple[str, ...], ...]:
    return ((),) * server_count(config, pool)


def _updates(
    config: TrainConfig, pools: Sequence[Pool], visible: tuple[str, ...], free: Sequence[str]
) -> list[tuple[str, ...]]:
    """The GPUs of each pool's ranks."""
    waiting, found = cycle(free), []
    for pool in pools:
        count = ranks(config, pool)
        own = tuple(visible[gpu] for gpu in pool.section.update_gpus) or tuple(islice(waiting, count))
        if len(set(own)) < count:
            raise UsageError(
                f"update.ranks={count}: the worker of {', '.join(pool.policies)} finds {len(set(own))} GPUs that no "
                f"option gives to servers; lower it, or name {count} in pools.<policy>.update_gpus."
            )
        found.append(own)
    return found


def _servers(
    config: TrainConfig, pools: Sequence[Pool], visible: tuple[str, ...], left: Sequence[str]
) -> list[tuple[tuple[str, ...], ...] | None]:
    """The GPUs of each pool's servers; None where there are none for them."""
    unnamed = [pool for pool in pools if not pool.section.rollout_gpus]
    wanted = sum(server_count(config, pool) for pool in unnamed)
    if config.inference.gpus:
        shares = _split([visible[gpu] for gpu in config.inference.gpus], wanted)
    else:
        shares = [(name,) for name in left[:wanted]] if len(left) >= wanted else []
    given, found = iter(shares), list[tuple[tuple[str, ...], ...] | None]()
    for pool in pools:
        count = server_count(config, pool)
        if pool.section.rollout_gpus:
            found.append(tuple(_split([visible[gpu] for gpu in pool.section.rollout_gpus], count)))
        else:
            found.append(tuple(islice(given, count)) if shares or not count else None)
    return found


def _split(gpus: Sequence[str], parts: int) -> list[tuple[str, ...]]:
    """The devices in equal parts."""
    share = len(gpus) // parts if parts else 0
    return [tuple(gpus[share * part : share * (part + 1)]) for part in range(parts)]

"""The rules on base models and pools, for `validation`."""

from collections.abc import Iterator

from at_grpo.choices import Backend
from at_grpo.config import PoolSection, TrainConfig, changed
from at_grpo.placement import server_count
from at_grpo.pools import pools_of
from llm_envs.core.errors import unknown_choice

OF_STARTED = ("rollout_gpus", "servers")  # of a pool, for servers that a run starts


def pool_problems(config: TrainConfig) -> Iterator[str]:
    """Which base models and devices go together with what else."""
    yield from _base_problems(config)
    for name, pool in config.pools.items():
        if name not in config.policies:
            yield str(unknown_choice("pools", name, config.policies))
        else:
            yield from _section_problems(config, name, pool)
    section, pools = config.inference, pools_of(config)
    if section.urls and len({pool.base for pool in pools}) > 1:
        yield (
            f"inference.urls={list(section.urls)}: these servers have one base model, and the policies are on several; "
            "name each base's servers in pools.<policy>.urls."
        )
    wanted = sum(server_count(config, pool) for pool in pools if not pool.section.rollout_gpus)
    if section.gpus and wanted and len(section.gpus) % wanted:
        of = "inference.servers" if len(pools) == 1 else "the number of servers of all pools that name no rollout_gpus"
        yield f"inference.gpus={section.gpus}: must be a multiple of {of} ({wanted}), which share them evenly."
    if section.gpus and not wanted and any(pool.section.rollout_gpus for pool in pools):
        yield (
            f"inference.gpus={section.gpus}: has no effect, every pool whose servers are started names devices of its "
            "own in rollout_gpus; remove it."
        )


def _base_problems(config: TrainConfig) -> Iterator[str]:
    model = config.model
    if not any(not policy.base for policy in config.policies.values()):
        for name in ("base", "warm_start"):
            if getattr(model, name):
                yield f"model.{name}: has no effect, every policy names a base of its own; remove it."
    elif not model.base and model.warm_start is None:
        yield "model.base='': name a base model (hub id or folder), or let model.warm_start make one."


def _section_problems(config: TrainConfig, name: str, pool: PoolSection) -> Iterator[str]:
    path, backend = f"pools.{name}", config.inference.backend
    if pool == PoolSection():
        yield (
            f"{path}={{}}: sets nothing apart; name what the policy is to have of its own (update_gpus, rollout_gpus, "
            "servers or urls), or remove it."
        )
    if backend != Backend.VLLM:
        for option in changed(pool, OF_STARTED if backend == Backend.OPENAI else (*OF_STARTED, "urls")):
            yield f"{path}.{option}: has no effect with inference.backend={backend!r}; remove it."
    elif pool.urls or config.inference.urls:
        urls = f"{path}.urls" if pool.urls else "inference.urls"
        for option in changed(pool, OF_STARTED):
            yield f"{path}.{option}: has no effect on the running servers of {urls}; remove one of them."
    servers = pool.servers or config.inference.servers
    if len(pool.rollout_gpus) % servers:
        yield (
            f"{path}.rollout_gpus={pool.rollout_gpus}: must be a multiple of its servers ({servers}), which share them "
            "evenly."
        )

"""The rules on what of a policy is trained, and on training with samples of older weights, for `validation`."""

from collections.abc import Iterator

from at_grpo.choices import Backend, Weights
from at_grpo.config import PolicySection, TrainConfig, changed
from at_grpo.inference.plan import LORA_RANKS
from at_grpo.pools import Pool, pools_of


def rank_problems(config: TrainConfig) -> Iterator[str]:
    """What servers can load."""
    if config.inference.backend == Backend.TRANSFORMERS:
        return
    for name, policy in config.policies.items():
        if policy.rank > LORA_RANKS[-1]:
            yield f"policies.{name}.rank={policy.rank}: must be at most {LORA_RANKS[-1]}, the largest that vLLM serves."


def stale_problems(config: TrainConfig) -> Iterator[str]:
    """What training on samples of older weights needs."""
    rollout, optim = config.rollout, config.optim
    if rollout.staleness and config.inference.backend == Backend.TRANSFORMERS:
        yield (
            f"rollout.staleness={rollout.staleness}: needs servers, which sample while the trainer trains; set "
            f"inference.backend to {Backend.VLLM}, or rollout.staleness to 0."
        )
    if rollout.staleness and not optim.importance_cap:
        yield (
            f"optim.importance_cap=0: must be at least 1 with rollout.staleness={rollout.staleness}: samples of older "
            "weights are corrected by the ratio that it truncates."
        )
    for name, section in config.policies.items():
        if rollout.staleness and section.beta:
            yield (
                f"policies.{name}.beta={section.beta:g}: must be 0 with rollout.staleness={rollout.staleness}: the "
                "penalty's gradient is that of samples of the present weights."
            )


def full_problems(config: TrainConfig) -> Iterator[str]:
    """What policies whose weights are all trained need."""
    for pool in pools_of(config):
        for name, section in pool.policies.items():
            if section.weights == Weights.FULL:
                yield from _alone(name, pool)
                yield from _without(name, section)
                yield from _published(config, name, pool)


def _alone(name: str, pool: Pool) -> Iterator[str]:
    others = [other for other in pool.policies if other != name]
    if others:
        yield (
            f"policies.{name}.weights='full': must have its base model to itself, {', '.join(others)} would change "
            f"with it; give it a base (policies.{name}.base) or a pool of its own (pools.{name}, with devices or "
            "servers that theirs does not name), or take weights='lora'."
        )


def _without(name: str, section: PolicySection) -> Iterator[str]:
    for option in changed(section, ("rank", "lora_alpha", "target_modules")):
        yield f"policies.{name}.{option}: has no effect with weights='full', which has no adapter; remove it."
    if section.beta:
        yield (
            f"policies.{name}.beta={section.beta}: must be 0 with weights='full', which keeps no copy of the policy's "
            "start to measure the divergence from."
        )


def _published(config: TrainConfig, name: str, pool: Pool) -> Iterator[str]:
    """Its servers are started again for every version."""
    if config.inference.backend == Backend.TRANSFORMERS:
        return
    if config.inference.urls or pool.section.urls:
        yield (
            f"policies.{name}.weights='full': must have servers that the run starts, since every version is published "
            "by starting them again; leave inference.urls and the pool's urls out."
        )
    if config.rollout.staleness:
        yield (
            f"rollout.staleness={config.rollout.staleness}: must be 0 with policies.{name}.weights='full', whose "
            "servers end with the version that they serve."
        )

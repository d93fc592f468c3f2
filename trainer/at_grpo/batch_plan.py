"""The batch arithmetic of a run, before it begins: how many samples, tokens and steps a configuration asks for."""

import math
from dataclasses import dataclass

from at_grpo.choices import Grouping
from at_grpo.config import TrainConfig
from at_grpo.env_facts import EnvFacts


@dataclass(frozen=True, slots=True)
class RolePlan:
    """The most that one role adds to an iteration: episodes that end early leave less.

    Attributes:
        role, policy: who plays, with which weights.
        agents: agents of the role.
        groups: groups whose rewards are compared.
        samples: replies trained on.
        completion_tokens, prompt_tokens: upper bounds over the samples, by the limits of the configuration.
        micro_batches: forward and backward passes; where optimizer steps divide them, up to one more for each step, and
            as many forward passes as in an epoch for the old log-probabilities.
    """

    role: str
    policy: str
    agents: int
    groups: int
    samples: int
    completion_tokens: int
    prompt_tokens: int
    micro_batches: int


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """An iteration's shape: instances x cycles x agents x K for each role, and how many iterations there are.

    Attributes:
        cycles: horizon of the environment; where it states none, None, and the roles' numbers are those of one cycle.
        episodes: different instances over the whole run, refills included; no instance comes twice.
        iterations: policy versions.
        optimizer_steps: `optim.mini_batches` x `optim.epochs` an iteration, for all policies at once.
    """

    instances: int
    cycles: int | None
    k: int
    roles: tuple[RolePlan, ...]
    episodes: int
    iterations: int
    optimizer_steps: int

    @property
    def samples(self) -> int:
        """Most replies of an iteration."""
        return sum(role.samples for role in self.roles)


def plan_batch(config: TrainConfig, facts: EnvFacts) -> BatchPlan:
    """The plan of a checked configuration."""
    rollout, optim = config.rollout, config.optim
    cycles = facts.max_cycles or 1
    roles = []
    for role, agents in facts.agents.items():
        if role in config.frozen:
            continue  # leaves no samples
        section = config.roles[role]
        turns = rollout.instances * agents * cycles
        samples = turns * rollout.k
        roles.append(
            RolePlan(
                role=role,
                policy=section.policy,
                agents=agents,
                groups=turns if rollout.grouping == Grouping.TURN else rollout.instances * agents,
                samples=samples,
                completion_tokens=samples * section.max_tokens,
                prompt_tokens=samples * rollout.max_prompt_tokens,
                micro_batches=optim.epochs * math.ceil(samples / optim.micro_batch_size),
            )
        )
    return BatchPlan(
        instances=rollout.instances,
        cycles=facts.max_cycles,
        k=rollout.k,
        roles=tuple(roles),
        episodes=(rollout.instances + rollout.refill) * optim.steps,
        iterations=optim.steps,
        optimizer_steps=optim.steps * optim.mini_batches * optim.epochs,
    )

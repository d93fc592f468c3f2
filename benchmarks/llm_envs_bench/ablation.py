"""Role ablation: the same instances again with roles played by the oracle or at random; whose loss it is.

A set of roles is worth the team's success when the oracle plays them. A role's share of what the team loses is its
Shapley value in this game (Shapley 1953): what success gains when the oracle takes the role over, averaged over all
orders in which the roles are taken over one by one. The shares add up to the loss.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from llm_envs.core.errors import UsageError
from llm_envs_bench.agents.names import CHECKPOINT, OPENAI
from llm_envs_bench.metrics import by_instance, common_instances
from llm_envs_bench.plan import RunPlan
from llm_envs_bench.spec import RunSpec, Sampling
from llm_envs_bench.stats import Estimate, Scores, instance_means, mean_difference, paired_difference, rate
from llm_envs_bench.store import Run, load_runs

FOLDER = "ablations"  # below the run's own
ORACLE, RANDOM = "oracle", "random"
Ablations = Mapping[str, Sequence[Run]]  # name -> its runs, one an entry


@dataclass(frozen=True, slots=True)
class RoleLoss:
    """What one role has to do with what a team loses.

    Attributes:
        gain: how much more often the team succeeds when the oracle plays the role.
        drop: how much less often it does when random plays the role.
        share: the role's part of the loss; the parts of all roles add up to it.
    """

    role: str
    gain: Estimate
    drop: Estimate
    share: Estimate


@dataclass(frozen=True, slots=True)
class Losses:
    """A run's losses on one entry.

    Attributes:
        success: of the team as it is.
        ceiling: success when the oracle plays every role.
    """

    entry: str
    success: Estimate
    ceiling: Estimate
    roles: tuple[RoleLoss, ...]

    @property
    def loss(self) -> float:
        """How much less often the team succeeds than the oracle."""
        return self.ceiling.value - self.success.value


def ablation_name(roles: Sequence[str], by: str) -> str:
    """`tool+planner=oracle`."""
    return f"{'+'.join(roles)}={by}"


def ablated_plans(plan: RunPlan) -> dict[str, RunPlan]:
    """Name -> what is to be played besides a run: the oracle in every set of roles, random in each single role.

    Entries with a single role are left out: the loss is all its own.

    Raises:
        UsageError: no entry has two roles.
    """
    specs: dict[str, list[RunSpec]] = {}
    for spec in plan.specs:
        for roles, by in _replacements(list(spec.agents)):
            specs.setdefault(ablation_name(roles, by), []).append(_replaced(spec, roles, by))
    if not specs:
        names = ", ".join(spec.entry for spec in plan.specs)
        raise UsageError(f"ablate-roles: needs two roles, and {names} has one; leave it out.")
    return {name: replace(plan, specs=tuple(found)) for name, found in specs.items()}


def load_ablations(folder: Path) -> dict[str, tuple[Run, ...]]:
    """Name -> runs of the ablations that were played for a run folder; empty where there are none."""
    return {path.name: load_runs(path) for path in sorted((folder / FOLDER).glob("*=*"))}


def role_losses(run: Run, ablations: Ablations) -> Losses | None:
    """Whose loss it is, on the instances that all of these runs have scored.

    None where the run's environment has one role, or some replacement of it was not played.
    """
    roles = list(run.spec.agents)
    played = {name: one for name, runs in ablations.items() for one in runs if one.spec.entry == run.spec.entry}
    needed = [ablation_name(replaced, by) for replaced, by in _replacements(roles)]
    if not needed or not all(name in played for name in needed):
        return None
    values = common_instances([run, *(played[name] for name in needed)])
    found = {name: _scores(played[name], values) for name in needed}
    base, ceiling = _scores(run, values), found[ablation_name(roles, ORACLE)]
    worth = {frozenset(replaced): found[ablation_name(replaced, ORACLE)] for replaced in _subsets(roles)}
    worth[frozenset()] = base
    losses = tuple(
        RoleLoss(
            role,
            gain=paired_difference(base, worth[frozenset({role})], rates=True),
            drop=paired_difference(found[ablation_name([role], RANDOM)], base, rates=True),
            share=_shapley(role, roles, worth),
        )
        for role in roles
    )
    return Losses(run.spec.entry, rate(base), rate(ceiling), losses)


def _replacements(roles: Sequence[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Which roles are played by whom; nothing for a single role."""
    if len(roles) < 2:
        return
    for role in roles:
        yield (role,), RANDOM
    for subset in _subsets(roles):
        yield subset, ORACLE


def _subsets(roles: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """All but the empty one, the roles in their order."""
    for size in range(1, len(roles) + 1):
        yield from combinations(roles, size)


def _replaced(spec: RunSpec, roles: Sequence[str], by: str) -> RunSpec:
    agents = {role: by if role in roles else agent for role, agent in spec.agents.items()}
    served = any(agent.startswith(OPENAI) for agent in agents.values())
    sampled = served or any(agent.startswith(CHECKPOINT) for agent in agents.values())
    return replace(
        spec,
        agents=agents,
        weights={role: digest for role, digest in spec.weights.items() if role not in roles},
        # An option that none of those who are left heeds would be refused.
        sampling=Sampling(spec.sampling.temperature if sampled else None, spec.sampling.max_tokens if served else None),
    )


def _scores(run: Run, instances: frozenset[int]) -> Scores:
    return [pair for pair in by_instance(run.episodes, lambda episode: episode.success) if pair[0] in instances]


def _shapley(role: str, roles: Sequence[str], worth: Mapping[frozenset[str], Scores]) -> Estimate:
    """The mean over the instances of the role's Shapley value; its interval is that of a difference of rates."""
    others = [other for other in roles if other != role]
    total: dict[int, float] = {}
    for size in range(len(roles)):
        weight = math.factorial(size) * math.factorial(len(others) - size) / math.factorial(len(roles))
        for before in combinations(others, size):
            without, with_role = worth[frozenset(before)], worth[frozenset({*before, role})]
            for sign, scores in ((-1, without), (1, with_role)):
                for instance, value in instance_means(scores).items():
                    total[instance] = total.get(instance, 0.0) + sign * weight * value
    return mean_difference(list(total.values()), len(worth[frozenset()]) / len(total))

"""Collects one iteration: many instances on one event loop, their groups scored, their counts kept."""

import asyncio
import random
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from at_grpo.rollouts.limits import StopReason
from at_grpo.rollouts.programs import SharedRuns
from at_grpo.rollouts.trajectories import grow_trajectories
from at_grpo.rollouts.tree import Recipe, Tree, grow_tree
from at_grpo.samples import Group
from at_grpo.seeds import derive_seed
from llm_envs.episode import Ending, Episode
from llm_envs.play import aplay
from llm_envs.players import Player
from llm_envs.sandbox.base import Sandbox

_GROWERS: dict[str, Callable[..., Awaitable[Tree]]] = {"turn": grow_tree, "trajectory": grow_trajectories}
_ENDINGS = {
    StopReason.TERMINATED: Ending.TERMINATED,
    StopReason.TRUNCATED: Ending.TRUNCATED,
    StopReason.PROMPT_TOO_LONG: Ending.BUDGET,
    StopReason.LOST: Ending.ERROR,
}


class TooManyLostError(RuntimeError):
    """Infrastructure failures took more of an iteration than the run allows."""


@dataclass(frozen=True, slots=True)
class Rollout:
    """One iteration's experience.

    Attributes:
        groups: unscored groups, in no order.
        episodes: the line each instance followed, as records.
        stops: how many instances ended for which reason.
        asked, ran: programs asked for by agents and really run.
    """

    groups: list[Group]
    episodes: list[Episode]
    stops: Counter[str]
    asked: int
    ran: int


class RolloutEngine:
    """Grows a tree (or K trajectories) for each instance, all at once."""

    def __init__(
        self,
        make_env: Callable[[], Any],
        recipe: Recipe,
        *,
        env_id: str,
        split: str,
        grouping: str,
        sandbox: Sandbox,
        max_lost_share: float,
    ) -> None:
        """Args:
        make_env: makes one environment; called once an instance.
        recipe: see `tree.Recipe`.
        env_id, split: for the records, and the split that instances come from.
        grouping: `turn` or `trajectory`.
        sandbox: runs the programs that agents write.
        max_lost_share: share of an iteration's branches that may be lost before the run stops.
        """
        self._make_env = make_env
        self._recipe = recipe
        self._env_id = env_id
        self._split = split
        self._grow = _GROWERS[grouping]
        self._sandbox = sandbox
        self._max_lost_share = max_lost_share

    def collect(self, step: int, indices: Sequence[int]) -> Rollout:
        """The experience of one iteration. Raises `TooManyLostError`, and `SamplerError` where the sampler fails."""
        return asyncio.run(self._collect(step, indices))

    async def _collect(self, step: int, indices: Sequence[int]) -> Rollout:
        runs = SharedRuns(self._sandbox)
        trees = await asyncio.gather(
            *(self._grow(self._reset(index, runs), self._recipe, step, index) for index in indices)
        )
        groups = [group for tree in trees for group in tree.groups]
        lost = (
            sum(group.lost for group in groups) + sum(tree.stop is StopReason.LOST for tree in trees) * self._recipe.k
        )
        kept = sum(len(group.samples) for group in groups)
        if lost > self._max_lost_share * (lost + kept):
            raise TooManyLostError(
                f"step {step}: {lost} of {lost + kept} branches were lost to infrastructure failures, more than "
                f"rollout.max_lost_share={self._max_lost_share}. The log names each; mend the sandbox or the sampler."
            )
        episodes = [self._record(index, tree) for index, tree in zip(indices, trees, strict=True)]
        return Rollout(groups, episodes, Counter(str(tree.stop) for tree in trees), runs.asked, runs.ran)

    def _reset(self, index: int, runs: Sandbox) -> Any:
        env = self._make_env()
        env.unwrapped.sandbox = runs
        env.reset(options={"split": self._split, "index": index})
        return env

    def _record(self, index: int, tree: Tree) -> Episode:
        returns: dict[str, float] = defaultdict(float)
        for turn in tree.turns:
            returns[turn.agent] += turn.reward
        return Episode(
            env=self._env_id,
            split=self._split,
            index=index,
            players=dict(self._recipe.policies),
            start=tree.start,
            turns=tuple(tree.turns),
            returns=dict(returns),
            success=tree.success,
            ending=_ENDINGS[tree.stop],
        )

    def evaluate(self, split: str, indices: Sequence[int], players: dict[str, Player]) -> list[Episode]:
        """Plays each instance once, without branches, all at once."""
        return asyncio.run(self._evaluate(split, indices, players))

    async def _evaluate(self, split: str, indices: Sequence[int], players: dict[str, Player]) -> list[Episode]:
        runs = SharedRuns(self._sandbox)

        async def one(index: int) -> Episode:
            env = self._make_env()
            env.unwrapped.sandbox = runs
            with self._recipe.sampler.episode():
                return await aplay(env, players, env_id=self._env_id, split=split, index=index)

        return list(await asyncio.gather(*(one(index) for index in indices)))


def permute_rewards(groups: Sequence[Group], seed: int) -> list[Group]:
    """A control experiment: the same rewards, dealt out at random within each group, so that nothing can be learned."""
    permuted = []
    for group in groups:
        rewards = [sample.reward for sample in group.samples]
        random.Random(derive_seed(seed, str(group.key))).shuffle(rewards)
        samples = tuple(replace(sample, reward=reward) for sample, reward in zip(group.samples, rewards, strict=True))
        permuted.append(replace(group, samples=samples))
    return permuted

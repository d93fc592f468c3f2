"""Plays the instances of an iteration: many at once on one event loop, each handed over as soon as it is done."""

import asyncio
import logging
import random
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from at_grpo.inference.base import SamplerError
from at_grpo.rollouts.concurrency import seldom_collecting, together
from at_grpo.rollouts.limits import RolloutError, StopReason
from at_grpo.rollouts.played import Played, Programs
from at_grpo.rollouts.programs import SharedRuns
from at_grpo.rollouts.trajectories import grow_trajectories
from at_grpo.rollouts.tree import Recipe, Tree, grow_tree
from at_grpo.samples import Group
from at_grpo.seeds import derive_seed
from llm_envs.core.errors import UsageError
from llm_envs.episode import Ending, Episode
from llm_envs.play import aplay
from llm_envs.players import Player
from llm_envs.sandbox.base import Sandbox

logger = logging.getLogger(__name__)

_GROWERS: dict[str, Callable[..., Awaitable[Tree]]] = {"turn": grow_tree, "trajectory": grow_trajectories}
_ENDINGS = {
    StopReason.TERMINATED: Ending.TERMINATED,
    StopReason.TRUNCATED: Ending.TRUNCATED,
    StopReason.PROMPT_TOO_LONG: Ending.BUDGET,
    StopReason.LOST: Ending.ERROR,
}
Deliver = Callable[[Played], bool]  # takes an instance that is done; whether it is kept


class TooManyLostError(RolloutError):
    """Failures took more of an iteration than the run allows."""


class RolloutEngine:
    """Grows a tree (or K trajectories) for each instance."""

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
        max_in_flight: int = 0,
    ) -> None:
        """Args:
        make_env: makes one environment; called once an instance.
        recipe: see `tree.Recipe`.
        env_id, split: for the records, and the split that instances come from.
        grouping: `turn` or `trajectory`.
        sandbox: runs the programs that agents write.
        max_lost_share: share of an iteration's branches that may be lost before the run stops.
        max_in_flight: most instances at once, 0 = all.
        """
        self._make_env = make_env
        self._recipe = recipe
        self._env_id = env_id
        self._split = split
        self._grow = _GROWERS[grouping]
        self._sandbox = sandbox
        self._max_lost_share = max_lost_share
        self._max_in_flight = max_in_flight

    async def play(self, step: int, indices: Iterable[int], deliver: Deliver, *, wanted: int) -> Programs:
        """Play instances until `wanted` of them are kept, or there is none left. There is no barrier between them:
        each is delivered when it is done, and one that is not kept has its place taken by the next.

        An instance that fails in a way of its own is delivered without groups; a cancelled call leaves no task behind.

        Raises:
            TooManyLostError: more branches were lost than the run allows.
            SamplerError, UsageError: what would fail for every instance.
        """
        runs, waiting = SharedRuns(self._sandbox), iter(indices)
        room = asyncio.Semaphore(self._max_in_flight or max(1, wanted))
        branches = lost = 0

        async def seat() -> None:
            nonlocal branches, lost
            for index in waiting:
                async with room:
                    played = await self._play_one(step, index, runs)
                branches, lost = branches + played.branches, lost + played.lost
                if deliver(played):
                    return

        try:
            with seldom_collecting():
                await together(*(seat() for _ in range(wanted)))
        finally:
            await runs.stop()
        if lost > self._max_lost_share * branches:
            raise TooManyLostError(
                f"step {step}: {lost} of {branches} branches were lost to failures, more than "
                f"rollout.max_lost_share={self._max_lost_share}. The log names each; mend the sandbox, the environment "
                "or the sampler."
            )
        return Programs(runs.asked, runs.ran)

    async def _play_one(self, step: int, index: int, runs: Sandbox) -> Played:
        try:
            tree = await self._grow(self._reset(index, runs), self._recipe, step, index)
        except (SamplerError, UsageError):
            raise
        except Exception as error:
            # The boundary of an instance: whatever breaks in an environment takes this one and is counted.
            logger.warning("step %d: instance %d is lost", step, index, exc_info=error)
            episode = replace(self._record(index, Tree()), error=f"{type(error).__name__}: {error}")
            return Played(index, (), episode, StopReason.LOST, lost=self._recipe.k)
        lost = sum(group.lost for group in tree.groups) + (tree.stop is StopReason.LOST) * self._recipe.k
        return Played(index, tuple(tree.groups), self._record(index, tree), tree.stop, lost)

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
            players={**self._recipe.policies, **{role: one.name for role, one in self._recipe.frozen.items()}},
            start=tree.start,
            turns=tuple(tree.turns),
            returns=dict(returns),
            success=tree.success,
            ending=_ENDINGS[tree.stop],
        )

    def evaluate(self, split: str, indices: Sequence[int], players: dict[str, Player]) -> list[Episode]:
        """Plays each instance once, without branches, all at once."""
        return asyncio.run(self.aevaluate(split, indices, players))

    async def aevaluate(self, split: str, indices: Sequence[int], players: dict[str, Player]) -> list[Episode]:
        """See `evaluate`."""
        runs = SharedRuns(self._sandbox)

        async def one(index: int) -> Episode:
            env = self._make_env()
            env.unwrapped.sandbox = runs
            with self._recipe.sampler.episode():
                return await aplay(env, players, env_id=self._env_id, split=split, index=index)

        return await together(*(one(index) for index in indices))


def permute_rewards(groups: Sequence[Group], seed: int) -> list[Group]:
    """A control experiment: the same rewards, dealt out at random within each group, so that nothing can be learned."""
    permuted = []
    for group in groups:
        rewards = [sample.reward for sample in group.samples]
        random.Random(derive_seed(seed, str(group.key))).shuffle(rewards)
        samples = tuple(replace(sample, reward=reward) for sample, reward in zip(group.samples, rewards, strict=True))
        permuted.append(replace(group, samples=samples))
    return permuted

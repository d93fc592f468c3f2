"""The trainer's source of experience: rollouts of one iteration, scored, stored and measured."""

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

from at_grpo.advantages import Scale, score
from at_grpo.config import TrainConfig
from at_grpo.inference.publishing import Publication
from at_grpo.metrics import step_metrics
from at_grpo.rollouts.engine import Rollout, RolloutEngine, permute_rewards
from at_grpo.samples import Group, Iteration
from at_grpo.seeds import instance_indices
from at_grpo.store import ExperienceStore
from llm_envs.episode import Episode
from llm_envs.players import Player

TOTALS = "totals.json"
OnStep = Callable[[int, list[Group], Rollout, Mapping[str, float]], None]


class Experience:
    """Collects iterations and plays evaluations.

    Attributes:
        totals: counts over the run: samples per role, programs asked for and run, instances.
    """

    def __init__(
        self,
        config: TrainConfig,
        engine: RolloutEngine,
        players: Mapping[str, Player],
        publication: Publication,
        on_step: OnStep | None = None,
    ) -> None:
        """Args:
        config: the run's configuration.
        engine: plays the episodes.
        players: role -> player of the current policies, for evaluations.
        publication: gets the present weights to whoever generates.
        on_step: told of every iteration's scored groups, episodes and metrics.
        """
        self._config = config
        self._engine = engine
        self._players = dict(players)
        self._publication = publication
        self._on_step = on_step
        self._store = ExperienceStore(config.optim.micro_batch_size)
        self.totals: Counter[str] = Counter()

    def collect(self, step: int) -> Iteration:
        """Sample, score and seal iteration `step`; the same step of the same run always asks for the same instances."""
        config = self._config
        published = self._publish(step)
        rollout = self._engine.collect(step, instance_indices(config.run.seed, step, config.rollout.instances))
        groups = permute_rewards(rollout.groups, config.run.seed) if config.run.permute_rewards else rollout.groups
        self._store.open(step)
        self._store.add(score(groups, scale=Scale(config.optim.scale_rewards), factor=config.optim.advantage_factor))
        groups = self._store.seal()
        self._count(groups, rollout)
        metrics = {**self._metrics(groups, rollout), **published}
        if self._on_step is not None:
            self._on_step(step, groups, rollout, metrics)
        return Iteration(self._store.stream(step), metrics)

    def assess(self, step: int) -> dict[str, float]:
        """Success and returns on the evaluation split, one episode an instance, sampled as in training, by the weights
        before iteration `step`.
        """
        config = self._config
        self._publish(step)
        episodes = self._engine.evaluate(config.env.eval_split, range(config.run.eval_instances), self._players)
        return {"success": sum(episode.success for episode in episodes) / len(episodes), **_mean_returns(episodes)}

    def _publish(self, version: int) -> dict[str, float]:
        started = time.perf_counter()
        measured = self._publication.publish(version)
        return {**measured, "time/publish": time.perf_counter() - started}

    def save(self, checkpoint: Path) -> None:
        """Keep the totals with a checkpoint, so that a resumed run goes on counting."""
        (checkpoint / TOTALS).write_text(json.dumps(self.totals, sort_keys=True), encoding="utf-8")

    def restore(self, checkpoint: Path) -> None:
        """The inverse of `save`."""
        self.totals = Counter(json.loads((checkpoint / TOTALS).read_text(encoding="utf-8")))

    def _metrics(self, groups: list[Group], rollout: Rollout) -> dict[str, float]:
        metrics = step_metrics(groups)
        # Best of K at every turn: far above what one reply a turn would reach, so it is no evaluation.
        metrics["tree/success"] = sum(episode.success for episode in rollout.episodes) / len(rollout.episodes)
        metrics |= {f"stop/{reason}": float(count) for reason, count in rollout.stops.items()}
        return metrics | {"programs/asked": float(rollout.asked), "programs/ran": float(rollout.ran)}

    def _count(self, groups: list[Group], rollout: Rollout) -> None:
        for group in groups:
            self.totals[f"samples/{group.role}"] += len(group.samples)
        self.totals["programs/asked"] += rollout.asked
        self.totals["programs/ran"] += rollout.ran
        self.totals["instances"] += len(rollout.episodes)


def _mean_returns(episodes: list[Episode]) -> dict[str, float]:
    agents = episodes[0].returns
    return {f"return/{agent}": sum(episode.returns[agent] for episode in episodes) / len(episodes) for agent in agents}

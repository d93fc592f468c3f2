"""The trainer's source of experience: rollouts of one iteration, scored, stored and measured."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from at_grpo.choices import Backend, Filter
from at_grpo.config import TrainConfig
from at_grpo.inference.publishing import Publication
from at_grpo.journal import Journal
from at_grpo.metrics import step_metrics
from at_grpo.rollouts.collection import Collection
from at_grpo.rollouts.concurrency import Background
from at_grpo.rollouts.engine import RolloutEngine
from at_grpo.rollouts.played import Rollout
from at_grpo.samples import Group, Iteration, MicroBatch
from at_grpo.store import ExperienceStore
from llm_envs.episode import Episode
from llm_envs.players import Player

TOTALS = "totals.json"
OnStep = Callable[[int, list[Group], Rollout, Mapping[str, float]], None]


class Experience:
    """Collects iterations and plays evaluations.

    A sampler in this process shares the model with the trainer: an iteration is collected whole, then trained on, and
    a run repeats bit for bit. A server plays on its own: the engine gets a thread, what it has finished is trained on
    meanwhile, and what is trained on stands in the journal. Leaving the context ends what is still being played.

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
        self._store = ExperienceStore(config.optim.micro_batch_size, config.rollout.stall_s)
        beside = config.inference.backend != Backend.TRANSFORMERS
        self._journal = Journal(Path(config.run.output_dir)) if beside else None
        self._rollouts: Background | None = None
        self.totals: Counter[str] = Counter()

    def collect(self, step: int) -> Iteration:
        """Iteration `step`, published, and then sampled: all of it, or while its micro-batches are trained on."""
        published = self._publish(step)
        collection = Collection(self._config, step, self._store, self._journal)
        if self._journal is None:
            rollout, seconds = asyncio.run(self._play(step, collection))
            metrics = self._finish(step, collection, rollout, seconds) | published
            return Iteration(self._store.stream(step), metrics)
        return Iteration(self._follow(step, collection, published), published)

    async def _play(self, step: int, collection: Collection) -> tuple[Rollout, float]:
        """Play what is wanted and seal the version; the rollout and the seconds that it took."""
        started = time.perf_counter()
        programs = await self._engine.play(step, collection.indices(), collection.deliver, wanted=collection.wanted)
        return collection.seal(programs), time.perf_counter() - started

    def _follow(self, step: int, collection: Collection, metrics: dict[str, float]) -> Iterator[MicroBatch]:
        """The micro-batches of a version while it is played on a thread of its own; with the last one the metrics are
        complete.
        """
        results: list[tuple[Rollout, float]] = []

        async def play() -> None:
            try:
                results.append(await self._play(step, collection))
            except BaseException as error:  # the boundary of the thread: whoever trains gets it
                self._store.fail(error)
                raise

        self._rollouts = Background(play, name=f"rollouts of step {step}")
        yield from self._store.follow(step)
        self.close()
        metrics |= self._finish(step, collection, *results.pop())

    def _finish(self, step: int, collection: Collection, rollout: Rollout, seconds: float) -> dict[str, float]:
        """Count, measure and tell an iteration that is complete."""
        groups = rollout.groups
        self._count(groups, rollout)
        metrics = _metrics(groups, rollout) | {"time/rollout": seconds}
        if self._config.rollout.filter != Filter.NONE:
            metrics |= {"instances/played": float(len(rollout.played)), "instances/kept": float(collection.kept)}
        if collection.reused:
            metrics["instances/reused"] = float(collection.reused)
        if self._on_step is not None:
            self._on_step(step, groups, rollout, metrics)
        return metrics

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

    def _count(self, groups: list[Group], rollout: Rollout) -> None:
        for group in groups:
            self.totals[f"samples/{group.role}"] += len(group.samples)
        self.totals["programs/asked"] += rollout.programs.asked
        self.totals["programs/ran"] += rollout.programs.ran
        self.totals["instances"] += len(rollout.played)

    # ---- checkpoints

    def save(self, checkpoint: Path) -> None:
        """Keep with a checkpoint what a resumed run needs: the totals, to go on counting, and the checkpoint's id."""
        (checkpoint / TOTALS).write_text(json.dumps(self.totals, sort_keys=True), encoding="utf-8")
        if self._journal is not None:
            self._journal.save(checkpoint)

    def commit(self, checkpoint: Path) -> None:
        """The checkpoint is complete, so what was trained on before it need not be kept."""
        if self._journal is not None:
            self._journal.commit(checkpoint)

    def restore(self, checkpoint: Path) -> None:
        """The inverse of `save`."""
        self.totals = Counter(json.loads((checkpoint / TOTALS).read_text(encoding="utf-8")))
        if self._journal is not None:
            self._journal.restore(checkpoint)

    # ---- lifetime

    def close(self) -> None:
        """End what is still being played; nothing of it is trained on any more, and the journal keeps it."""
        rollouts, self._rollouts = self._rollouts, None
        if rollouts is not None:
            rollouts.close()
        if self._journal is not None:
            self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _metrics(groups: list[Group], rollout: Rollout) -> dict[str, float]:
    metrics = step_metrics(groups)
    # Best of K at every turn: far above what one reply a turn would reach, so it is no evaluation.
    metrics["tree/success"] = sum(episode.success for episode in rollout.episodes) / len(rollout.episodes)
    metrics |= {f"stop/{reason}": float(count) for reason, count in rollout.stops.items()}
    return metrics | {
        "programs/asked": float(rollout.programs.asked),
        "programs/ran": float(rollout.programs.ran),
    }


def _mean_returns(episodes: list[Episode]) -> dict[str, float]:
    agents = episodes[0].returns
    return {f"return/{agent}": sum(episode.returns[agent] for episode in episodes) / len(episodes) for agent in agents}

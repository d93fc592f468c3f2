"""The trainer's source of experience: rollouts of one iteration, scored, stored and measured."""

import asyncio
import functools
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
from at_grpo.metrics import sampling_speed, step_metrics, version_lag
from at_grpo.rollouts.collection import Collection
from at_grpo.rollouts.concurrency import Background
from at_grpo.rollouts.engine import RolloutEngine
from at_grpo.rollouts.played import Rollout
from at_grpo.samples import Group, Iteration, MicroBatch
from llm_envs.episode import Episode
from llm_envs.players import Player

TOTALS = "totals.json"
OnStep = Callable[[int, list[Group], Rollout, Mapping[str, float]], None]


class Experience:
    """Collects iterations and plays evaluations.

    A sampler in this process shares the model with the trainer: an iteration is collected whole, then trained on, and
    a run repeats bit for bit. A server plays on its own: rollouts have a thread, what they have finished is trained on
    meanwhile, and what is trained on stands in the journal. With `rollout.staleness` S, they go on to the next
    iterations, at most S ahead, with the weights that are served by then. Leaving the context ends what is still being
    played.

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
        self._published: dict[str, float] = {}  # measured by a publication, and not told yet
        self._on_step = on_step
        beside = config.inference.backend != Backend.TRANSFORMERS
        self._journal = Journal(Path(config.run.output_dir), config.rollout.staleness) if beside else None
        self._begun: dict[int, Collection] = {}  # played by the thread, or waiting for it
        self._waiting: asyncio.Queue[Collection] = asyncio.Queue()
        self._thread: Background | None = None
        self.totals: Counter[str] = Counter()

    def collect(self, step: int) -> Iteration:
        """Iteration `step`, published, and then sampled: all of it, or while its micro-batches are trained on."""
        published, self._published = self._publish(step), {}
        if self._journal is None:
            collection = Collection(self._config, step, None)
            asyncio.run(self._play(collection))
            return Iteration(collection.store.stream(step), self._finish(collection) | published)
        self._begin(step, self._journal)
        return Iteration(self._follow(step, published), published)

    async def _play(self, collection: Collection) -> None:
        """Play what is wanted and seal the version."""
        started, step = time.perf_counter(), collection.step
        programs = await self._engine.play(step, collection.indices(), collection.deliver, wanted=collection.wanted)
        collection.seal(programs, time.perf_counter() - started)

    def _begin(self, step: int, journal: Journal) -> None:
        """Let the thread play `step` and, as far ahead as the weights may be stale, the iterations after it: now that
        version `step` is served, no sample of them can be too old.
        """
        if self._thread is None:
            self._waiting = asyncio.Queue()
            self._thread = Background(self._play_all, name="rollouts")
        last = min(step + self._config.rollout.staleness, max(step, self._config.optim.steps - 1))
        for ahead in range(max(self._begun, default=step - 1) + 1, last + 1):
            self._begun[ahead] = Collection(self._config, ahead, journal)
            self._thread.call(self._waiting.put_nowait, self._begun[ahead])

    async def _play_all(self) -> None:
        """On the thread: one iteration after another, in their order."""
        while True:
            collection = await self._waiting.get()
            try:
                await self._play(collection)
            except BaseException as error:  # the boundary of the thread: whoever trains on it gets it
                collection.store.fail(error)
                raise

    def _follow(self, step: int, metrics: dict[str, float]) -> Iterator[MicroBatch]:
        """The micro-batches of a version, those that are still being played when they are there; with the last one the
        metrics are complete.
        """
        yield from self._begun[step].store.follow(step)
        metrics |= self._finish(self._begun.pop(step))

    def _finish(self, collection: Collection) -> dict[str, float]:
        """Count, measure and tell an iteration that is complete."""
        rollout, groups = collection.rollout, collection.rollout.groups
        self._count(groups, rollout)
        fresh = [group for group in groups if group.key.instance not in collection.reused]
        metrics = _metrics(groups, rollout) | sampling_speed(fresh, collection.seconds)
        metrics["time/rollout"] = collection.seconds
        if self._config.rollout.filter != Filter.NONE:
            metrics |= {"instances/played": float(len(rollout.played)), "instances/kept": float(collection.kept)}
        if collection.reused:
            metrics["instances/reused"] = float(len(collection.reused))
        if self._on_step is not None:
            self._on_step(collection.step, groups, rollout, metrics)
        return metrics

    def assess(self, step: int) -> dict[str, float]:
        """Success and returns on the evaluation split, one episode an instance, sampled as in training, by the weights
        before iteration `step`.
        """
        config = self._config
        self._publish(step)
        what = (config.env.eval_split, range(config.run.eval_instances), self._players)
        if self._thread is None:
            episodes = self._engine.evaluate(*what)
        else:  # rollouts may be going on there, and players and samplers serve one event loop at a time
            episodes = self._thread.run(functools.partial(self._engine.aevaluate, *what))
        return {"success": sum(episode.success for episode in episodes) / len(episodes), **_mean_returns(episodes)}

    def _publish(self, version: int) -> dict[str, float]:
        """What was measured of the version, by an evaluation that came first, too; the time is that of this call."""
        started = time.perf_counter()
        self._published = {**self._published, **self._publication.publish(version)}
        return {**self._published, "time/publish": time.perf_counter() - started}

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
        thread, self._thread = self._thread, None
        self._begun.clear()
        if thread is not None:
            thread.close()
        if self._journal is not None:
            self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _metrics(groups: list[Group], rollout: Rollout) -> dict[str, float]:
    metrics = step_metrics(groups) | version_lag(groups)
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

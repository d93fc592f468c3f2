"""Plays a run: many episodes at once on one event loop, each stored the moment it ends."""

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import llm_envs
from llm_envs.core.errors import require
from llm_envs.episode import Ending, Episode
from llm_envs_bench.agents import Asking, Cast, build_casts
from llm_envs_bench.attempts import Attempt
from llm_envs_bench.budget import Budget, Spending
from llm_envs_bench.one_episode import play_one
from llm_envs_bench.plan import RunPlan
from llm_envs_bench.prices import Price
from llm_envs_bench.spec import EpisodeKey, RunSpec
from llm_envs_bench.store import Run, RunWriter, is_complete, load_runs

_logger = logging.getLogger(__name__)

Observer = Callable[[Episode], None]
Watch = Callable[[int], AbstractContextManager[Observer]]
FAILURES_IN_A_ROW = 20  # or as many as are played at once: what fails so often is down


def unwatched(_owed: int) -> AbstractContextManager[Observer]:
    """Nobody looks on."""
    return nullcontext(lambda _episode: None)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a run may do at once and in all.

    Attributes:
        concurrency: episodes at once; what they share is the agents' endpoint or batch.
        budget: what it may take.
        prices: model -> price, for budgets of cost.
    """

    concurrency: int = 32
    budget: Budget = field(default_factory=Budget)
    prices: Mapping[str, Price] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require(self.concurrency >= 1, "concurrency", self.concurrency, "a whole number >= 1")


def evaluate(
    spec: RunSpec,
    out: Path,
    *,
    cast: Cast | None = None,
    concurrency: int = 32,
    resume: bool = False,
    watch: Watch = unwatched,
) -> Run:
    """`play_run` for one environment, and the result."""
    casts = None if cast is None else {spec.entry: cast}
    play_run(RunPlan((spec,)), out, casts=casts, limits=Limits(concurrency), resume=resume, watch=watch)
    (run,) = load_runs(out)
    return run


def play_run(
    plan: RunPlan,
    out: Path,
    *,
    casts: Mapping[str, Cast] | None = None,
    asking: Asking | None = None,
    limits: Limits | None = None,
    spending: Spending | None = None,
    resume: bool = False,
    watch: Watch = unwatched,
) -> str:
    """Play what the run folder `out` owes of `plan`.

    Args:
        plan: what to play.
        out: run folder, see `store`.
        casts: entry -> who plays it, where it is not who the plan names.
        asking: how agents outside this process are asked.
        limits: how much at once and in all.
        spending: what was taken so far, where several runs share a budget.
        resume: go on in a folder that holds a part of this very run.
        watch: given the number of episodes to play, opens an observer that is told of each one that ends, failed ones
            included.

    Returns:
        Why nothing more was played although some is owed: a budget that is used up, or an agent that failed too often
        in a row. Empty where everything was played.

    Raises:
        UsageError: the folder holds something else, an instance is not the one that a suite has frozen, or an agent
            can't be used at all (a wrong key, an unknown model).
    """
    if resume and is_complete(out, plan):
        return ""
    limits = limits or Limits()
    crew = build_casts(plan, asking) if casts is None else casts  # before the folder is touched: it may be refused
    spending = spending or Spending(limits.budget, plan, limits.prices)
    with RunWriter(out, plan, resume=resume) as writer, watch(len(writer.owed)) as observer:
        spending.add_attempts(writer.earlier_attempts())
        game = _Playing(crew, limits, spending, writer, observer)
        asyncio.run(game.play())
        return game.stopped


class _Playing:
    """One run while it is played."""

    def __init__(
        self, casts: Mapping[str, Cast], limits: Limits, spending: Spending, writer: RunWriter, observer: Observer
    ) -> None:
        self.stopped = ""
        self._casts = casts
        self._concurrency = limits.concurrency
        self._spending = spending
        self._writer = writer
        self._observer = observer
        self._failures_in_a_row = 0

    async def play(self) -> None:
        """Play every episode that is owed, or until it makes no sense to go on."""
        queue = iter(self._writer.owed)
        async with AsyncExitStack() as stack:
            for agent in {id(agent): agent for cast in self._casts.values() for agent in cast.agents.values()}.values():
                stack.push_async_callback(agent.aclose)
            try:
                async with asyncio.TaskGroup() as workers:
                    for _ in range(min(self._concurrency, len(self._writer.owed))):
                        workers.create_task(self._play_from(queue))
            except ExceptionGroup as group:  # the first failure explains the run; the others are its company
                raise first_of(group) from None

    async def _play_from(self, queue: Iterator[tuple[RunSpec, EpisodeKey]]) -> None:
        """One worker: an environment of its own, episode after episode."""
        env: Any = None
        made_for: RunSpec | None = None
        try:
            for spec, key in queue:
                self.stopped = self.stopped or self._spending.exhausted
                if self.stopped:
                    return
                if spec is not made_for:
                    _close(env)
                    env, made_for = llm_envs.make(spec.env, **spec.options), spec
                episode, attempt = await play_one(env, spec, key, self._casts[key.entry], self._spending)
                self._ended(key, episode, attempt)
                await asyncio.sleep(0)  # lets Ctrl-C and the other workers in where the players never wait
        finally:
            _close(env)

    def _ended(self, key: EpisodeKey, episode: Episode, attempt: Attempt) -> None:
        self._writer.record(key, episode, attempt)
        if episode.ending is Ending.ERROR:
            _logger.info("%s is owed: %s", key.id, episode.error)
            self._failures_in_a_row += 1
            most = max(FAILURES_IN_A_ROW, self._concurrency)
            if self._failures_in_a_row >= most:
                self.stopped = self.stopped or f"the last {most} episodes failed, the last of them with {episode.error}"
        else:
            self._failures_in_a_row = 0
        self._observer(episode)


def _close(env: Any) -> None:
    if env is not None:
        env.close()


def first_of(group: ExceptionGroup[Exception]) -> Exception:
    """The failure that explains a group of them."""
    error: Exception = group
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error

"""Plays a run: one episode an instance, many at once on one event loop, each stored the moment it ends."""

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, AsyncExitStack, nullcontext
from pathlib import Path
from typing import Any

import llm_envs
from llm_envs.episode import Ending, Episode, Turn
from llm_envs.play import aplay
from llm_envs_bench.agents import AgentError, Cast, build_cast
from llm_envs_bench.spec import RunSpec
from llm_envs_bench.store import Run, RunWriter, is_complete, load_run

_logger = logging.getLogger(__name__)

Observer = Callable[[Episode], None]
Watch = Callable[[int], AbstractContextManager[Observer]]


def unwatched(_owed: int) -> AbstractContextManager[Observer]:
    """Nobody looks on."""
    return nullcontext(lambda _episode: None)


def evaluate(
    spec: RunSpec,
    out: Path,
    *,
    cast: Cast | None = None,
    concurrency: int = 32,
    resume: bool = False,
    watch: Watch = unwatched,
) -> Run:
    """Play what the run folder `out` owes of `spec` and read the result.

    Args:
        spec: what to play.
        out: run folder, see `store`.
        cast: who plays, where it is not who the description names.
        concurrency: episodes at once; what they share is the agents' endpoint or batch.
        resume: go on in a folder that holds a part of this very run.
        watch: given the number of episodes to play, opens an observer that is told of each one that ends, failed ones
            included.

    Raises:
        UsageError: the folder holds something else, or an agent can't be used at all (a wrong key, an unknown model).
    """
    if resume and is_complete(out, spec):
        return load_run(out)
    players = build_cast(spec) if cast is None else cast  # before the folder is touched: it may be refused
    with RunWriter(out, spec, resume=resume) as writer, watch(len(writer.owed)) as observer:

        def ended(episode: Episode) -> None:
            writer.record(episode)
            if episode.ending is Ending.ERROR:
                _logger.warning("instance %s is owed: %s", episode.index, episode.error)
            observer(episode)

        asyncio.run(_play_all(spec, players, writer.owed, max(1, concurrency), ended))
    return load_run(out)


async def _play_all(spec: RunSpec, cast: Cast, indices: list[int], concurrency: int, ended: Observer) -> None:
    queue = iter(indices)
    async with AsyncExitStack() as stack:
        for aclose in cast.closers:
            stack.push_async_callback(aclose)
        try:
            async with asyncio.TaskGroup() as workers:
                for _ in range(min(concurrency, len(indices))):
                    workers.create_task(_play_from(queue, spec, cast, ended))
        except ExceptionGroup as group:  # the first failure explains the run; the others are its company
            raise _first(group) from None


def _first(group: ExceptionGroup[Exception]) -> Exception:
    error: Exception = group
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


async def _play_from(queue: Iterator[int], spec: RunSpec, cast: Cast, ended: Observer) -> None:
    """One worker: an environment of its own, instance after instance."""
    env = llm_envs.make(spec.env, **spec.options)
    try:
        for index in queue:
            ended(await _play_one(env, index, spec, cast))
            await asyncio.sleep(0)  # lets Ctrl-C and the other workers in where the players never wait
    finally:
        env.close()


async def _play_one(env: Any, index: int, spec: RunSpec, cast: Cast) -> Episode:
    """One episode; the boundary at which an infrastructure failure becomes a record without a score.

    A sandbox that fails (in `aplay`) or an agent that can't be reached is nobody's lack of skill: the instance is owed.
    Whatever else is raised is a defect of an environment or a player, and ends the run.
    """
    turns: list[Turn] = []
    try:
        with cast.episode():
            return await aplay(
                env,
                cast.players,
                env_id=spec.env,
                split=spec.split,
                index=index,
                options=spec.options,
                on_turn=turns.append,
            )
    except AgentError as error:
        return Episode(
            env=spec.env,
            split=spec.split,
            index=index,
            players={role: player.name for role, player in cast.players.items()},
            start="",
            turns=tuple(turns),
            returns={},
            success=False,
            ending=Ending.ERROR,
            options=dict(spec.options),
            error=str(error),
        )

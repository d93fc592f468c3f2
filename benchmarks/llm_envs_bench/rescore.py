"""New grading without new generation: recorded replies are played again through the environments as they are now."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import llm_envs
from llm_envs.episode import Episode
from llm_envs.players import Env, Player
from llm_envs_bench.agents import AgentError, Cast
from llm_envs_bench.agents.base import PlainAgent
from llm_envs_bench.attempts import Attempt, Event
from llm_envs_bench.budget import Budget, Spending
from llm_envs_bench.one_episode import play_one
from llm_envs_bench.runner import first_of
from llm_envs_bench.spec import EpisodeKey, RunSpec
from llm_envs_bench.store import Run, RunWriter, load_plan, load_runs

CONCURRENCY = 8  # episodes at once; programs are all that takes time


@dataclass(slots=True)
class Changes:
    """What another grading made of the recorded replies; ids of episodes.

    Attributes:
        gained, lost: solved now and not before, and the other way round.
        repaid: solved as before, with other returns.
        diverged: an agent would see something else now than what it answered. The score is what its old replies earn,
            not what it would reply.
        shorter: ended before all replies were used.
        owed: could not be played to their end: more replies are asked for than were recorded, the instance is another
            one, or a sandbox failed.
    """

    gained: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    repaid: list[str] = field(default_factory=list)
    diverged: list[str] = field(default_factory=list)
    shorter: list[str] = field(default_factory=list)
    owed: list[str] = field(default_factory=list)


def rescore(folder: Path, out: Path) -> Changes:
    """Fill the run folder `out` with the scored episodes of `folder`, played again.

    Costs are carried over. What the old run owes, the new one owes.

    Raises:
        UsageError: `folder` is no run, `out` holds something, or an instance is not the one that a suite has frozen.
    """
    plan = load_plan(folder)
    runs = {run.spec.entry: run for run in load_runs(folder)}
    changes = Changes()
    with RunWriter(out, plan, resume=False) as writer:
        recorded = {episode.id: episode for run in runs.values() for episode in run.episodes}
        spending = Spending(Budget(), plan, {})
        queue = ((spec, key, recorded[key.id]) for spec, key in writer.owed if key.id in recorded)
        replay = _Replay(writer, spending, _paid(runs.values()), changes)
        asyncio.run(replay.play(queue))
    return changes


Task = tuple[RunSpec, EpisodeKey, Episode]


class _Replay:
    """One rescoring while it is under way."""

    def __init__(self, writer: RunWriter, spending: Spending, paid: Mapping[str, Attempt], changes: Changes) -> None:
        self._writer = writer
        self._spending = spending
        self._paid = paid
        self._changes = changes

    async def play(self, queue: Iterator[Task]) -> None:
        """Play every task."""
        try:
            async with asyncio.TaskGroup() as workers:
                for _ in range(CONCURRENCY):
                    workers.create_task(self._play_from(queue))
        except ExceptionGroup as group:
            raise first_of(group) from None

    async def _play_from(self, queue: Iterator[Task]) -> None:
        """One worker: an environment of its own, episode after episode."""
        env: Any = None
        made_for: RunSpec | None = None
        for spec, key, old in queue:
            if spec is not made_for:
                if env is not None:
                    env.close()
                env, made_for = llm_envs.make(spec.env, **spec.options), spec
            script = _Script(old)
            cast = Cast({role: _Recorded(agent, script) for role, agent in spec.agents.items()})
            new, attempt = await play_one(env, spec, key, cast, self._spending)
            paid = self._paid.get(key.id)
            if paid is not None:
                attempt = replace(attempt, seconds=paid.seconds, calls=paid.calls)
            self._writer.record(key, new, attempt)
            _note(self._changes, old, new, attempt, script)
        if env is not None:
            env.close()


class _Script:
    """The replies of an episode, by agent."""

    def __init__(self, episode: Episode) -> None:
        self._start = episode.start
        self._turns = {
            agent: iter([turn for turn in episode.turns if turn.agent == agent])
            for agent in {turn.agent for turn in episode.turns}
        }
        self.left = len(episode.turns)
        self._all = self.left
        self.diverged = False

    def reply(self, env: Env, agent: str, observation: str) -> str:
        """What the agent answered when it was asked for as many times.

        Raises:
            AgentError: the instance is another one, or there is no further reply.
        """
        if self.left == self._all and str(env.state()) != self._start:
            raise AgentError(Event.AGENT_FAILED, "the environment makes another instance now")
        turn = next(self._turns.get(agent, iter(())), None)
        if turn is None:
            raise AgentError(Event.AGENT_FAILED, f"{agent} is asked more often than replies were recorded")
        self.left -= 1
        self.diverged = self.diverged or turn.observation != observation
        return turn.reply


class _RecordedPlayer:
    """Says what was said."""

    def __init__(self, name: str, script: _Script) -> None:
        self.name = name
        self._script = script

    def act(self, env: Env, agent: str, observation: str) -> str:
        """See `Player`."""
        return self._script.reply(env, agent, observation)


class _Recorded(PlainAgent):
    """Plays one recorded episode under the name of who played it."""

    def __init__(self, name: str, script: _Script) -> None:
        self.name = name
        self._script = script

    def enter(self, key: EpisodeKey) -> Player:
        """See `Agent`."""
        return _RecordedPlayer(self.name, self._script)


def _note(changes: Changes, old: Episode, new: Episode, attempt: Attempt, script: _Script) -> None:
    if attempt.failure is not None:
        changes.owed.append(old.id)
        return
    if old.success != new.success:
        (changes.gained if new.success else changes.lost).append(old.id)
    elif dict(old.returns) != dict(new.returns):
        changes.repaid.append(old.id)
    if script.diverged:
        changes.diverged.append(old.id)
    if script.left:
        changes.shorter.append(old.id)


def _paid(runs: Iterable[Run]) -> dict[str, Attempt]:
    """Episode id -> all that was ever asked for it, as one attempt."""
    found: dict[str, Attempt] = {}
    for run in runs:
        for attempt in run.attempts:
            before = found.get(attempt.id, Attempt(attempt.id, None, 0.0, ()))
            seconds, calls = before.seconds + attempt.seconds, (*before.calls, *attempt.calls)
            found[attempt.id] = Attempt(attempt.id, None, seconds, calls)
    return found

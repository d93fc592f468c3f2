"""Plays one episode of a run."""

import time
from dataclasses import replace
from typing import Any

from llm_envs.core.errors import UsageError
from llm_envs.episode import Ending, Episode, Turn
from llm_envs.play import aplay
from llm_envs_bench.agents import AgentError, Cast
from llm_envs_bench.agents.metered import MeteredPlayer
from llm_envs_bench.attempts import Attempt, Call, Event
from llm_envs_bench.budget import Spending
from llm_envs_bench.spec import EpisodeKey, RunSpec, start_digest


async def play_one(env: Any, spec: RunSpec, key: EpisodeKey, cast: Cast, spending: Spending) -> tuple[Episode, Attempt]:
    """The episode and what it took; the boundary at which an infrastructure failure becomes a record without a score.

    A sandbox that fails (in `aplay`) or an agent that can't be reached is nobody's lack of skill: the episode is owed.
    Whatever else is raised is a defect of an environment or a player, and ends the run.

    Raises:
        UsageError: the instance is not the one that the suite has frozen, or an agent can't be used at all.
    """
    calls: list[Call] = []
    turns: list[Turn] = []

    def enter(call: Call) -> None:
        calls.append(call)
        spending.add(spec.entry, call)

    begin = time.perf_counter()
    seated = {role: agent.enter(key) for role, agent in cast.agents.items()}
    failure: str | None = None
    try:
        with cast.episode():
            episode = await aplay(
                env,
                {role: MeteredPlayer(player, spending.check, enter) for role, player in seated.items()},
                env_id=spec.env,
                split=spec.split,
                index=key.index,
                options=spec.options,
                on_start=lambda: _check_start(env, spec, key),
                on_turn=turns.append,
            )
        if episode.ending is Ending.ERROR:
            failure = Event.SANDBOX
            episode = replace(episode, error=f"{failure}: {episode.error}")
    except AgentError as error:
        failure = error.event
        episode = _failed(spec, key, cast, turns, f"{failure}: {error}")
    finally:
        for role, player in seated.items():
            cast.agents[role].leave(player)
    return episode, Attempt(key.id, failure, round(time.perf_counter() - begin, 6), tuple(calls))


def _failed(spec: RunSpec, key: EpisodeKey, cast: Cast, turns: list[Turn], error: str) -> Episode:
    return Episode(
        env=spec.env,
        split=spec.split,
        index=key.index,
        players={role: agent.name for role, agent in cast.agents.items()},
        start="",
        turns=tuple(turns),
        returns={},
        success=False,
        ending=Ending.ERROR,
        options=dict(spec.options),
        error=error,
    )


def _check_start(env: Any, spec: RunSpec, key: EpisodeKey) -> None:
    if not spec.starts:
        return
    frozen, found = spec.starts[key.index - spec.first], start_digest(str(env.state()))
    if frozen != found:
        raise UsageError(
            f"{key.id}: is not the instance that the suite has frozen (digest of its start {found}, not {frozen}): "
            f"{spec.env} makes others in this version, and results could not be compared. Take the version that the "
            "suite was frozen with, or a newer suite."
        )

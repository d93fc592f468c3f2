"""Play one episode: an environment, a player per role, a record."""

import asyncio
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from llm_envs.core.errors import UsageError
from llm_envs.core.parsing import clean_text
from llm_envs.core.roles import role_of
from llm_envs.core.stepping import astep
from llm_envs.episode import Ending, Episode, Turn
from llm_envs.players import Env, Player
from llm_envs.sandbox.base import SandboxError

_RECORDED = ("role", "success", "invalid", "team_reward", "local_reward")  # infos with a field of their own in a Turn


def play(env: Env, players: Mapping[str, Player], **kwargs: Any) -> Episode:
    """`aplay` for callers without an event loop."""
    return asyncio.run(aplay(env, players, **kwargs))


async def aplay(
    env: Env,
    players: Mapping[str, Player],
    *,
    env_id: str = "",
    split: str | None = None,
    index: int | None = 0,
    seed: int | None = None,
    options: Mapping[str, Any] | None = None,
    on_start: Callable[[], None] | None = None,
    on_turn: Callable[[Turn], None] | None = None,
) -> Episode:
    """Play an instance to its end. A sandbox that fails ends the episode with `Ending.ERROR`: it has no score.

    Args:
        env: a text environment, wrapped or not.
        players: role -> player; `all` serves every role that is not named.
        env_id: registry id for the record (default: the environment's own name).
        split: the split (default: the environment's own).
        index: the instance; None leaves the choice to `reset`.
        seed: passed to `reset`.
        options: recorded as they are (how the environment was made).
        on_start, on_turn: called after the reset and after each turn.

    Raises:
        UsageError: a role without a player, or a player for a role that does not exist.
    """
    seats = _seat_players(env, players)
    env.reset(seed=seed, options=_instance_options(split, index))
    start = str(env.state())
    if on_start is not None:
        on_start()
    course = await _play_out(env, seats, on_turn)
    return Episode(
        env=env_id or str(env),
        split=str(env.unwrapped.split),
        index=env.unwrapped.index,
        players={role: player.name for role, player in seats.items()},
        start=start,
        turns=tuple(course.turns),
        returns=course.returns,
        success=course.success,
        ending=course.ending,
        options=dict(options or {}),
        error=course.error,
    )


@dataclass(slots=True)
class _Course:
    """How an episode went so far."""

    returns: dict[str, float]
    success: bool
    turns: list[Turn] = field(default_factory=list)
    ending: Ending = Ending.TRUNCATED
    error: str | None = None


async def _play_out(env: Env, seats: Mapping[str, Player], on_turn: Callable[[Turn], None] | None) -> _Course:
    """Play an environment that was just reset to its end."""
    success = bool(env.infos[env.agent_selection]["success"])
    course = _Course(dict.fromkeys(env.possible_agents, 0.0), success)
    while env.agents:
        agent = env.agent_selection
        if env.terminations[agent] or env.truncations[agent]:
            course.ending = Ending.TERMINATED if env.terminations[agent] else Ending.TRUNCATED
            env.step(None)  # how a dead agent leaves in PettingZoo
            continue
        try:
            turn = await _take_turn(env, agent, seats[role_of(agent)])
        except SandboxError as failure:
            course.ending, course.error, course.success = Ending.ERROR, str(failure), False
            break
        course.turns.append(turn)
        if on_turn is not None:
            on_turn(turn)
        for other, reward in env.rewards.items():
            course.returns[other] += reward
        course.success = bool(env.infos[agent]["success"])
    return course


def _instance_options(split: str | None, index: int | None) -> dict[str, Any]:
    chosen = {"split": split, "index": index}
    return {key: value for key, value in chosen.items() if value is not None}


def _seat_players(env: Env, players: Mapping[str, Player]) -> dict[str, Player]:
    roles = list(dict.fromkeys(role_of(agent) for agent in env.possible_agents))
    unknown = set(players) - set(roles) - {"all"}
    if unknown:
        raise UsageError(f"players={sorted(unknown)}: {env} has the roles {', '.join(roles)} (or 'all').")
    seats = {role: players.get(role, players.get("all")) for role in roles}
    empty = [role for role, player in seats.items() if player is None]
    if empty:
        raise UsageError(f"players: no player for {', '.join(empty)}; name one, or give 'all'.")
    return {role: player for role, player in seats.items() if player is not None}


async def _take_turn(env: Env, agent: str, player: Player) -> Turn:
    observation = str(env.observe(agent))
    cycle = int(env.unwrapped.cycle)
    reply = player.act(env, agent, observation)
    if inspect.isawaitable(reply):
        reply = await reply
    await astep(env, reply)
    return record_turn(env, agent, cycle, observation, reply)


def record_turn(env: Env, agent: str, cycle: int, observation: str, reply: str) -> Turn:
    """The record of the step that `agent` just took, the reply as the environment read it; call it before the next."""
    info = env.infos[agent]
    return Turn(
        cycle=cycle,
        agent=agent,
        role=role_of(agent),
        observation=observation,
        reply=clean_text(reply),
        reward=float(env.rewards[agent]),
        team_reward=float(info["team_reward"]),
        local_reward=float(info["local_reward"]),
        invalid=info["invalid"],
        info={key: value for key, value in info.items() if key not in _RECORDED},
        state=str(env.state()),
    )

"""Who plays which role."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import llm_envs
from llm_envs.core.errors import UsageError, unknown_choice
from llm_envs.core.roles import role_of
from llm_envs.players import Player, ReferencePlayer
from llm_envs.registry import normalise_id
from llm_envs_bench.agents.checkpoints import fingerprint, load_checkpoints
from llm_envs_bench.spec import RunSpec

CHECKPOINT, OPENAI = "checkpoint:", "openai:"
FORMS = (CHECKPOINT + "FOLDER", OPENAI + "MODEL@URL")


@dataclass(frozen=True, slots=True)
class Cast:
    """The players of a run.

    Attributes:
        players: role -> player.
        episode: opened around every episode; a sampler that batches in process counts the episodes in flight by it.
        closers: awaited once the last episode has ended.
    """

    players: Mapping[str, Player]
    episode: Callable[[], AbstractContextManager[None]] = nullcontext
    closers: tuple[Callable[[], Awaitable[None]], ...] = ()


def plan_run(
    env: str, everyone: str | None, by_role: Mapping[str, str], *, options: Mapping[str, Any], **rest: Any
) -> RunSpec:
    """The description of a run, every role assigned and every checkpoint identified by its weights.

    Args:
        env: an environment, by any of its names.
        everyone: agent of each role that `by_role` does not name.
        by_role: role -> agent.
        options: of the environment.
        rest: the other fields of `RunSpec`.

    Raises:
        UsageError: an environment, option, role or checkpoint that does not exist, or a role that nobody plays.
    """
    env_id = normalise_id(env)
    agents = assign_roles(_roles_of(llm_envs.make(env_id, **options)), everyone, by_role)
    weights = {role: fingerprint(path) for role, path in _checkpoints(agents).items()}
    return RunSpec(env=env_id, agents=agents, options=options, weights=weights, **rest)


def assign_roles(roles: Sequence[str], everyone: str | None, by_role: Mapping[str, str]) -> dict[str, str]:
    """Agent specification of each role: `everyone` plays each role that `by_role` does not name.

    Raises:
        UsageError: a role that does not exist, or one that nobody plays.
    """
    for role in by_role:
        if role not in roles:
            raise unknown_choice("role", role, roles)
    agents = {role: by_role.get(role, everyone) for role in roles}
    empty = [role for role, agent in agents.items() if agent is None]
    if empty:
        raise UsageError(f"agent: nobody plays {', '.join(empty)}; add --agent AGENT, or --role {empty[0]}=AGENT.")
    return {role: agent for role, agent in agents.items() if agent is not None}


def build_cast(spec: RunSpec) -> Cast:
    """The players that the agents of a run stand for.

    Raises:
        UsageError: an agent that does not exist, or that can't be used here; the message says what would help.
    """
    references = llm_envs.make(spec.env, **spec.options).unwrapped.task.players
    paths = _checkpoints(spec.agents)
    served = {role: agent for role, agent in spec.agents.items() if agent.startswith(OPENAI)}
    _check_sampling(spec, checkpoints=bool(paths), served=bool(served))
    players: dict[str, Player] = {}
    episode: Callable[[], AbstractContextManager[None]] = nullcontext
    if paths:
        players, episode = load_checkpoints(spec.agents, paths, seed=spec.seed, temperature=spec.sampling.temperature)
    closers: list[Callable[[], Awaitable[None]]] = []
    for role, agent in served.items():
        from llm_envs_bench.agents.openai_chat import OpenAIPlayer

        model, _, url = agent.removeprefix(OPENAI).partition("@")
        player = OpenAIPlayer(agent, model=model, url=url or None, sampling=spec.sampling)
        players[role] = player
        closers.append(player.aclose)
    for role, agent in spec.agents.items():
        if role not in players:
            players[role] = _reference(agent, references, spec.seed)
    return Cast(players, episode, tuple(closers))


def _reference(agent: str, references: Sequence[str], seed: int) -> Player:
    if agent not in references:
        raise unknown_choice("agent", agent, (*references, *FORMS))
    return ReferencePlayer(agent, seed)


def _check_sampling(spec: RunSpec, *, checkpoints: bool, served: bool) -> None:
    """An option that nobody among the agents heeds would be ignored in silence."""
    if spec.sampling.max_tokens is not None and not served:
        raise UsageError("max_tokens: no agent takes it (a checkpoint keeps its own limit); leave it out.")
    if spec.sampling.temperature is not None and not (served or checkpoints):
        raise UsageError("temperature: no agent is a model; leave it out.")


def _checkpoints(agents: Mapping[str, str]) -> dict[str, Path]:
    return {
        role: Path(agent.removeprefix(CHECKPOINT)) for role, agent in agents.items() if agent.startswith(CHECKPOINT)
    }


def _roles_of(env: Any) -> list[str]:
    """The roles of an environment in the order in which they act."""
    return list(dict.fromkeys(role_of(agent) for agent in env.possible_agents))

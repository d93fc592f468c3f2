"""Who plays which role."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import llm_envs
from llm_envs.core.errors import UsageError, unknown_choice
from llm_envs.core.roles import role_of
from llm_envs.players import Player, ReferencePlayer
from llm_envs_bench.spec import RunSpec

CHECKPOINT, OPENAI = "checkpoint:", "openai:"
FORMS = (CHECKPOINT + "FOLDER", OPENAI + "MODEL@URL")


class AgentError(RuntimeError):
    """An agent gave no answer for a reason that is not its own doing. The episode is owed, never scored."""


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


def roles_of(env: Any) -> list[str]:
    """The roles of an environment in the order in which they act."""
    return list(dict.fromkeys(role_of(agent) for agent in env.possible_agents))


def build_cast(spec: RunSpec) -> Cast:
    """The players that the agents of a run stand for.

    Raises:
        UsageError: an agent that does not exist, or that can't be used here; the message says what would help.
    """
    references = llm_envs.make(spec.env, **spec.options).unwrapped.task.players
    players: dict[str, Player] = {}
    closers: list[Callable[[], Awaitable[None]]] = []
    for role, agent in spec.agents.items():
        if agent.startswith(CHECKPOINT):
            continue  # below, all roles at once: they may share a base model
        if agent.startswith(OPENAI):
            from llm_envs_bench.agents.openai_chat import OpenAIPlayer

            model, _, url = agent.removeprefix(OPENAI).partition("@")
            served = OpenAIPlayer(agent, model=model, url=url or None, sampling=spec.sampling)
            players[role] = served
            closers.append(served.aclose)
        elif agent in references:
            players[role] = ReferencePlayer(agent, spec.seed)
        else:
            raise unknown_choice("agent", agent, (*references, *FORMS))
    return Cast(players, closers=tuple(closers))

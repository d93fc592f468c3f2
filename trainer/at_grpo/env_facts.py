"""What a configuration has to agree with: the environment itself, asked once."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import llm_envs
from at_grpo.config import EnvSection
from llm_envs.core.errors import UsageError, unknown_choice
from llm_envs.core.roles import role_of
from llm_envs.registry import MODULES, normalise_id


@dataclass(frozen=True, slots=True)
class EnvFacts:
    """An environment as the trainer sees it.

    Attributes:
        agents: role -> number of agents that play it, in turn order.
        max_cycles: horizon, or None where the environment states none.
        players: its reference players.
    """

    agents: Mapping[str, int]
    max_cycles: int | None
    players: tuple[str, ...]


def inspect_env(section: EnvSection) -> EnvFacts:
    """Make the environment, look at the first instance of both splits, and close it.

    Raises:
        UsageError: an unknown id, option, option value or split.
    """
    from pettingzoo.env_registry.registration import aec_registry

    if normalise_id(section.id) not in aec_registry:
        raise unknown_choice("env.id", section.id, MODULES)
    try:
        env = llm_envs.make(section.id, **section.options)
    except (UsageError, TypeError) as error:  # a foreign environment knows no UsageError
        raise UsageError(f"env.options: {error}") from error
    try:
        for key in ("train_split", "eval_split"):
            try:
                env.reset(seed=0, options={"split": getattr(section, key), "index": 0})
            except UsageError as error:
                raise UsageError(f"env.{key}: {error}") from error
        raw = env.unwrapped
        return EnvFacts(
            agents=Counter(role_of(agent) for agent in env.possible_agents),
            max_cycles=getattr(raw, "max_cycles", section.options.get("max_cycles")),
            players=tuple(getattr(getattr(raw, "task", None), "players", ())),
        )
    finally:
        env.close()

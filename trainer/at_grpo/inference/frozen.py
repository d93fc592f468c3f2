"""The players of roles that are not trained: reference players, checkpoints in this process, models behind a server."""

from collections import defaultdict
from pathlib import Path
from typing import Any

from at_grpo.config import PlayerSection, RoleSection, TrainConfig
from at_grpo.inference.base import SamplingParams
from at_grpo.inference.endpoint import Endpoint
from at_grpo.inference.openai import ChatPlayer, read_key
from at_grpo.inference.player import PolicyPlayer
from llm_envs.players import Player, ReferencePlayer


class SeatedPolicy:
    """A checkpoint as a player beside episodes of another sampler.

    It announces each turn by itself: were it announced for the whole episode, its sampler and the trained policies'
    would wait for one another.
    """

    def __init__(self, policy: PolicyPlayer) -> None:
        self.name = policy.name
        self._policy = policy

    async def act(self, env: Any, agent: str, observation: str) -> str:
        """See `PolicyPlayer.act`."""
        with self._policy.episode():
            return await self._policy.act(env, agent, observation)


def sampling_params(section: RoleSection) -> SamplingParams:
    """How a role's replies are drawn."""
    return SamplingParams(temperature=section.temperature, max_tokens=section.max_tokens, stop=section.stop)


def frozen_players(config: TrainConfig) -> dict[str, Player]:
    """Role -> who plays it, for the roles that are not trained.

    Raises:
        UsageError: a key that is not in the environment, or a checkpoint that can't be loaded.
    """
    players: dict[str, Player] = dict(_from_checkpoints(config))
    for role, section in config.frozen.items():
        if section.reference:
            players[role] = ReferencePlayer(section.reference, seed=config.run.seed)
        elif section.url:
            players[role] = chat_player(config, role, section)
    return players


def chat_player(config: TrainConfig, role: str, section: PlayerSection) -> ChatPlayer:
    """The model behind a server that plays a role; requests wait and are tried again as `inference` says.

    Raises:
        UsageError: its key is not in the environment.
    """
    inference = config.inference
    endpoint = Endpoint(
        section.url,
        timeout_s=inference.timeout_s,
        patience_s=inference.patience_s,
        max_in_flight=inference.max_in_flight,
        api_key=read_key(section.api_key_env, f"roles.{role}.player.api_key_env"),
    )
    params = sampling_params(config.roles[role])
    return ChatPlayer(endpoint, section.model, params, config.run.seed, options=section.options)


def _from_checkpoints(config: TrainConfig) -> dict[str, SeatedPolicy]:
    """Roles of one checkpoint share its base and its sampler."""
    by_folder: dict[str, list[str]] = defaultdict(list)
    for role, section in config.frozen.items():
        if section.checkpoint:
            by_folder[section.checkpoint].append(role)
    players: dict[str, SeatedPolicy] = {}
    for folder, roles in by_folder.items():
        from at_grpo.inference.checkpoint import load_players

        params = {role: sampling_params(config.roles[role]) for role in roles}
        found = load_players(dict.fromkeys(roles, Path(folder)), seed=config.run.seed, params=params)
        players |= {role: SeatedPolicy(policy) for role, policy in found.items()}
    return players

"""Checkpoints and adapters of the trainer as agents, in this process."""

import hashlib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from llm_envs.core.errors import UsageError
from llm_envs.players import Env, Player
from llm_envs_bench.agents.base import Agent, PlainAgent
from llm_envs_bench.agents.errors import AgentError
from llm_envs_bench.attempts import Event, Usage
from llm_envs_bench.spec import EpisodeKey

if TYPE_CHECKING:
    from at_grpo.inference.player import PolicyPlayer

WEIGHTS = "adapter_model.safetensors"  # where PEFT puts them, one a policy

Episode = Callable[[], AbstractContextManager[None]]


class CheckpointAgent(PlainAgent):
    """A trained policy."""

    def __init__(self, name: str, policy: "PolicyPlayer", seed: int) -> None:
        self.name = name
        self._policy = policy
        self._seed = seed

    def enter(self, key: EpisodeKey) -> Player:
        """See `Agent`."""
        return CheckpointPlayer(self.name, self._policy.reseeded(key.seed(self._seed)))


@dataclass(slots=True)
class CheckpointPlayer:
    """A trained policy in one episode; a failure of its sampler is the suite's `AgentError`."""

    name: str
    policy: "PolicyPlayer"
    usage: Usage = field(default_factory=Usage)

    async def act(self, env: Env, agent: str, observation: str) -> str:
        """One sampled reply."""
        from at_grpo.inference.base import SamplerError

        try:
            reply = await self.policy.act(env, agent, observation)
        except SamplerError as error:
            self.usage = Usage(events={Event.SAMPLER_FAILED: 1})
            raise AgentError(Event.SAMPLER_FAILED, str(error)) from error
        return reply


def load_checkpoints(
    agents: Mapping[str, str], paths: Mapping[str, Path], *, seed: int, temperature: float | None
) -> tuple[dict[str, Agent], Episode]:
    """Agents for roles, all on one base model, and what to open around an episode so that they share batches.

    Args:
        agents: role -> specification, for records.
        paths: role -> folder of a checkpoint or of one adapter.
        seed: of the draws.
        temperature: replaces the one that a role was trained at.

    Raises:
        UsageError: the training libraries are missing, a folder is no checkpoint, or its run has no such role.
    """
    try:
        from at_grpo.inference.checkpoint import load_players
    except ImportError as error:
        raise UsageError(f"agent=checkpoint:…: needs {error.name}; pip install 'llm-envs[train]'.") from error
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # loading a small model is no progress to follow, and its bar would break the evaluation's
    policies = load_players(paths, seed=seed, temperature=temperature)
    found: dict[str, Agent] = {role: CheckpointAgent(agents[role], policy, seed) for role, policy in policies.items()}
    return found, next(iter(policies.values())).episode


def fingerprint(folder: Path) -> str:
    """SHA-256 of a checkpoint's adapters, or of one adapter: a folder may be filled anew under its old name.

    Raises:
        UsageError: there is no adapter.
    """
    files = [folder / WEIGHTS] if (folder / WEIGHTS).exists() else sorted(folder.glob(f"*/{WEIGHTS}"))
    if not files:
        raise UsageError(
            f"checkpoint={str(folder)!r}: holds no adapter; name a checkpoint-<step> folder of a run, or one of the "
            "adapters in it."
        )
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.parent.name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()

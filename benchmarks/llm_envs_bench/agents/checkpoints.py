"""Checkpoints of the trainer as players, in this process."""

import hashlib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from llm_envs.core.errors import UsageError
from llm_envs.players import Env, Player
from llm_envs_bench.agents.errors import AgentError

if TYPE_CHECKING:
    from at_grpo.inference.player import PolicyPlayer

ADAPTERS = "*/adapter_model.safetensors"  # one a policy, where PEFT puts it

Episode = Callable[[], AbstractContextManager[None]]


class CheckpointPlayer:
    """A trained policy; a failure of its sampler is the suite's `AgentError`."""

    def __init__(self, name: str, policy: "PolicyPlayer") -> None:
        self.name = name
        self._policy = policy

    async def act(self, env: Env, agent: str, observation: str) -> str:
        """One sampled reply."""
        from at_grpo.inference.base import SamplerError

        try:
            return await self._policy.act(env, agent, observation)
        except SamplerError as error:
            raise AgentError(f"{self.name}: {error}") from error


def load_checkpoints(
    agents: Mapping[str, str], paths: Mapping[str, Path], *, seed: int, temperature: float | None
) -> tuple[dict[str, Player], Episode]:
    """Players for roles, all on one base model, and what to open around an episode so that they share batches.

    Args:
        agents: role -> specification, for records.
        paths: role -> checkpoint folder.
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
    players: dict[str, Player] = {role: CheckpointPlayer(agents[role], policy) for role, policy in policies.items()}
    return players, next(iter(policies.values())).episode


def fingerprint(checkpoint: Path) -> str:
    """SHA-256 of a checkpoint's adapters: a folder may be filled anew under its old name.

    Raises:
        UsageError: there is no adapter.
    """
    files = sorted(checkpoint.glob(ADAPTERS))
    if not files:
        raise UsageError(f"checkpoint={str(checkpoint)!r}: holds no adapter; name a checkpoint-<step> folder of a run.")
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.parent.name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()

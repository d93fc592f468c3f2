"""One environment that a client plays, episode after episode."""

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from llm_envs.core.errors import UsageError
from llm_envs.core.stepping import astep, is_over
from llm_envs.players import Env
from llm_envs.sandbox.base import SandboxError
from llm_envs_bench.exports.openenv.refusal import Code, Refusal

_logger = logging.getLogger(__name__)
TOKEN_BYTES = 32


@dataclass(frozen=True, slots=True)
class Position:
    """Where an episode stands: all that is ever told of it, taken when a reset or a step is whole.

    Attributes:
        episode_id: the client's own name, or one of ours.
        to_act: whose turn it is; None when the episode is over.
        observations: agent -> what it sees.
        steps, cycle: actions so far, and how often every agent had one.
        reward: what the last action paid the agent that took it; None after a reset.
        rewards, returns: agent -> of the last action, and of the episode.
        invalid: why the last action was none, or None.
    """

    episode_id: str
    split: str
    index: int | None
    to_act: str | None
    observations: Mapping[str, str]
    success: bool
    steps: int = 0
    cycle: int = 0
    reward: float | None = None
    rewards: Mapping[str, float] = field(default_factory=dict)
    returns: Mapping[str, float] = field(default_factory=dict)
    invalid: str | None = None

    @property
    def done(self) -> bool:
        return self.to_act is None


class Session:
    """An environment, the tokens of its agents, and where its episode stands.

    Attributes:
        tokens: agent -> token; the same in all episodes of the session.
        position: None before the first reset.
        used: when somebody last asked for something or was answered, by `time.monotonic`.
    """

    def __init__(self, env: Env) -> None:
        self.id = secrets.token_urlsafe(16)
        self.tokens = {agent: secrets.token_urlsafe(TOKEN_BYTES) for agent in env.possible_agents}
        self.position: Position | None = None
        self.used = time.monotonic()
        self._env = env
        self._lock = asyncio.Lock()

    @property
    def busy(self) -> bool:
        """Whether a reset or a step is under way."""
        return self._lock.locked()

    async def reset(self, episode_id: str, seed: int | None, options: Mapping[str, Any]) -> Position:
        """Start an episode; an instance may take a while to make, so it is made off the event loop."""
        async with self._alone():
            try:
                await asyncio.to_thread(self._env.reset, seed=seed, options=dict(options))
            except UsageError as error:
                raise Refusal(Code.VALIDATION_ERROR, str(error)) from error
            self.position = self._stands(episode_id, returns=dict.fromkeys(self._env.possible_agents, 0.0))
            return self.position

    async def step(self, text: str, agent: str | None) -> Position:
        """Act.

        Args:
            text: the action.
            agent: who acts; None for whose turn it is.

        Raises:
            Refusal: no episode, another agent's turn, another step under way, or a sandbox that failed, which leaves
                everything as it was.
        """
        async with self._alone():
            before = self._running()
            if agent is not None and agent != before.to_act:
                raise Refusal(Code.OUT_OF_TURN, f"it is the turn of {before.to_act}, not of {agent}; wait for yours.")
            acting, env = self._env.agent_selection, self._env
            try:
                await astep(env, text)
            except SandboxError as error:
                _logger.warning("session %s: the sandbox failed: %s", self.id, error)
                raise Refusal(
                    Code.EXECUTION_ERROR, "the sandbox failed; nothing has changed, so send the same step again."
                ) from error
            rewards = {other: float(reward) for other, reward in env.rewards.items()}
            returns = {other: value + rewards.get(other, 0.0) for other, value in before.returns.items()}
            info = env.infos[acting]
            self._let_the_dead_leave()
            self.position = self._stands(
                before.episode_id,
                steps=before.steps + 1,
                reward=rewards[acting],
                rewards=rewards,
                returns=returns,
                invalid=info["invalid"],
                success=bool(info["success"]),
            )
            return self.position

    def close(self) -> None:
        """Let go of the environment."""
        self._env.close()

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        """Two actions at once are refused, not queued: the second was meant for another turn than it would get."""
        if self.busy:
            raise Refusal(Code.BUSY, "another reset or step of this session is under way; wait for its answer.")
        async with self._lock:
            try:
                yield
            except Refusal:
                raise
            except BaseException:  # a defect, which the server logs, or the server ends: it may have stopped half-way
                self.position = None
                raise
            finally:
                self.used = time.monotonic()

    def _running(self) -> Position:
        if self.position is None:
            raise Refusal(Code.NO_EPISODE, "no episode was started; infrastructure starts one by reset.")
        if self.position.done:
            raise Refusal(Code.NO_EPISODE, "the episode is over; infrastructure starts another by reset.")
        return self.position

    def _let_the_dead_leave(self) -> None:
        """Take the turns of agents that are out while others play on."""
        env = self._env
        while not is_over(env) and (env.terminations[env.agent_selection] or env.truncations[env.agent_selection]):
            env.step(None)

    def _stands(self, episode_id: str, **of_the_step: Any) -> Position:
        env, over = self._env, is_over(self._env)
        first = {"success": bool(env.infos[env.agent_selection]["success"])}
        return Position(
            episode_id=episode_id,
            split=str(env.unwrapped.split),
            index=env.unwrapped.index,
            to_act=None if over else env.agent_selection,
            observations={agent: str(env.observe(agent)) for agent in env.possible_agents},
            cycle=int(env.unwrapped.cycle),
            **first | of_the_step,
        )

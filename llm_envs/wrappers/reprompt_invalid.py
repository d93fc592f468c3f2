"""`RepromptInvalid`: a reply without an action is asked for again within the turn."""

from dataclasses import dataclass
from typing import Any

from pettingzoo import AECEnv

from llm_envs.core.errors import require, whole_number
from llm_envs.core.fork import fork
from llm_envs.core.spaces import TextObservation
from llm_envs.core.stepping import astep, is_over
from llm_envs.core.wrapper import TextWrapper


@dataclass(frozen=True, slots=True)
class Retry:
    """What is seen in place of the environment's own after a reply that was sent back."""

    agent: str
    observation: str
    rewards: dict[str, float]
    cumulative_rewards: dict[str, float]
    infos: dict[str, dict[str, Any]]


class RepromptInvalid(TextWrapper):
    """Sends a reply that holds no action back, up to `times` times a turn.

    The agent stays selected, sees why its reply was not valid, and answers again; the environment is as it was before,
    its cycle and turn order included. The reply after the last retry counts, valid or not.

    Rewards: a reply that was sent back costs its agent what the environment takes for an invalid one, or `penalty`
    where that is given; nobody else is paid. A turn's rewards are the sum over its replies, so that retries never
    raise a return (with `penalty=0` they would cost nothing: a policy could then answer badly on purpose to be asked
    again). `infos[agent]["local_reward"]` and `"invalid"` are those of the reply that was sent back, `"team_reward"`
    is 0.
    """

    def __init__(self, env: AECEnv[str, str, str], times: int = 2, *, penalty: float | None = None) -> None:
        """Wrap an environment that can be forked.

        Args:
            env: the environment.
            times: how often a turn's reply may be sent back, >= 1.
            penalty: what that costs, >= 0; None for what the environment takes.

        Raises:
            UsageError: an argument outside what is allowed.
        """
        super().__init__(env)
        self._times = whole_number("times", times, least=1)
        fair = penalty is None or (isinstance(penalty, (int, float)) and 0 <= penalty < float("inf"))
        require(fair, "penalty", penalty, "None or a finite number >= 0")
        self._penalty = penalty
        self._sent_back = 0
        self._retry: Retry | None = None

    # These three shadow the environment's own while a reply is asked for again.
    @property
    def rewards(self) -> dict[str, float]:
        """Agent -> reward of the last step, a reply that was sent back included."""
        return self.env.rewards if self._retry is None else self._retry.rewards

    @property
    def _cumulative_rewards(self) -> dict[str, float]:
        return self.env._cumulative_rewards if self._retry is None else self._retry.cumulative_rewards

    @property
    def infos(self) -> dict[str, dict[str, Any]]:
        """Agent -> info of its last reply, one that was sent back included."""
        return self.env.infos if self._retry is None else self._retry.infos

    def observe(self, agent: str) -> str:
        if self._retry is not None and agent == self._retry.agent:
            return TextObservation(self._retry.observation)
        observation: str = self.env.observe(agent)
        return observation

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        super().reset(seed=seed, options=options)
        self._retry, self._sent_back = None, 0

    def step(self, action: str | None) -> None:
        if not self._may_be_sent_back(action):
            self._accept(self.env)
            super().step(action)
            return
        branch = fork(self.env)
        branch.step(action)
        self._judge(branch)

    async def astep(self, action: str | None) -> None:
        if not self._may_be_sent_back(action):
            self._accept(self.env)
            await astep(self.env, action)
            return
        branch = fork(self.env)
        await astep(branch, action)
        self._judge(branch)

    def _may_be_sent_back(self, action: str | None) -> bool:
        return isinstance(action, str) and self._sent_back < self._times and not is_over(self.env)

    def _judge(self, branch: AECEnv[str, str, str]) -> None:
        """Go on with the branch that has taken the reply, or, where it held no action, as if it had not been given."""
        agent = self.env.agent_selection
        reason = branch.infos[agent]["invalid"]
        if reason is None:
            self._accept(branch)
            return
        self._sent_back += 1
        reward = float(branch.rewards[agent]) if self._penalty is None else -float(self._penalty)
        news = {"team_reward": 0.0, "local_reward": reward, "success": self.infos[agent]["success"]}
        self._retry = Retry(
            agent=agent,
            observation=self._asked_again(branch, agent, reason),
            rewards={**dict.fromkeys(self.env.agents, 0.0), agent: reward},
            cumulative_rewards={**self.env._cumulative_rewards, agent: reward},
            infos={**self.env.infos, agent: {**branch.infos[agent], **news}},
        )

    def _asked_again(self, branch: AECEnv[str, str, str], agent: str, reason: str) -> str:
        """The environment's own words where the agent lives on after the reply, else the question with the reason."""
        if not is_over(branch):
            return str(branch.observe(agent))
        return f"{self.env.observe(agent)}\n\nYour last reply was not valid and had no effect: {reason}."

    def _accept(self, env: AECEnv[str, str, str]) -> None:
        self.env, self._retry, self._sent_back = env, None, 0

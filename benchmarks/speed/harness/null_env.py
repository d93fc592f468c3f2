"""The floor: an AEC environment in which nothing happens."""

from typing import Any

from pettingzoo import AECEnv
from pettingzoo.utils import AgentSelector


class NullEnv(AECEnv[str, str, str]):
    """A constant observation, rewards of nothing, and the bookkeeping that PettingZoo asks of every `step`."""

    def __init__(self, agents: int = 2) -> None:
        super().__init__()
        self.metadata = {"name": "null_v0"}
        self.possible_agents = [f"agent_{number}" for number in range(agents)]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.agents = list(self.possible_agents)
        self._order = AgentSelector(self.agents)
        self.agent_selection = self._order.next()
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}

    def observe(self, agent: str) -> str:
        return "nothing"

    def step(self, action: str) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self.agent_selection = self._order.next()
        self._accumulate_rewards()

"""The turn-based parallel view of a text environment."""

from typing import Any, Self

from pettingzoo.utils.conversions import turn_based_aec_to_parallel_wrapper

from llm_envs.core.errors import UsageError
from llm_envs.core.fork import fork

StepResult = tuple[dict[str, str], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]


class TurnBasedParallel(turn_based_aec_to_parallel_wrapper[str, str, str]):
    """PettingZoo's turn-based parallel wrapper with infos of its own.

    One parallel step is one turn: only the action of `infos[agent]["active_agent"]` counts, the others' are ignored.
    PettingZoo's wrapper writes `active_agent` into the environment's own dicts; here callers get copies, and the
    environment's are left as they were.
    """

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
        observations, _ = super().reset(seed=seed, options=options)
        active = self.aec_env.agent_selection
        return observations, {agent: {**info, "active_agent": active} for agent, info in self.aec_env.infos.items()}

    def step(self, actions: dict[str, str]) -> StepResult:
        """Take the active agent's turn.

        Raises:
            UsageError: the active agent has no action.
        """
        if not self.agents:
            return {}, {}, {}, {}, {}  # PettingZoo's own returns one dict too few here
        active = self.aec_env.agent_selection
        if active not in actions:
            raise UsageError(f"actions={sorted(actions)}: must hold an action of {active}, whose turn it is.")
        observations, rewards, terminations, truncations, infos = super().step(actions)
        copies = {agent: dict(info) for agent, info in infos.items()}
        for info in self.aec_env.infos.values():
            info.pop("active_agent", None)
        return observations, rewards, terminations, truncations, copies

    def fork(self) -> Self:
        """This view on a fork of its environment."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.aec_env = fork(self.aec_env)
        if "agents" in self.__dict__:
            other.agents = self.agents.copy()
        return other

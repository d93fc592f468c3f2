"""`MessageHistory`: an agent sees all its earlier observations and replies too."""

from typing import Any

from pettingzoo import AECEnv

from llm_envs.core.parsing import clean_text
from llm_envs.core.spaces import TextObservation, TextSpace
from llm_envs.core.stepping import astep
from llm_envs.core.wrapper import TextWrapper

MAX_HISTORY = 1 << 24
REPLIED, THEN = "\n\n--- you replied:\n", "\n\n--- now:\n"


class MessageHistory(TextWrapper):
    """Puts an agent's earlier turns of the episode before what it observes now.

    What an agent sees when it is to act begins with all it saw when it last was: text is only ever added at the end,
    so that a server's prefix cache holds. An agent sees its own replies, never another's. The innermost
    `StripThinking` keeps reasoning out: `MessageHistory(StripThinking(env))` remembers replies as they came,
    `StripThinking(MessageHistory(env))` remembers them without.

    Observations may be as long as `MAX_HISTORY` characters; a trainer or server ends episodes that outgrow its own
    limit.
    """

    def __init__(self, env: AECEnv[str, str, str]) -> None:
        super().__init__(env)
        self.observation_spaces = {agent: TextSpace(MAX_HISTORY) for agent in env.possible_agents}
        self._past: dict[str, str] = {}

    def observation_space(self, agent: str) -> TextSpace:
        return self.observation_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        super().reset(seed=seed, options=options)
        self._past = {}

    def observe(self, agent: str) -> str:
        return TextObservation(self._past.get(agent, "") + str(self.env.observe(agent)))

    def step(self, action: str | None) -> None:
        turn = self._turn(action)
        super().step(action)
        self._past |= turn

    async def astep(self, action: str | None) -> None:
        turn = self._turn(action)
        await astep(self.env, action)
        self._past |= turn

    def _turn(self, action: str | None) -> dict[str, str]:
        """The acting agent's history after this turn; it is kept only once the environment has taken the step."""
        if not isinstance(action, str) or not self.env.agents:
            return {}
        agent = self.env.agent_selection
        return {agent: f"{self.observe(agent)}{REPLIED}{clean_text(action)}{THEN}"}

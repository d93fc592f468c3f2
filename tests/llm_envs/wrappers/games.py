"""Small PettingZoo games that know nothing of text or forks."""

import random
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from gymnasium import Space, spaces
from gymnasium.utils import EzPickle
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils import AgentSelector

NUMBER = spaces.Box(-1000, 1000, (2,), np.int64)


class Tally(AECEnv[str, Any, Any]):
    """Agents add to a tally in turn, with chance; whoever makes it reach the goal gets 1, the others -1.

    Any action space will do: what is added is 1 + the sum of the action's numbers modulo 3, or their count for text.
    """

    metadata: ClassVar[dict[str, Any]] = {"name": "tally_v0", "render_modes": [], "is_parallelizable": False}
    render_mode = None

    def __init__(
        self, action: Space[Any] | None = None, agents: int = 2, goal: int = 12, observation: Space[Any] = NUMBER
    ) -> None:
        super().__init__()
        self.possible_agents = [f"player_{number}" for number in range(agents)]
        self.action_spaces = dict.fromkeys(self.possible_agents, action or spaces.Discrete(3))
        self.observation_spaces = dict.fromkeys(self.possible_agents, observation)
        self.goal = goal

    def observation_space(self, agent: str) -> Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Space[Any]:
        return self.action_spaces[agent]

    def observe(self, agent: str) -> Any:
        return np.array([self.total, self.draws], dtype=np.int64)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.options = options
        self.chance = random.Random(seed)
        self.total = self.draws = 0
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._order = AgentSelector(self.agents)
        self.agent_selection = self._order.reset()

    def step(self, action: Any) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        assert self.action_space(agent).contains(action), f"{action!r} is outside {self.action_space(agent)}"
        self.draws = self.chance.randrange(100)
        self.total += 1 + amount(action) % 3 + (self.draws == 0)
        self.rewards = dict.fromkeys(self.agents, 0)
        self._cumulative_rewards[agent] = 0
        if self.total >= self.goal:
            self.rewards = {other: 1 if other == agent else -1 for other in self.agents}
            self.terminations = dict.fromkeys(self.agents, True)
        self.agent_selection = self._order.next()
        self._accumulate_rewards()


def amount(action: Any) -> int:
    """A number for any action."""
    if isinstance(action, str):
        return len(action)
    if isinstance(action, dict):
        return sum(amount(part) for part in action.values())
    if isinstance(action, tuple):
        return sum(amount(part) for part in action)
    return int(abs(np.asarray(action, dtype=np.float64)).sum())


class Pickled(Tally, EzPickle):
    """The same as most environments of PettingZoo are: `copy.deepcopy` and pickle make it anew."""

    def __init__(self, goal: int = 12) -> None:
        EzPickle.__init__(self, goal=goal)
        Tally.__init__(self, goal=goal)


class Nested(Tally):
    """A game whose inside is another environment, which copies by making itself anew."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = Pickled()

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        super().reset(seed, options)
        self.inner.reset(seed=seed)

    def observe(self, agent: str) -> Any:
        return self.inner.observe(agent)

    def step(self, action: Any) -> None:
        super().step(action)
        if self.inner.agents and action is not None:
            self.inner.step(action)


class Streamed(Tally):
    """A game that holds a generator, which nothing can copy."""

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        super().reset(seed, options)
        self.stream = self._numbers(random.Random(seed))

    def _numbers(self, chance: random.Random) -> Iterator[int]:
        while True:
            yield chance.randrange(5)

    def step(self, action: Any) -> None:
        if action is not None:
            self.total += next(self.stream)
        super().step(action)


class Unseeded(Streamed):
    """The same, but for a seed that it does not heed."""

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        super().reset(None, options)


class Leaky(Tally):
    """A game with state that its copies share, which only shows when one of them is played."""

    ledger: ClassVar[dict[str, int]] = {}

    def observe(self, agent: str) -> Any:
        return np.array([self.total, type(self).ledger.get("total", 0)], dtype=np.int64)

    def step(self, action: Any) -> None:
        super().step(action)
        type(self).ledger["total"] = self.total % 900


class Masked(Tally):
    """Only numbers that differ from the tally's last digit are legal; the mask stands in the observation."""

    def __init__(self) -> None:
        mask = spaces.Box(0, 1, (4,), np.int8)
        super().__init__(spaces.Discrete(4, start=2), observation=spaces.Dict(observation=NUMBER, action_mask=mask))

    def mask(self) -> Any:
        return np.array([number != self.total % 4 for number in range(4)], dtype=np.int8)

    def observe(self, agent: str) -> Any:
        return {"observation": super().observe(agent), "action_mask": self.mask()}

    def step(self, action: Any) -> None:
        assert action is None or self.mask()[action - 2], "an illegal action reached the game"
        super().step(action)


class MaskedInInfo(Masked):
    """The same with the mask in `infos`."""

    def __init__(self) -> None:
        super().__init__()
        self.observation_spaces = dict.fromkeys(self.possible_agents, NUMBER)

    def observe(self, agent: str) -> Any:
        self.infos[agent] = {"action_mask": self.mask()}
        return Tally.observe(self, agent)


class Mortal(Tally):
    """Three agents; the tally kills the one that makes it a multiple of five, and the rest play on."""

    def __init__(self) -> None:
        super().__init__(agents=3, goal=30)

    def step(self, action: Any) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            self._order = AgentSelector(self.agents)
            return
        super().step(action)
        if self.total % 5 == 0 and not all(self.terminations.values()):
            self.terminations = {**self.terminations, agent: True}
            self.rewards = {**self.rewards, agent: -1}
            self._cumulative_rewards[agent] -= 1
            self._deads_step_first()


class Together(ParallelEnv[str, Any, Any]):
    """Both choose 0 or 1 at once, five times: equal choices pay the first, others the second."""

    metadata: ClassVar[dict[str, Any]] = {"name": "together_v0", "render_modes": []}
    render_mode = None
    possible_agents: ClassVar[list[str]] = ["odd_0", "even_0"]

    def observation_space(self, agent: str) -> Space[Any]:
        return spaces.Discrete(7)

    def action_space(self, agent: str) -> Space[Any]:
        return spaces.Discrete(2)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self.agents = list(self.possible_agents)
        self.round = 0
        return self._seen(), {agent: {} for agent in self.agents}

    def _seen(self) -> dict[str, int]:
        return dict.fromkeys(self.possible_agents, self.round)

    def step(self, actions: Any) -> Any:
        first, second = (actions[agent] for agent in self.possible_agents)
        self.round += 1
        gain = 1 if first == second else -1
        over = dict.fromkeys(self.agents, self.round == 5)
        rewards = {"odd_0": gain, "even_0": -gain}
        infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        if self.round == 5:
            self.agents = []
        return self._seen(), rewards, over, dict.fromkeys(over, False), infos

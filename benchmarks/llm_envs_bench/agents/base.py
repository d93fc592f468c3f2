"""What an agent is: whoever plays a role in many episodes at once."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from llm_envs.core.roles import role_of
from llm_envs.players import Player
from llm_envs_bench.attempts import Usage
from llm_envs_bench.seeds import derive_seed
from llm_envs_bench.spec import EpisodeKey


class Agent(Protocol):
    """Sits down a player for each episode. `name` is the agent's specification, for records."""

    name: str

    def enter(self, key: EpisodeKey) -> Player:
        """The player of an episode that begins."""
        ...

    def leave(self, player: Player) -> None:
        """The episode of a player that `enter` gave has ended."""
        ...

    async def aclose(self) -> None:
        """Let go of connections and processes; called on the event loop of the last episode."""
        ...


class PlainAgent:
    """An agent with nothing to let go of."""

    def leave(self, player: Player) -> None:
        """See `Agent`."""

    async def aclose(self) -> None:
        """See `Agent`."""


@runtime_checkable
class UsagePlayer(Protocol):
    """A player that says what its latest reply took; also where there was none."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class Question:
    """What a user's own program or function is asked; it sees an observation and nothing of the environment.

    Attributes:
        episode: id of the episode, the same for all of its turns.
        agent, role: who is to act, e.g. `planner_0` and `planner`.
        turn: how often this agent was asked in this episode before.
        observation: what it sees.
        seed: of the chance in this reply, the same whenever the same reply is asked for.
    """

    episode: str
    agent: str
    role: str
    turn: int
    observation: str
    seed: int


class Questions:
    """Makes the questions of one player of an episode."""

    def __init__(self, key: EpisodeKey, seed: int) -> None:
        self._key = key
        self._seed = seed
        self._asked: dict[str, int] = {}

    def next(self, agent: str, observation: str) -> Question:
        """What is to be asked now."""
        turn = self._asked.get(agent, 0)
        self._asked[agent] = turn + 1
        seed = derive_seed(self._seed, self._key.id, agent, turn)
        return Question(self._key.id, agent, role_of(agent), turn, observation, seed)

"""Reference players of the environments, and a person at the terminal."""

from llm_envs.players import Player, ReferencePlayer
from llm_envs.players.human import HumanPlayer
from llm_envs_bench.agents.base import PlainAgent
from llm_envs_bench.spec import EpisodeKey

HUMAN = "human"


class ReferenceAgent(PlainAgent):
    """A player that the environment brings with it, such as its oracle."""

    def __init__(self, name: str, seed: int) -> None:
        self.name = name
        self._seed = seed

    def enter(self, key: EpisodeKey) -> Player:
        """See `Agent`."""
        return ReferencePlayer(self.name, key.seed(self._seed))


class HumanAgent(PlainAgent):
    """A person who types the replies."""

    name = HUMAN

    def enter(self, key: EpisodeKey) -> Player:
        """See `Agent`."""
        return HumanPlayer()

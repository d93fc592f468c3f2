"""How a game is put into words. The base class prints any space; a subclass says it as players of the game would."""

from collections.abc import Collection, Mapping, Sequence

from llm_envs.core.foreign import Game
from llm_envs.core.fork_check import action_mask
from llm_envs.wrappers.action_text import Choices
from llm_envs.wrappers.space_choices import choices_of
from llm_envs.wrappers.space_text import value_text


class GameText:
    """The words of a game. Agents are named here as the game names them; nothing is changed in the game.

    Attributes:
        rules: what every player has to know; stands at the head of each observation.
    """

    rules = ""

    def __init__(self, *, rules: str | None = None, action_names: Sequence[str] | None = None) -> None:
        """Take the words that a caller has for a game without a class of its own.

        Args:
            rules: replaces the class's.
            action_names: words for the actions of a Discrete space, in their order; by default their numbers.
        """
        if rules is not None:
            self.rules = rules
        self._action_names = None if action_names is None else tuple(action_names)

    def show(self, game: Game, agent: str) -> str:
        """All that an agent may see of the present state."""
        return value_text(game.observation_space(agent), game.observe(agent))

    def brief(self, game: Game, agent: str) -> str:
        """`show` on one line."""
        return " ".join(self.show(game, agent).split())

    def state(self, game: Game) -> str:
        """The whole state: the game's own where it has a `state_space`, else what each agent sees."""
        space = getattr(game, "state_space", None)
        if space is not None:
            return value_text(space, game.state())
        return "\n\n".join(f"{agent}:\n{self.show(game, agent)}" for agent in game.agents)

    def choices(self, game: Game, agent: str) -> Choices:
        """The legal actions of the agent whose turn it is."""
        mask = action_mask(game, agent, game.observe(agent))
        return choices_of(game.action_space(agent), self._action_names, mask)

    def winners(self, game: Game, returns: Mapping[str, float]) -> Collection[str]:
        """Who won a game that came to its end: those with the highest return, where that is above 0.

        Args:
            game: the game after its last action.
            returns: agent -> sum of its rewards in this episode.
        """
        best = max(returns.values())
        return [agent for agent, value in returns.items() if value == best > 0]

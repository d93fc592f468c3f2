"""The words of limit poker as RLCard plays it; Texas hold'em and Leduc hold'em share them."""

from collections.abc import Sequence
from typing import Any

from llm_envs.core.foreign import Game
from llm_envs.wrappers.action_text import Choices, Labels
from llm_envs.wrappers.game_text import GameText

ACTIONS = ("call", "raise", "fold", "check")  # in the order of their numbers in the game


class PokerText(GameText):
    """What a player sees of a deal: own cards, the table's, the chips in the pot, and the betting so far."""

    def show(self, game: Game, agent: str) -> str:
        seen = _seen(game, agent)
        lines = [
            f"At the table you are {agent}. Your cards: {_cards(seen['hand'])}.",
            f"On the table: {_table(seen) or 'nothing yet'}.",
            f"Chips in the pot: {_chips(game, seen['all_chips'])}.",
        ]
        betting = [f"{game.possible_agents[seat]} {action}" for seat, action in game.unwrapped.env.action_recorder]
        if betting:
            lines.append(f"Betting so far: {', '.join(betting)}.")
        return "\n".join(lines)

    def brief(self, game: Game, agent: str) -> str:
        seen = _seen(game, agent)
        others = [chips for name, chips in zip(game.possible_agents, seen["all_chips"], strict=True) if name != agent]
        table = _table(seen) or "none"
        return f"hand {_cards(seen['hand'])} table {table} pot {seen['my_chips']} {' '.join(map(str, others))}"

    def state(self, game: Game) -> str:
        seats = [(agent, _seen(game, agent)) for agent in game.possible_agents]
        table = seats[0][1]
        hands = [f"{agent}: {_cards(seen['hand'])}" for agent, seen in seats]
        pot = _chips(game, table["all_chips"])
        return "\n".join([*hands, f"table: {_table(table) or 'nothing yet'}", f"pot: {pot}"])

    def choices(self, game: Game, agent: str) -> Choices:
        return Labels({ACTIONS[action]: action for action in game.unwrapped.next_legal_moves}, frozenset(ACTIONS))


def _seen(game: Game, agent: str) -> dict[str, Any]:
    """What RLCard lets a player see."""
    raw: dict[str, Any] = game.unwrapped.env.get_state(game.possible_agents.index(agent))["raw_obs"]
    return raw


def _table(seen: dict[str, Any]) -> str:
    return _cards(seen["public_cards"] if "public_cards" in seen else seen["public_card"])


def _cards(cards: str | Sequence[str] | None) -> str:
    """RLCard's `HQ` as players write it, `Qh`."""
    if cards is None:
        return ""
    return " ".join(card[1] + card[0].lower() for card in ([cards] if isinstance(cards, str) else cards))


def _chips(game: Game, chips: Sequence[int]) -> str:
    return ", ".join(f"{agent} {count}" for agent, count in zip(game.possible_agents, chips, strict=True))

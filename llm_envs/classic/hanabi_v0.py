"""Hanabi: a co-operative game in which nobody sees their own cards.

| Import | `from llm_envs.classic import hanabi_v0` |
|---|---|
| Registry id | `llm_envs/hanabi-v0` |
| Game | PettingZoo's `classic/hanabi-v5`, which plays OpenSpiel's (extra `classic`) |
| Agents | `["player_0", "player_1"]`, more with `players` |
| Actions | text |
| Observations | text |
| Parallel API | turn-based view |

Played as `llm_envs.wrappers.textualize` says. An action is `play N` or `discard N` (a position in one's own hand,
from 0), or `reveal player +K color C` or `reveal player +K rank R` to the K-th player after oneself. The deal depends
on split and index.

### Observations

`full`: the rules and OpenSpiel's view of the table. `brief`: that view on one line. `state()` shows all hands.

### Rewards

Each agent receives the change of the score (cards on the fireworks); when the last life is lost, all of it is taken
back. All agents have won when every firework is complete.

### Options

| option | default | meaning |
|---|---|---|
| `players` | 2 | 2 to 5, not more than colors |
| `colors`, `ranks` | 5, 5 | 2 to 5 |
| `hand_size` | 5 | 2 to 5, within the deck of `2 * ranks * colors` cards |
| `max_information_tokens`, `max_life_tokens` | 8, 3 | hints and mistakes at the start |
| `roles` | `player` for all | a role for each agent |
| `max_cycles` | 100 | most turns of one agent, invalid replies included |

and `focal`, `observation`, `on_invalid`, `invalid_penalty`, `opening`, `split`, `render_mode` (also "rgb_array") as in
`textualize`.

### Version history

* v0: initial version.
"""

from collections.abc import Collection, Mapping
from typing import Any, Unpack

from llm_envs.classic.entry import PlayOptions, classic
from llm_envs.core.errors import require, whole_number
from llm_envs.core.foreign import Game
from llm_envs.core.options import entry_points, options_passed_to
from llm_envs.wrappers.action_text import Choices, Labels
from llm_envs.wrappers.game_text import GameText
from llm_envs.wrappers.textualize import raw_textualized
from llm_envs.wrappers.textualized_env import TextualizedEnv

__all__ = ["env", "parallel_env", "raw_env"]

RULES = (
    "Hanabi: the players build one firework in each colour together, its cards played in rising order from rank 1. "
    "You see the cards of the others, not your own. In your turn you play a card, discard one (which gives an "
    "information token back), or spend an information token to reveal to another player all cards of one colour or "
    "rank in their hand. A card that does not fit costs a life; without lives all points are lost. The score is the "
    "number of cards on the fireworks.\n"
    "Below, each card is shown as `card || revealed|possible`: XX for a card you can't see, then what was revealed "
    "of it, then the colours and ranks that it can still have. Positions in a hand count from 0. Your own hand comes "
    "first, then those of the players after you; `Cur player` stands above the hand of the player whose turn it is."
)


class HanabiText(GameText):
    """The words of Hanabi: OpenSpiel's own view of the table and names of actions."""

    def show(self, game: Game, agent: str) -> str:
        return str(_table(game).observation_string(game.possible_agents.index(agent))).rstrip()

    def state(self, game: Game) -> str:
        return str(_table(game)).rstrip()

    def choices(self, game: Game, agent: str) -> Choices:
        table, seat = _table(game), game.possible_agents.index(agent)
        names = {action: _name(table.action_to_string(seat, action)) for action in range(game.action_space(agent).n)}
        return Labels({names[action]: action for action in table.legal_actions(seat)}, frozenset(names.values()))

    def winners(self, game: Game, returns: Mapping[str, float]) -> Collection[str]:
        best = game.unwrapped.hanabi_env._env.max_utility()
        return [agent for agent, value in returns.items() if value == best]


def _table(game: Game) -> Any:
    """OpenSpiel's state."""
    return game.unwrapped.hanabi_env.game_state


def _name(action: str) -> str:
    """OpenSpiel's `(Reveal player +1 color R)` as it is answered."""
    words = action.strip("()")
    return words[0].lower() + words[1:]


@options_passed_to(raw_textualized)
def raw_env(
    *,
    players: int = 2,
    colors: int = 5,
    ranks: int = 5,
    hand_size: int = 5,
    max_information_tokens: int = 8,
    max_life_tokens: int = 3,
    roles: tuple[str, ...] | None = None,
    max_cycles: int = 100,
    **play: Unpack[PlayOptions],
) -> TextualizedEnv:
    """The environment without wrappers; the module's page explains the options."""
    colors = whole_number("colors", colors, least=2, most=5)
    ranks = whole_number("ranks", ranks, least=2, most=5)
    deck = 2 * ranks * colors  # of each colour three of the lowest rank, one of the highest, two of the others
    game_options = {
        "colors": colors,
        "players": whole_number("players", players, least=2, most=colors),
        "ranks": ranks,
        "hand_size": whole_number("hand_size", hand_size, least=2, most=5),
        "max_information_tokens": whole_number("max_information_tokens", max_information_tokens, least=0),
        "max_life_tokens": whole_number("max_life_tokens", max_life_tokens, least=1),
    }
    # OpenSpiel ends the whole process over a deck that is too small.
    most = deck // players
    require(hand_size <= most, "hand_size", hand_size, f"at most {most} for a deck of {deck} cards")
    return classic(
        "hanabi-v5",
        HanabiText(rules=RULES),
        name="hanabi_v0",
        roles=roles,
        max_cycles=max_cycles,
        game_options=game_options,
        **play,
    )


env, parallel_env = entry_points(raw_env)

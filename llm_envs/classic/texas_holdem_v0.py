"""Limit Texas hold'em, one deal.

| Import | `from llm_envs.classic import texas_holdem_v0` |
|---|---|
| Registry id | `llm_envs/texas_holdem-v0` |
| Game | PettingZoo's `classic/texas_holdem-v4`, which plays RLCard's (extra `classic`) |
| Agents | `["player_0", "player_1"]`, more with `num_players` |
| Actions | text |
| Observations | text |
| Parallel API | turn-based view |

Played as `llm_envs.wrappers.textualize` says. An action is `call`, `raise`, `fold` or `check`. The deal, and who has
the blinds, depend on split and index.

### Observations

`full`: the rules, own cards, cards on the table, chips in the pot, betting so far. `brief`: e.g. `player hand 5c 7c
table 5h Qd 9d pot 6 6 legal raise fold check`, the pot's chips one's own first. Cards are rank and suit: `Td` is the
ten of diamonds. `state()` shows all hands.

### Rewards

At the end the chips won or lost, in big blinds (2 chips). Who has won any has won.

### Options

| option | default | meaning |
|---|---|---|
| `num_players` | 2 | 2 to 10 |
| `roles` | `player` for all | a role for each agent |
| `max_cycles` | 50 | most turns of one agent, invalid replies included |

and `focal`, `observation`, `on_invalid`, `invalid_penalty`, `opening`, `split`, `render_mode` (also "rgb_array") as in
`textualize`.

### Version history

* v0: initial version.
"""

from typing import Unpack

from llm_envs.classic.entry import PlayOptions, classic
from llm_envs.classic.poker import PokerText
from llm_envs.core.errors import whole_number
from llm_envs.core.options import entry_points, options_passed_to
from llm_envs.wrappers.textualize import raw_textualized
from llm_envs.wrappers.textualized_env import TextualizedEnv

__all__ = ["env", "parallel_env", "raw_env"]

RULES = (
    "Limit Texas hold'em, one deal. Each player has two cards; five more are laid on the table for all: three, then "
    "one, then one, with a round of betting before the first and after each. The blinds are 1 and 2 chips. A raise "
    "is 2 chips in the first two rounds and 4 in the last two, at most four raises a round. After the last round the "
    "best five of a player's two and the table's five cards win the pot; whoever folds has lost what they put in. A "
    "card is rank and suit: Td is the ten of diamonds."
)


@options_passed_to(raw_textualized)
def raw_env(
    *,
    num_players: int = 2,
    roles: tuple[str, ...] | None = None,
    max_cycles: int = 50,
    **play: Unpack[PlayOptions],
) -> TextualizedEnv:
    """The environment without wrappers; the module's page explains the options."""
    return classic(
        "texas_holdem-v4",
        PokerText(rules=RULES),
        name="texas_holdem_v0",
        roles=roles,
        max_cycles=max_cycles,
        game_options={"num_players": whole_number("num_players", num_players, least=2, most=10)},
        **play,
    )


env, parallel_env = entry_points(raw_env)

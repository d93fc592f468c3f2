"""Leduc hold'em: poker with six cards, one deal.

| Import | `from llm_envs.classic import leduc_holdem_v0` |
|---|---|
| Registry id | `llm_envs/leduc_holdem-v0` |
| Game | PettingZoo's `classic/leduc_holdem-v4`, which plays RLCard's (extra `classic`) |
| Agents | `["player_0", "player_1"]` |
| Actions | text |
| Observations | text |
| Parallel API | turn-based view |

Played as `llm_envs.wrappers.textualize` says. An action is `call`, `raise`, `fold` or `check`. The deal, and who has
the blinds, depend on split and index.

### Observations

`full`: the rules, own card, the card on the table, chips in the pot, betting so far. `brief`: e.g. `player hand Qh
table none pot 1 2 legal call raise fold`, the pot's chips one's own first. Cards are rank and suit: `Qh` is the queen
of hearts. `state()` shows both hands.

### Rewards

At the end the chips won or lost, in big blinds (2 chips). Who has won any has won.

### Options

| option | default | meaning |
|---|---|---|
| `roles` | `("player", "player")` | a role for each agent |
| `max_cycles` | 30 | most turns of one agent, invalid replies included |

and `focal`, `observation`, `on_invalid`, `invalid_penalty`, `opening`, `split`, `render_mode` (also "rgb_array") as in
`textualize`.

### Version history

* v0: initial version.
"""

from typing import Unpack

from llm_envs.classic.entry import PlayOptions, classic
from llm_envs.classic.poker import PokerText
from llm_envs.core.options import entry_points, options_passed_to
from llm_envs.wrappers.textualize import raw_textualized
from llm_envs.wrappers.textualized_env import TextualizedEnv

__all__ = ["env", "parallel_env", "raw_env"]

RULES = (
    "Leduc hold'em, one deal, with six cards: jack, queen and king in two suits. Each of the two players has one "
    "card; after a round of betting one card is laid on the table, and a second round follows. The blinds are 1 and "
    "2 chips. A raise is 2 chips in the first round and 4 in the second, at most two raises a round. Then whoever "
    "pairs the table's card wins the pot, else the higher rank; equal ranks share it. Whoever folds has lost what "
    "they put in. A card is rank and suit: Qh is the queen of hearts."
)


@options_passed_to(raw_textualized)
def raw_env(
    *, roles: tuple[str, ...] = ("player", "player"), max_cycles: int = 30, **play: Unpack[PlayOptions]
) -> TextualizedEnv:
    """The environment without wrappers; the module's page explains the options."""
    return classic(
        "leduc_holdem-v4",
        PokerText(rules=RULES),
        name="leduc_holdem_v0",
        roles=roles,
        max_cycles=max_cycles,
        **play,
    )


env, parallel_env = entry_points(raw_env)

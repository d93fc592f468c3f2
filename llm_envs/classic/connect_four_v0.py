"""Connect four: drop tokens into columns, four of your own in a line win.

| Import | `from llm_envs.classic import connect_four_v0` |
|---|---|
| Registry id | `llm_envs/connect_four-v0` |
| Game | PettingZoo's `classic/connect_four-v3` (extra `classic`) |
| Agents | `["red_0", "black_0"]` |
| Actions | text |
| Observations | text |
| Parallel API | turn-based view |

Played as `llm_envs.wrappers.textualize` says. An action is the number of a column that is not full, 1 to 7.

### Observations

`full`: the rules and the board. `brief`: the rows from the top, a word each, e.g. `red ....... ....... ....... .......
....... ...r... legal 1 2 3 4 5 6 7`. `state()` is the board.

### Rewards

At the end +1 to the winner and -1 to the loser, 0 to both for a draw.

### Options

| option | default | meaning |
|---|---|---|
| `roles` | `("red", "black")` | a role for each agent; red begins |
| `max_cycles` | 42 | most turns of one agent, invalid replies included; a game takes 21 at most |

and `focal`, `observation`, `on_invalid`, `invalid_penalty`, `opening`, `split`, `render_mode` (also "rgb_array") as in
`textualize`.

### Version history

* v0: initial version.
"""

from typing import Unpack

from llm_envs.classic.entry import PlayOptions, classic
from llm_envs.core.foreign import Game
from llm_envs.core.options import entry_points, options_passed_to
from llm_envs.wrappers.action_text import Choices, Labels
from llm_envs.wrappers.game_text import GameText
from llm_envs.wrappers.textualize import raw_textualized
from llm_envs.wrappers.textualized_env import TextualizedEnv

__all__ = ["env", "parallel_env", "raw_env"]

ROWS, COLUMNS = 6, 7
TOKENS = ".RB"
NAMES = tuple(str(column) for column in range(1, COLUMNS + 1))


class ConnectFourText(GameText):
    """The words of connect four."""

    rules = (
        "Connect four: two players drop tokens in turn into the columns of an upright board with 6 rows and 7 "
        "columns. A token falls to the lowest free cell of its column. Whoever first has four tokens of their own in "
        "a horizontal, vertical or diagonal line wins; a full board without such a line is a draw. Columns are "
        "numbered 1 to 7 from left to right. Your answer is the number of a column that is not full."
    )

    def show(self, game: Game, agent: str) -> str:
        token = TOKENS[1 + game.possible_agents.index(agent)]
        return f"The board, top row first:\n{self.state(game)}\n\nYou play {token}."

    def brief(self, game: Game, agent: str) -> str:
        return " ".join(_rows(game)).lower()

    def state(self, game: Game) -> str:
        return "\n".join([" ".join(NAMES), *(" ".join(row) for row in _rows(game))])

    def choices(self, game: Game, agent: str) -> Choices:
        top = game.unwrapped.board[:COLUMNS]
        return Labels({name: column for column, name in enumerate(NAMES) if not top[column]}, frozenset(NAMES))


def _rows(game: Game) -> list[str]:
    cells = "".join(TOKENS[token] for token in game.unwrapped.board)
    return [cells[row * COLUMNS : (row + 1) * COLUMNS] for row in range(ROWS)]


@options_passed_to(raw_textualized)
def raw_env(
    *, roles: tuple[str, ...] = ("red", "black"), max_cycles: int = 42, **play: Unpack[PlayOptions]
) -> TextualizedEnv:
    """The environment without wrappers; the module's page explains the options."""
    return classic(
        "connect_four-v3", ConnectFourText(), name="connect_four_v0", roles=roles, max_cycles=max_cycles, **play
    )


env, parallel_env = entry_points(raw_env)

"""Tic-tac-toe: three in a row on a board of nine squares.

| Import | `from llm_envs.classic import tictactoe_v0` |
|---|---|
| Registry id | `llm_envs/tictactoe-v0` |
| Game | PettingZoo's `classic/tictactoe-v3` (extra `classic`) |
| Agents | `["cross_0", "nought_0"]` |
| Actions | text |
| Observations | text |
| Parallel API | turn-based view |

Played as `llm_envs.wrappers.textualize` says. An action is the number of an empty square, 1 to 9 in reading order.

### Observations

`full`: the rules and the board, empty squares shown by their numbers. `brief`: the squares in reading order, e.g.
`cross x . . . o . . . . legal 2 3 4 6 7 8 9`. `state()` is the board.

### Rewards

At the end +1 to the winner and -1 to the loser, 0 to both for a draw.

### Options

| option | default | meaning |
|---|---|---|
| `roles` | `("cross", "nought")` | a role for each agent; cross begins |
| `max_cycles` | 9 | most turns of one agent, invalid replies included; a game takes five at most |

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

MARKS = "XO"
# The game numbers the squares by column; people read by row.
SQUARES = tuple(3 * column + row for row in range(3) for column in range(3))
NAMES = frozenset(map(str, range(1, 10)))


class TicTacToeText(GameText):
    """The words of tic-tac-toe."""

    rules = (
        "Tic-tac-toe: two players mark the squares of a 3x3 board in turn. Whoever first has three marks of their "
        "own in a row, a column or a diagonal wins; a full board without such a line is a draw. Squares are numbered "
        "1 to 9, from left to right and from top to bottom. Your answer is the number of an empty square."
    )

    def show(self, game: Game, agent: str) -> str:
        return f"The board, empty squares shown by number:\n{self.state(game)}\n\nYou play {_mark(game, agent)}."

    def brief(self, game: Game, agent: str) -> str:
        return " ".join(MARKS[mark - 1].lower() if mark else "." for mark in _marks(game))

    def state(self, game: Game) -> str:
        cells = [MARKS[mark - 1] if mark else str(number) for number, mark in enumerate(_marks(game), start=1)]
        return "\n".join(" ".join(cells[start : start + 3]) for start in (0, 3, 6))

    def choices(self, game: Game, agent: str) -> Choices:
        empty = {str(number): SQUARES[number - 1] for number, mark in enumerate(_marks(game), start=1) if not mark}
        return Labels(empty, NAMES)


def _marks(game: Game) -> list[int]:
    """0 for an empty square, 1 for a cross, 2 for a nought, in reading order."""
    squares = game.unwrapped.board.squares
    return [squares[square] for square in SQUARES]


def _mark(game: Game, agent: str) -> str:
    return MARKS[game.possible_agents.index(agent)]


@options_passed_to(raw_textualized)
def raw_env(
    *, roles: tuple[str, ...] = ("cross", "nought"), max_cycles: int = 9, **play: Unpack[PlayOptions]
) -> TextualizedEnv:
    """The environment without wrappers; the module's page explains the options."""
    return classic("tictactoe-v3", TicTacToeText(), name="tictactoe_v0", roles=roles, max_cycles=max_cycles, **play)


env, parallel_env = entry_points(raw_env)

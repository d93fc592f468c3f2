"""Chess.

| Import | `from llm_envs.classic import chess_v0` |
|---|---|
| Registry id | `llm_envs/chess-v0` |
| Game | PettingZoo's `classic/chess-v6` (extra `classic`) |
| Agents | `["white_0", "black_0"]` |
| Actions | text |
| Observations | text |
| Parallel API | turn-based view |

Played as `llm_envs.wrappers.textualize` says. An action is a legal move in UCI notation: the square a piece leaves and
the one it goes to, e.g. `e2e4`; castling is the king's move (`e1g1`); a promotion names the piece (`e7e8q`).

### Observations

`full`: the rules of notation, the board, its FEN, and the last move. `brief`: the FEN. Both list the legal moves.
`state()` is the board with its FEN.

### Rewards

At the end +1 to the winner and -1 to the loser, 0 to both for a draw; a draw that can be claimed (threefold repetition,
fifty moves) is claimed.

### Options

| option | default | meaning |
|---|---|---|
| `roles` | `("white", "black")` | a role for each agent; white begins |
| `max_cycles` | 200 | most turns of one agent, invalid replies included |

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


class ChessText(GameText):
    """The words of chess."""

    rules = (
        "Chess, by the rules of FIDE; draws that can be claimed are claimed. Your answer is a legal move in UCI "
        "notation: the square a piece leaves and the one it goes to, e.g. e2e4; castling is the king's move (e1g1); a "
        "promotion names the piece (e7e8q). On the board, capitals are White's pieces."
    )

    def show(self, game: Game, agent: str) -> str:
        colour = "White" if game.possible_agents.index(agent) == 0 else "Black"
        moves = game.unwrapped.board.move_stack
        last = f"The last move was {moves[-1].uci()}. " if moves else ""
        return f"{self.state(game)}\n\n{last}You play {colour}."

    def brief(self, game: Game, agent: str) -> str:
        return str(game.unwrapped.board.fen())

    def state(self, game: Game) -> str:
        board = game.unwrapped.board
        rows = [f"{8 - number} {row}" for number, row in enumerate(str(board).splitlines())]
        return "\n".join([*rows, "  a b c d e f g h", f"FEN: {board.fen()}"])

    def choices(self, game: Game, agent: str) -> Choices:
        from pettingzoo.classic.chess.chess_utils import action_to_move, legal_moves  # late: it needs the extra

        board, seat = game.unwrapped.board, game.possible_agents.index(agent)
        return Labels({action_to_move(board, action, seat).uci(): action for action in legal_moves(board)})


@options_passed_to(raw_textualized)
def raw_env(
    *, roles: tuple[str, ...] = ("white", "black"), max_cycles: int = 200, **play: Unpack[PlayOptions]
) -> TextualizedEnv:
    """The environment without wrappers; the module's page explains the options."""
    return classic("chess-v6", ChessText(), name="chess_v0", roles=roles, max_cycles=max_cycles, **play)


env, parallel_env = entry_points(raw_env)

"""Rock paper scissors: both choose at once, over several rounds.

| Import | `from llm_envs.classic import rps_v0` |
|---|---|
| Registry id | `llm_envs/rps-v0` |
| Game | PettingZoo's `classic/rps-v2` (extra `classic`) |
| Agents | `["player_0", "player_1"]` |
| Actions | text |
| Observations | text |
| Parallel API | turn-based view |

Played as `llm_envs.wrappers.textualize` says. An action is a word: `rock`, `paper`, `scissors`; with more of them
`spock`, `lizard`, `action_6` and so on. `player_1` answers second but does not see what `player_0` chose.

### Observations

`full`: the rules, the round, and the last five rounds. `brief`: the round and what both chose in the last one, e.g.
`player 3 of 15 you rock they paper legal rock paper scissors`. `state()` is the last rounds and what was chosen in the
present one.

### Rewards

At the end of each round +1 to its winner and -1 to its loser. Who has the higher sum after the last round has won.

### Options

| option | default | meaning |
|---|---|---|
| `num_actions` | 3 | an odd number from 3 |
| `rounds` | 15 | rounds of a game |
| `roles` | `("player", "player")` | a role for each agent |
| `max_cycles` | 100 | most turns of one agent, invalid replies included |

and `focal`, `observation`, `on_invalid`, `invalid_penalty`, `opening`, `split`, `render_mode` (also "rgb_array") as in
`textualize`.

### Version history

* v0: initial version.
"""

from typing import Unpack

from llm_envs.classic.entry import PlayOptions, classic
from llm_envs.core.errors import require, whole_number
from llm_envs.core.foreign import Game
from llm_envs.core.options import entry_points, options_passed_to
from llm_envs.wrappers.action_text import Choices, Labels
from llm_envs.wrappers.game_text import GameText
from llm_envs.wrappers.textualize import raw_textualized
from llm_envs.wrappers.textualized_env import TextualizedEnv

__all__ = ["env", "parallel_env", "raw_env"]

FIRST_NAMES = ("rock", "paper", "scissors", "spock", "lizard")
REMEMBERED = 5  # rounds that the game keeps


class RockPaperScissorsText(GameText):
    """The words of rock paper scissors with any odd number of things to choose from."""

    def __init__(self, num_actions: int, rounds: int) -> None:
        names = [*FIRST_NAMES, *(f"action_{number}" for number in range(6, num_actions + 1))][:num_actions]
        super().__init__(action_names=names)
        self._names = names
        self._rounds = rounds
        beats = "; ".join(f"{name} beats {', '.join(self._beaten(number))}" for number, name in enumerate(names))
        self.rules = (
            f"A game of {rounds} rounds. In each round both players choose at the same time: {beats}. The winner of a "
            "round gets 1 point, the loser loses 1; equal choices give nothing."
        )

    def _beaten(self, number: int) -> list[str]:
        """The game's rule: of two choices equally far from even the lower wins, else the higher."""
        others = enumerate(self._names)
        return [name for other, name in others if other != number and (number > other) == bool((number + other) % 2)]

    def show(self, game: Game, agent: str) -> str:
        lines = [f"This is round {min(game.unwrapped.num_moves + 1, self._rounds)} of {self._rounds}."]
        me = game.possible_agents.index(agent)
        for number, pair in _past(game):
            lines.append(f"Round {number}: you chose {self._names[pair[me]]}, they {self._names[pair[1 - me]]}.")
        return "\n".join(lines)

    def brief(self, game: Game, agent: str) -> str:
        line = f"{min(game.unwrapped.num_moves + 1, self._rounds)} of {self._rounds}"
        me, past = game.possible_agents.index(agent), _past(game)
        if past:
            pair = past[-1][1]
            line += f" you {self._names[pair[me]]} they {self._names[pair[1 - me]]}"
        return line

    def state(self, game: Game) -> str:
        rounds: list[tuple[int, list[int]]] = [(number, list(pair)) for number, pair in _past(game)]
        chosen = [choice for choice in game.unwrapped.state.values() if choice < len(self._names)]
        if len(chosen) == 1:
            rounds.append((game.unwrapped.num_moves + 1, chosen))
        return "\n".join(f"Round {number}: {' '.join(self._names[i] for i in made)}" for number, made in rounds)

    def choices(self, game: Game, agent: str) -> Choices:
        return Labels({name: number for number, name in enumerate(self._names)})


def _past(game: Game) -> list[tuple[int, tuple[int, int]]]:
    """The number of each remembered round and what both chose in it, the oldest first."""
    raw = game.unwrapped
    pairs = list(zip(raw.history[0::2], raw.history[1::2], strict=True))[: min(REMEMBERED, raw.num_moves)]
    return [(raw.num_moves - ago, pair) for ago, pair in enumerate(pairs)][::-1]


@options_passed_to(raw_textualized)
def raw_env(
    *,
    num_actions: int = 3,
    rounds: int = 15,
    roles: tuple[str, ...] = ("player", "player"),
    max_cycles: int = 100,
    **play: Unpack[PlayOptions],
) -> TextualizedEnv:
    """The environment without wrappers; the module's page explains the options."""
    num_actions = whole_number("num_actions", num_actions, least=3)
    require(num_actions % 2 == 1, "num_actions", num_actions, "odd")
    rounds = whole_number("rounds", rounds, least=1)
    return classic(
        "rps-v2",
        RockPaperScissorsText(num_actions, rounds),
        name="rps_v0",
        roles=roles,
        max_cycles=max_cycles,
        game_options={"num_actions": num_actions, "max_cycles": rounds},
        **play,
    )


env, parallel_env = entry_points(raw_env)

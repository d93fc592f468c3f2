"""Whole games beside textarena's on the same puzzles, and copies in their middle."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from harness.games import ENDLESS, SOKOBAN, answer, oracle_moves, play
from harness.peers import Worker
from harness.timing import Row, medians, per_call
from llm_envs import sudoku_v0
from llm_envs.core.env import TextAECEnv
from llm_envs.sudoku.puzzle import Placement
from llm_envs.sudoku.state import placement_text

FORKS, GAMES_EACH = 20, 5  # a slice


@dataclass(frozen=True)
class Match:
    """One puzzle as both arms take it, one move a turn."""

    env: TextAECEnv
    puzzle: Any
    ours: Sequence[str]
    theirs: Sequence[str]


def sudoku_match(index: int) -> Match:
    """A 9x9 puzzle, filled cell by cell."""
    env = sudoku_v0.raw_env(size=9, difficulty="easy", roles="planners", max_cycles=ENDLESS)
    env.reset(options={"index": index})
    puzzle = env.snapshot.puzzle
    right = [Placement(cell, puzzle.solution[cell]) for cell in range(81) if not puzzle.clues[cell]]
    ours = [answer([placement_text(placement, 9)]) for placement in right]
    theirs = [f"[{cell // 9 + 1} {cell % 9 + 1} {digit}]" for cell, digit in right]
    grids = {"clues": puzzle.clues, "solution": puzzle.solution}
    boards = {name: [list(grid[row : row + 9]) for row in range(0, 81, 9)] for name, grid in grids.items()}
    return Match(env, boards, ours, theirs)


def sokoban_match(index: int) -> Match:
    """A room of 10x10 with one box, solved move by move by the plan that it comes with."""
    env = SOKOBAN(roles="planners", max_cycles=ENDLESS)
    env.reset(options={"index": index})
    moves = oracle_moves(env)
    return Match(env, env.snapshot.board.text, [answer([move]) for move in moves], [f"[{move}]" for move in moves])


@dataclass
class Series:
    """New puzzles, a few at a time. Both arms are asked in the same order and so play the same ones."""

    game: str
    make: Callable[[int], Match]
    peer: Worker
    ours: int = 0
    theirs: int = 0

    def play_ours(self) -> float:
        """CPU seconds a turn of our games, which must end solved."""
        matches = [self.make(self.ours + number) for number in range(GAMES_EACH)]
        self.ours += GAMES_EACH
        seconds = per_call(partial(play, [(match.env, match.ours) for match in matches]), 1)
        if not all(info["success"] for match in matches for info in match.env.infos.values()):
            raise SystemExit(f"{self.game}: our game does not end solved")
        return seconds / sum(len(match.ours) for match in matches)

    def play_theirs(self) -> float:
        """CPU seconds a turn of their games, which must end solved."""
        matches = [self.make(self.theirs + number) for number in range(GAMES_EACH)]
        self.theirs += GAMES_EACH
        asked = [{"game": self.game, "puzzle": match.puzzle, "answers": list(match.theirs)} for match in matches]
        seconds, endings = self.peer.ask("play", asked)
        if endings != [[True, 1]] * GAMES_EACH:
            raise SystemExit(f"{self.game}: textarena's game does not end solved")
        return seconds / sum(len(match.theirs) for match in matches)

    def fork_ours(self) -> float:
        """CPU seconds of a fork in the middle of a game."""
        match = self.make(0)
        play([(match.env, match.ours[: len(match.ours) // 2])])
        return per_call(match.env.fork, FORKS)

    def fork_theirs(self) -> float:
        """CPU seconds of a copy in the middle of a game."""
        match = self.make(0)
        half = list(match.theirs[: len(match.theirs) // 2])
        return self.peer.ask("fork", {"game": self.game, "puzzle": match.puzzle, "answers": half, "count": FORKS})[0]


def compare_games(peer: Worker, rounds: int) -> list[Row]:
    """Turns and copies beside textarena, whose way to branch is `copy.deepcopy`."""
    makers = {"Sudoku 9x9": ("sudoku", sudoku_match), "Sokoban 10x10": ("sokoban", sokoban_match)}
    series = {name: Series(game, make, peer) for name, (game, make) in makers.items()}
    return [row for name, one in series.items() for row in _compare(name, one, rounds)]


def _compare(name: str, series: Series, rounds: int) -> list[Row]:
    arms = {
        "turn": series.play_ours,
        "their turn": series.play_theirs,
        "fork": series.fork_ours,
        "their fork": series.fork_theirs,
    }
    found = medians(arms, rounds)
    return [
        Row(f"{name}: turn of one move, new games", found["turn"], "textarena", found["their turn"]),
        Row(f"{name}: fork", found["fork"], "textarena, deepcopy", found["their fork"]),
    ]

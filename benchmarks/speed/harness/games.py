"""The games as the benchmarks play them: round and round, or new ones to the end."""

import itertools
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from llm_envs import plan_path_v0, sokoban_v0, sudoku_v0
from llm_envs.core.env import TextAECEnv
from llm_envs.core.parsing import last_answer
from llm_envs.sudoku.puzzle import Placement, Puzzle
from llm_envs.sudoku.state import placement_text

ENDLESS = 1 << 30  # cycles
OPPOSITES = (("up", "down"), ("left", "right"), ("down", "up"), ("right", "left"))


@dataclass(frozen=True)
class Game:
    """One row of options.

    Attributes:
        answers: replies that go round for ever from the first instance; each holds three moves or placements.
        solution: the moves or placements that solve the present instance.
    """

    name: str
    make: Callable[..., TextAECEnv]
    answers: Callable[[TextAECEnv], Sequence[str]]
    solution: Callable[[TextAECEnv], Sequence[str]]

    def begin(self) -> TextAECEnv:
        """The environment, without wrappers, at its first instance; two agents take turns."""
        env = self.make(roles="planners", agents={"planner": 2}, max_cycles=ENDLESS)
        env.reset(options={"index": 0})
        return env


def answer(words: Sequence[str]) -> str:
    """A reply in the form that the prompts ask for."""
    return f"<answer>{' '.join(words)}</answer>"


def in_threes(words: Sequence[str]) -> list[str]:
    """Replies of three words each; the last one has what is left."""
    return [answer(words[first : first + 3]) for first in range(0, len(words), 3)]


def play(games: Iterable[tuple[TextAECEnv, Sequence[str]]]) -> None:
    """Play each game by its replies, as a player does: the prompt is built and looked at, the reply is taken."""
    for env, replies in games:
        for reply in replies:
            observation = env.last()[0]
            len(observation or "")
            env.step(reply)


def back_and_forth(env: TextAECEnv) -> list[str]:
    """Two answers of three moves, of which none is blocked and none pushes: a step to and fro."""
    start = env.state()
    for forth, back in OPPOSITES:
        answers = [answer((forth, back, forth)), answer((back, forth, back))]
        trial = env.fork()
        trial.step(answers[0])
        between = trial.state()
        trial.step(answers[1])
        if start == trial.state() != between and not any(info.get("hits") for info in trial.infos.values()):
            return answers
    raise SystemExit(f"{env}: no step to and fro is possible from\n{start}")


def placements(env: TextAECEnv) -> list[str]:
    """Answers of three placements each, which put legal digits, right and wrong, and clear them again."""
    puzzle: Puzzle = env.snapshot.puzzle
    cells = [cell for cell, given in enumerate(puzzle.clues) if not given]
    answers: list[str] = []
    for first in range(0, len(cells) - 3, 3):
        three = cells[first : first + 3]
        for digits in ([_highest(puzzle, cell) for cell in three], [0, 0, 0]):
            put = itertools.starmap(Placement, zip(three, digits, strict=True))
            answers.append(answer([placement_text(placement, puzzle.size) for placement in put]))
    return answers


def _highest(puzzle: Puzzle, cell: int) -> int:
    return max(digit for digit in range(1, puzzle.size + 1) if not puzzle.barred[cell] >> digit & 1)


def right_placements(env: TextAECEnv) -> list[str]:
    """All placements that the puzzle lacks."""
    puzzle: Puzzle = env.snapshot.puzzle
    empty = [cell for cell, given in enumerate(puzzle.clues) if not given]
    return [placement_text(Placement(cell, puzzle.solution[cell]), puzzle.size) for cell in empty]


def oracle_moves(env: TextAECEnv) -> list[str]:
    """The moves that the game's oracle makes."""
    rng, trial, moves = random.Random(0), env.fork(), []
    while trial.agents and not any(trial.terminations.values()):
        reply = trial.task.reference("oracle", trial.snapshot, "planner", rng)
        moves += (last_answer(reply) or "").split()
        trial.step(reply)
    return moves


def _sudoku(size: int) -> Game:
    make = partial(sudoku_v0.raw_env, size=size, difficulty="medium")
    return Game(f"Sudoku {size}x{size}", make, placements, right_placements)


SOKOBAN = partial(sokoban_v0.raw_env, size=10, boxes=1)
GAMES = (
    Game("Plan-Path 8x8", plan_path_v0.raw_env, back_and_forth, oracle_moves),
    Game("Sokoban 10x10", SOKOBAN, back_and_forth, oracle_moves),
    _sudoku(4),
    _sudoku(9),
    _sudoku(16),
)

"""textarena's Sudoku and Sokoban, played on puzzles that are given: turns, and copies in the middle of a game.

They carry the wrapper that shows the rules and the present board, as our prompts do.
"""

import copy
import time
from typing import Any

import numpy as np
import textarena.envs.Sokoban.env as sokoban
from serving import serve
from textarena.envs.Sudoku.env import SudokuEnv
from textarena.wrappers import GameBoardObservationWrapper

TURNS = 1 << 30
CODES = {"#": 0, " ": 1, ".": 2, "*": 3, "$": 4, "@": 5, "+": 5}  # of a cell of Sokoban


def sudoku_game(puzzle: dict[str, Any]) -> Any:
    """A game on a given puzzle."""
    env = SudokuEnv(max_turns=TURNS)
    env._generate_board = lambda: (copy.deepcopy(puzzle["solution"]), copy.deepcopy(puzzle["clues"]))
    return started(env)


def sokoban_game(room: str) -> Any:
    """A game in a given room."""
    state = np.array([[CODES[mark] for mark in row] for row in room.splitlines()])
    fixed = np.array([[0 if mark == "#" else 2 if mark in ".*+" else 1 for mark in row] for row in room.splitlines()])
    sokoban.generate_room = lambda **_: (fixed.copy(), state.copy(), {})
    env = sokoban.SokobanEnv(dim_room=state.shape, max_turns=TURNS, num_boxes=int(np.isin(state, (3, 4)).sum()))
    return started(env)


def started(env: Any) -> Any:
    """The game, wrapped and reset."""
    wrapped = GameBoardObservationWrapper(env)
    wrapped.reset(num_players=1, seed=0)
    return wrapped


GAMES = {"sudoku": sudoku_game, "sokoban": sokoban_game}


def play(asked: list[dict[str, Any]]) -> tuple[float, Any]:
    """Seconds of all turns (prompt built and measured, answer taken) of all games, and how each game ends."""
    games = [(GAMES[each["game"]](each["puzzle"]), each["answers"]) for each in asked]
    length = 0
    begun = time.process_time()
    for env, answers in games:
        for answer in answers:
            length += len(env.get_observation()[1])
            env.step(answer)
    seconds = time.process_time() - begun
    return seconds, [[env.state.done, env.state.rewards[0] if env.state.done else 0] for env, _ in games]


def fork(asked: dict[str, Any]) -> tuple[float, Any]:
    """Seconds a copy, after the answers."""
    env = GAMES[asked["game"]](asked["puzzle"])
    for answer in asked["answers"]:
        env.get_observation()
        env.step(answer)
    begun = time.process_time()
    for _ in range(asked["count"]):
        copy.deepcopy(env)
    return (time.process_time() - begun) / asked["count"], None


serve({"play": play, "fork": fork})

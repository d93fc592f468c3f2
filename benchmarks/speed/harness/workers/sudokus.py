"""Sudoku of 9x9: puzzles made by reasoning-gym; solved, and judged unique or not, by py-sudoku.

Arguments: the least and the most blanks, and how many puzzles there are. Grids are lists of 81 digits, 0 for a blank.
"""

import sys
import time
from collections.abc import Callable
from typing import Any

from reasoning_gym.games.sudoku import SudokuConfig, SudokuDataset
from serving import serve
from sudoku import Sudoku

LEAST, MOST, COUNT = map(int, sys.argv[1:])
DATA = SudokuDataset(SudokuConfig(min_empty=LEAST, max_empty=MOST, seed=0, size=COUNT))


def board(grid: list[int]) -> Any:
    """A grid as py-sudoku takes it."""
    return Sudoku(3, 3, board=[[digit or None for digit in grid[row : row + 9]] for row in range(0, 81, 9)])


def timed(items: list[Any], job: Callable[[Any], list[list[int]]]) -> tuple[float, list[list[int]]]:
    """Seconds of one item, and the results, each as one list."""
    started = time.process_time()
    results = [job(item) for item in items]
    seconds = time.process_time() - started
    return seconds / len(items), [[digit for row in result for digit in row] for result in results]


def make(indices: list[int]) -> tuple[float, Any]:
    """Puzzles."""
    return timed(indices, lambda index: DATA[index]["metadata"]["puzzle"])


def solve(grids: list[list[int]]) -> tuple[float, Any]:
    """Solutions."""
    return timed([board(grid) for grid in grids], lambda puzzle: puzzle.solve().board)


def unique(grids: list[list[int]]) -> tuple[float, Any]:
    """Whether each has one solution."""
    return timed([board(grid) for grid in grids], lambda puzzle: [[not puzzle.has_multiple_solutions()]])


serve({"make": make, "solve": solve, "unique": unique})

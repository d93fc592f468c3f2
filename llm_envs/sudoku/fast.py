"""Solver and digging compiled by numba (extra `fast`): the same results, about ten times as fast.

That they are equal to those of `solver`, `digging` and `techniques`, node counts included, is a test. Compiling takes
some ten seconds on first use; the code is cached on disk where the package's folder or the user's cache folder can be
written. `warm_up` does it ahead of time.
"""

import numpy as np

from llm_envs.sudoku import digging, kernels, techniques
from llm_envs.sudoku.rng import SplitMix64
from llm_envs.sudoku.solver import NODES, Search
from llm_envs.sudoku.techniques import Technique


def search(clues: bytes, *, limit: int = 1, budget: int = NODES, without: tuple[int, int] | None = None) -> Search:
    """`solver.search` without `pick`."""
    solutions = np.empty((limit, len(clues)), np.uint8)
    cell, digit = without or (-1, 1)
    found, nodes, exhausted = kernels.search(np.frombuffer(clues, np.uint8), budget, cell, digit, solutions)
    return Search(tuple(solutions[number].tobytes() for number in range(found)), nodes, exhausted)


def solve(clues: bytes) -> bytes | None:
    """`solver.solve`."""
    solutions = np.empty((1, len(clues)), np.uint8)
    found = kernels.solve(np.frombuffer(clues, np.uint8), solutions)
    return solutions.tobytes() if found else None


def full_grid(size: int, rng: SplitMix64) -> bytes:
    """`digging.full_grid`."""
    solutions = np.empty((1, size * size), np.uint8)
    state = np.array([rng.state], np.uint64)
    kernels.full_grid(size, state, solutions)
    rng.state = int(state[0])
    return solutions.tobytes()


def dig(solution: bytes, clues: bytes, rng: SplitMix64, blanks: int, hardest: Technique) -> bytes:
    """`digging.dig`; for `PAIRS`, which is rare, itself."""
    if hardest is Technique.PAIRS:
        return digging.dig(solution, clues, rng, blanks, hardest)
    grid = np.frombuffer(bytearray(clues), np.uint8)
    state = np.array([rng.state], np.uint64)
    kernels.dig(np.frombuffer(solution, np.uint8), grid, state, blanks, int(hardest))
    rng.state = int(state[0])
    return grid.tobytes()


def yields_to(clues: bytes, hardest: Technique) -> bool:
    """`techniques.yields_to`."""
    if hardest > Technique.HIDDEN_SINGLE:
        return techniques.yields_to(clues, hardest)
    return bool(kernels.yields(np.frombuffer(clues, np.uint8), hardest is Technique.HIDDEN_SINGLE))


def warm_up() -> None:
    """Compile everything, or load it from the cache, so that the first puzzle does not wait for it."""
    rng = SplitMix64(0)
    solution = full_grid(4, rng)
    clues = dig(solution, solution, rng, 8, Technique.GUESSING)
    yields_to(clues, Technique.HIDDEN_SINGLE)
    search(clues)
    solve(clues)

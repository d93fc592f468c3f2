"""Boards that several tests use, and strategies for states."""

import random

from hypothesis import strategies as st

from llm_envs.core.task import Split
from llm_envs.sudoku.geometry import SYMBOLS
from llm_envs.sudoku.puzzle import Placement, play
from llm_envs.sudoku.reading import Answer
from llm_envs.sudoku.state import State
from llm_envs.sudoku.task import SudokuTask

# The example of the Sudoku literature; one solution.
CLASSIC = """\
53..7....
6..195...
.98....6.
8...6...3
4..8.3..1
7...2...6
.6....28.
...419..5
....8..79"""
CLASSIC_SOLUTION = "534678912672195348198342567859761423426853791713924856961537284287419635345286179"
SMALL = "1...\n..3.\n.4..\n...2"
SMALL_SOLUTION = "1324423124133142"  # found by the tests' own solver
SEVERAL = "12..\n3412\n21..\n4321"  # two solutions: 34/43 over 43/34

TASKS = {size: SudokuTask(size=size, engine="python") for size in (4, 6, 9, 16)}


def grid_of(text: str) -> bytes:
    """The digits of a plain text of symbols."""
    return bytes(max(0, SYMBOLS.index(symbol)) for symbol in text if symbol in SYMBOLS)


def load(text: str, size: int) -> State:
    """The start of a puzzle."""
    return TASKS[size].load(text)


def answers(size: int) -> st.SearchStrategy[Answer]:
    """Placements anywhere, or a whole grid."""
    placement = st.builds(Placement, st.integers(0, size * size - 1), st.integers(0, size))
    listed = st.lists(placement, min_size=1, max_size=8).map(lambda found: Answer(tuple(found)))
    return listed | st.integers(0, 2**32).map(lambda seed: Answer.of_grid(_any_grid(size, seed)))


def _any_grid(size: int, seed: int) -> bytes:
    """Any digits; drawn by a seed, since a list of 81 numbers is more than hypothesis likes to draw."""
    rng = random.Random(seed)
    filled = rng.random()
    return bytes(rng.randint(1, size) if rng.random() < filled else 0 for _ in range(size * size))


@st.composite
def states(draw: st.DrawFn, sizes: tuple[int, ...] = (4, 6, 9)) -> State:
    """An instance after any placements, with or without a candidate."""
    size = draw(st.sampled_from(sizes))
    state = TASKS[size].instance(Split.TRAIN, draw(st.integers(0, 5)))
    played = play(state.puzzle, state.grid, 0, 0, draw(answers(size)).placements)
    candidate = draw(st.none() | answers(size))
    return State(state.puzzle, played.grid, played.right, played.wrong, candidate)

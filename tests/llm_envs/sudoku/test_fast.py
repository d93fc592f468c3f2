"""The compiled code gives what pure Python gives: puzzles may not depend on what is installed."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm_envs.core.task import Split
from llm_envs.sudoku import digging, solver, techniques
from llm_envs.sudoku.engine import PYTHON, get_engine
from llm_envs.sudoku.generator import PRESETS, Difficulty, generate
from llm_envs.sudoku.rng import SplitMix64
from llm_envs.sudoku.techniques import Technique
from tests.llm_envs.sudoku.test_solver import boards
from tests.scale import scaled

fast = pytest.importorskip("llm_envs.sudoku.fast", reason="numba (extra `fast`) is not installed")

SEEDS = st.integers(0, 2**64 - 1)


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    fast.warm_up()


@given(boards((4, 6, 9)), st.integers(1, 4), st.integers(0, 60), st.booleans())
def test_searches_visit_the_same_nodes_and_find_the_same_grids(
    board: bytes, limit: int, budget: int, forbid: bool
) -> None:
    without = (board.index(0), 1) if forbid and 0 in board else None
    ours = fast.search(board, limit=limit, budget=budget, without=without)
    assert ours == solver.search(board, limit=limit, budget=budget, without=without)
    assert fast.solve(board) == solver.solve(board)


def test_a_search_with_another_digit_forbidden_differs() -> None:
    """Negative control of the test above: two searches are not equal by construction."""
    board = bytes(16)
    assert fast.search(board) != solver.search(board, without=(0, 1))
    assert fast.search(board, limit=3).nodes != solver.search(board, limit=4).nodes


@settings(max_examples=scaled(fast=25, long=500))
@given(st.sampled_from([4, 6, 9, 16]), SEEDS)
def test_full_grids_and_the_random_numbers_left_are_the_same(size: int, seed: int) -> None:
    ours, theirs = SplitMix64(seed), SplitMix64(seed)
    assert fast.full_grid(size, ours) == digging.full_grid(size, theirs)
    assert ours.state == theirs.state


@settings(max_examples=scaled(fast=25, long=500))
@given(st.sampled_from([(4, 11), (6, 24), (9, 50), (16, 110)]), st.sampled_from(Technique), SEEDS)
def test_digging_is_the_same(kind: tuple[int, int], hardest: Technique, seed: int) -> None:
    size, blanks = kind
    solution = digging.full_grid(size, SplitMix64(seed))
    ours, theirs = SplitMix64(seed), SplitMix64(seed)
    clues = fast.dig(solution, solution, ours, blanks, hardest)
    assert clues == digging.dig(solution, solution, theirs, blanks, hardest)
    assert ours.state == theirs.state
    for level in Technique:
        assert fast.yields_to(clues, level) == techniques.yields_to(clues, level)


@pytest.mark.parametrize("size", [4, 6, 9, 16])
@pytest.mark.parametrize("difficulty", Difficulty)
def test_instances_are_the_same(size: int, difficulty: Difficulty) -> None:
    engine = get_engine("numba", size)
    for index in range(scaled(fast=1, long=50)):
        for split in Split:
            wanted = PRESETS[size, difficulty]
            made, expected = generate(wanted, split, index, engine), generate(wanted, split, index, PYTHON)
            assert made == expected
            assert made.solution == expected.solution
            assert generate(replace(wanted, least=wanted.least + 1), split, index, engine) != expected


def test_auto_takes_the_compiled_code_where_it_pays() -> None:
    assert get_engine("auto", 9).name == "numba"
    assert get_engine("auto", 4) is PYTHON

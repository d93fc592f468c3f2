"""The solver against the tests' own, which shares no code with it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.sudoku import digging
from llm_envs.sudoku.geometry import clashes, complete, geometry, peers
from llm_envs.sudoku.rng import SplitMix64
from llm_envs.sudoku.solver import search, solve
from llm_envs.sudoku.techniques import Technique
from tests.llm_envs.sudoku import exact_cover
from tests.llm_envs.sudoku.boards import CLASSIC, CLASSIC_SOLUTION, SEVERAL, SMALL, SMALL_SOLUTION, grid_of


@st.composite
def boards(draw: st.DrawFn, sizes: tuple[int, ...] = (4, 6, 9)) -> bytes:
    """Clues of a full grid, sometimes with one of them changed, so that all numbers of solutions occur."""
    size = draw(st.sampled_from(sizes))
    solution = bytearray(digging.full_grid(size, SplitMix64(draw(st.integers(0, 2**64 - 1)))))
    for cell in draw(st.lists(st.integers(0, size * size - 1), min_size=size, max_size=size * size * 2 // 3)):
        solution[cell] = 0
    if draw(st.booleans()):
        solution[draw(st.integers(0, size * size - 1))] = draw(st.integers(1, size))
    return bytes(solution)


@given(boards())
def test_the_solver_finds_the_solutions_that_another_solver_finds(board: bytes) -> None:
    limit = 5
    found = search(board, limit=limit)
    others = {solution for solution, _ in zip(exact_cover.solutions(board), range(limit + 1), strict=False)}
    assert len(found.solutions) == len(set(found.solutions)) == min(limit, len(others))
    assert found.exhausted or len(found.solutions) == limit
    if len(others) <= limit:
        assert set(found.solutions) == others


@given(boards())
def test_forbidding_the_digit_of_the_only_solution_leaves_none(board: bytes) -> None:
    found = search(board, limit=2)
    if len(found.solutions) == 1 and 0 in board:
        cell = board.index(0)
        assert search(board, without=(cell, found.solutions[0][cell])).solutions == ()
        other = found.solutions[0][cell] % geometry(exact_size(board)).size + 1
        assert search(board, without=(cell, other)).solutions == found.solutions


def exact_size(board: bytes) -> int:
    return round(len(board) ** 0.5)


def test_known_puzzles_are_solved() -> None:
    assert solve(grid_of(CLASSIC)) == grid_of(CLASSIC_SOLUTION)
    assert solve(grid_of(SMALL)) == grid_of(SMALL_SOLUTION)
    assert len(search(grid_of(SEVERAL), limit=9).solutions) == 2


@pytest.mark.parametrize("board", ["11..\n....\n....\n....", "123.\n....\n....\n...4"], ids=["clash", "dead cell"])
def test_a_board_without_a_solution_has_none(board: str) -> None:
    assert solve(grid_of(board)) is None
    assert search(grid_of(board)).exhausted


def test_a_full_grid_is_its_own_solution_and_a_wrong_one_has_none() -> None:
    assert solve(grid_of(SMALL_SOLUTION)) == grid_of(SMALL_SOLUTION)
    assert solve(grid_of(SMALL_SOLUTION[:-1] + "1")) is None


@pytest.mark.parametrize("size", [4, 6, 9, 16])
def test_an_empty_board_is_filled_and_has_more_than_one_solution(size: int) -> None:
    found = search(bytes(size * size), limit=2)
    assert len(found.solutions) == 2
    assert all(complete(solution, size) and not clashes(solution, size) for solution in found.solutions)


def test_a_search_says_that_its_budget_ended_it() -> None:
    assert not search(bytes(81), budget=3).exhausted
    assert search(bytes(81), budget=3).nodes == 3
    assert search(bytes(81), budget=3).solutions == ()


@given(st.sampled_from([4, 6, 9, 16]), st.integers(0, 2**64 - 1))
def test_random_full_grids_are_complete(size: int, seed: int) -> None:
    grid = digging.full_grid(size, SplitMix64(seed))
    assert complete(grid, size)


@given(boards((4, 6)), st.integers(0, 2**32))
def test_digging_keeps_one_solution_and_stops_at_the_number_asked_for(board: bytes, seed: int) -> None:
    size = exact_size(board)
    solution = digging.full_grid(size, SplitMix64(seed))
    clues = digging.dig(solution, solution, SplitMix64(seed), size * size // 2, Technique.GUESSING)
    assert clues.count(0) == size * size // 2
    assert list(exact_cover.solutions(clues)) == [solution]


@pytest.mark.parametrize("size", [4, 6, 9, 16])
def test_boxes_tile_the_grid_and_peers_share_a_unit(size: int) -> None:
    board = geometry(size)
    for unit in range(size):
        rows, columns = zip(*(divmod(cell, size) for cell in board.units[2 * size + unit]), strict=True)
        assert (max(rows) - min(rows) + 1, max(columns) - min(columns) + 1) == exact_cover.BOXES[size]
    assert sorted(cell for unit in board.units[2 * size :] for cell in unit) == list(range(size * size))
    assert len(peers(size)[0].cells) == 2 * (size - 1) + (board.box_rows - 1) * (board.box_columns - 1)


@given(st.sampled_from([4, 6, 9, 16]), st.data())
def test_a_repeated_digit_is_found_in_row_column_and_box(size: int, data: st.DataObject) -> None:
    grid = bytearray(data.draw(st.binary(min_size=size * size, max_size=size * size)))
    cell, digit = data.draw(st.integers(0, size * size - 1)), data.draw(st.integers(1, size))
    grid = bytearray(value % (size + 1) for value in grid)
    grid[cell] = digit
    near = peers(size)[cell]
    assert near.hold(grid, digit) is (digit in near.digits(grid))


def test_the_random_numbers_are_splitmix64() -> None:
    """The first outputs for seed 1234567 of the reference implementation (Vigna, prng.di.unimi.it/splitmix64.c)."""
    rng = SplitMix64(1234567)
    assert [rng.next() for _ in range(3)] == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_every_order_is_drawn() -> None:
    rng = SplitMix64(0)
    assert {tuple(rng.shuffled(3)) for _ in range(200)} == {
        (0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0),
    }  # fmt: skip

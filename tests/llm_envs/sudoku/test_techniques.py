"""Ratings of difficulty."""

from hypothesis import given, settings
from hypothesis import strategies as st

from llm_envs.sudoku import digging
from llm_envs.sudoku.rng import SplitMix64
from llm_envs.sudoku.solver import close, cover, position
from llm_envs.sudoku.techniques import Technique, eliminate, rate, yields_to
from tests.llm_envs.sudoku.boards import CLASSIC, grid_of

# Needs naked pairs; that singles are not enough is confirmed below by hand.
PAIRS = "400000938032094100095300240370609004529001673604703090957008300003900400240030709"


def by_hand(clues: bytes, *, hidden: bool) -> bytes:
    """The grid after placing singles cell by cell, the way a person does; independent of the solver."""
    size, wide, high = 9, 3, 3
    grid = bytearray(clues)

    def units(cell: int) -> list[list[int]]:
        row, column = divmod(cell, size)
        box = row // high * high * size + column // wide * wide
        return [
            [row * size + other for other in range(size)],
            [other * size + column for other in range(size)],
            [box + r * size + c for r in range(high) for c in range(wide)],
        ]

    def options(cell: int) -> set[int]:
        return set(range(1, 10)) - {grid[peer] for unit in units(cell) for peer in unit}

    changed = True
    while changed:
        changed = False
        for cell in (cell for cell in range(81) if not grid[cell]):
            fits = options(cell)
            alone = [
                digit
                for digit in fits
                for unit in units(cell)
                if not any(digit in options(peer) for peer in unit if peer != cell and not grid[peer])
            ]
            if len(fits) == 1 or (hidden and alone):
                grid[cell] = fits.pop() if len(fits) == 1 else alone[0]
                changed = True
    return bytes(grid)


@settings(max_examples=12)
@given(st.integers(0, 2**32), st.integers(45, 56))
def test_a_rating_is_what_a_person_with_a_pencil_finds(seed: int, blanks: int) -> None:
    solution = digging.full_grid(9, SplitMix64(seed))
    clues = digging.dig(solution, solution, SplitMix64(seed), blanks, Technique.GUESSING)
    level = rate(clues)
    assert (level is Technique.NAKED_SINGLE) == (by_hand(clues, hidden=False) == solution)
    assert (level <= Technique.HIDDEN_SINGLE) == (by_hand(clues, hidden=True) == solution)


@settings(max_examples=30)
@given(st.sampled_from([6, 9]), st.integers(0, 2**32))
def test_eliminations_never_remove_a_digit_of_the_solution(size: int, seed: int) -> None:
    solution = digging.full_grid(size, SplitMix64(seed))
    clues = digging.dig(solution, solution, SplitMix64(seed), size * size, Technique.GUESSING)
    board = cover(size)
    node = close(board, position(clues))
    assert node is not None
    left = eliminate(board, node)
    assert left | node.open == node.open
    for cell, digit in enumerate(solution):
        bits = board.bits[cell * size + digit - 1]
        assert left & bits == bits


def test_pairs_solve_what_singles_do_not() -> None:
    clues = bytes(map(int, PAIRS))
    assert 0 in by_hand(clues, hidden=True)
    assert not yields_to(clues, Technique.HIDDEN_SINGLE)
    assert yields_to(clues, Technique.PAIRS)
    assert rate(clues) is Technique.PAIRS


def test_the_classic_needs_nothing_but_singles() -> None:
    assert rate(grid_of(CLASSIC)) is Technique.NAKED_SINGLE


def test_a_puzzle_with_several_solutions_yields_to_no_technique() -> None:
    assert rate(bytes(81)) is Technique.GUESSING
    assert not yields_to(bytes(81), Technique.PAIRS)

"""Placements, potentials, and the text form of states."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.core.errors import UsageError
from llm_envs.core.task import Split
from llm_envs.sudoku.geometry import geometry
from llm_envs.sudoku.puzzle import Placement, Puzzle, play, potential, tally
from llm_envs.sudoku.state import State, boxed, make_puzzle, parse, render
from tests.llm_envs.sudoku.boards import CLASSIC, SEVERAL, SMALL, SMALL_SOLUTION, TASKS, answers, grid_of, states


@given(states())
def test_a_state_is_read_as_it_was_written(state: State) -> None:
    assert parse(render(state)) == state


@given(states(sizes=(4,)), states(sizes=(4,)))
def test_different_states_are_written_differently(first: State, second: State) -> None:
    """Negative control of the test above."""
    assert (render(first) == render(second)) == (first == second)


def test_boards_are_drawn_with_lines_between_the_boxes() -> None:
    assert boxed(grid_of(CLASSIC)).splitlines()[2:5] == [
        ". 9 8 | . . . | . 6 .",
        "------+-------+------",
        "8 . . | . 6 . | . . 3",
    ]
    assert boxed(bytes(range(1, 5)) * 4).splitlines()[:3] == ["1 2 | 3 4", "1 2 | 3 4", "----+----"]
    assert boxed(bytes(36)).splitlines()[1:4] == [". . . | . . .", "------+------", ". . . | . . ."]


@given(states(), st.data())
def test_placements_never_touch_a_clue_and_keep_the_tally(state: State, data: st.DataObject) -> None:
    puzzle = state.puzzle
    answer = data.draw(answers(puzzle.size))
    played = play(puzzle, state.grid, state.right, state.wrong, answer.placements)
    assert all(given in {0, digit} for given, digit in zip(puzzle.clues, played.grid, strict=True))
    assert (played.right, played.wrong) == tally(puzzle, played.grid)
    assert 0.0 <= potential(puzzle, played.grid, played.right, played.wrong) <= 1.0
    assert len(played.placed) + len(played.illegal) <= len(answer.placements)


@given(states(), st.data())
def test_a_placement_is_illegal_exactly_where_a_clue_rules_it_out(state: State, data: st.DataObject) -> None:
    """Told by the rules alone, without the masks."""
    puzzle, size = state.puzzle, state.puzzle.size
    cell, digit = data.draw(st.integers(0, size * size - 1)), data.draw(st.integers(0, size))
    board = geometry(size)
    seen = {puzzle.clues[peer] for unit in board.units_of[cell] for peer in board.units[unit]} - {0}
    ruled_out = bool(puzzle.clues[cell]) or digit in seen
    played = play(puzzle, state.grid, state.right, state.wrong, [Placement(cell, digit)])
    assert bool(played.illegal) == (ruled_out and state.grid[cell] != digit)


@given(states())
def test_only_a_solved_grid_has_potential_one(state: State) -> None:
    assert (state.potential == 1.0) == state.solved == (state.grid == state.puzzle.solution)


def test_potential_counts_right_less_wrong_cells() -> None:
    puzzle = TASKS[4].load(SMALL).puzzle
    cells = [cell for cell, given in enumerate(puzzle.clues) if not given]
    right = [Placement(cell, puzzle.solution[cell]) for cell in cells]
    assert puzzle.blanks == 12
    for count in range(13):
        played = play(puzzle, puzzle.clues, 0, 0, right[:count])
        assert potential(puzzle, played.grid, played.right, played.wrong) == count / 12
    wrong = Placement(1, 2)  # the solution has a 3 there, and no clue forbids it
    played = play(puzzle, puzzle.clues, 0, 0, [*right[1:4], wrong])
    assert potential(puzzle, played.grid, played.right, played.wrong) == 2 / 12
    only_wrong = play(puzzle, puzzle.clues, 0, 0, [wrong])
    assert potential(puzzle, only_wrong.grid, only_wrong.right, only_wrong.wrong) == 0.0


def test_a_filled_cell_can_be_changed_and_cleared() -> None:
    puzzle = TASKS[4].load(SMALL).puzzle
    played = play(puzzle, puzzle.clues, 0, 0, [Placement(1, 2), Placement(1, 3), Placement(1, 0)])
    assert played.grid == puzzle.clues
    assert (played.right, played.wrong, len(played.placed)) == (0, 0, 3)


def test_one_given_digit_changed_is_another_puzzle() -> None:
    """UC-035: a valid Sudoku that contradicts a clue is not the solution."""
    state = TASKS[4].load(SMALL)
    other = bytes({1: 2, 2: 1}.get(digit, digit) for digit in state.puzzle.solution)
    played = play(state.puzzle, state.grid, 0, 0, [Placement(cell, digit) for cell, digit in enumerate(other)])
    after = State(state.puzzle, played.grid, played.right, played.wrong)
    assert not after.solved
    assert after.potential < 1.0
    assert len(played.illegal) > 0


def test_all_but_one_cell_right_is_not_solved() -> None:
    """UC-035."""
    state = TASKS[9].load(CLASSIC)
    cells = [cell for cell, given in enumerate(state.puzzle.clues) if not given]
    right = [Placement(cell, state.puzzle.solution[cell]) for cell in cells]
    played = play(state.puzzle, state.grid, 0, 0, right[:-1])
    assert potential(state.puzzle, played.grid, played.right, played.wrong) == (len(cells) - 1) / len(cells)
    assert not State(state.puzzle, played.grid, played.right, played.wrong).solved


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (SMALL_SOLUTION, "at least one blank"),
        ("11..\n....\n....\n....", "r1c1 and r1c2 both hold 1"),
        ("123.\n....\n....\n...4", "has no solution"),
        (SEVERAL, "has several solutions"),
        ("." * 256, "several solutions"),
        ("1" * 80, "cells"),
        (f"{SMALL}\nnow:\n2...\n..3.\n.4..\n...2", "clues where they are"),
        (f"{SMALL}\ncandidate: r9c9=1", "r9c9=1"),
    ],
)
def test_a_puzzle_that_cannot_be_played_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        parse(text, allow_multiple=False)


def test_several_solutions_are_admitted_only_where_told_so() -> None:
    puzzle = make_puzzle(grid_of(SEVERAL), allow_multiple=True)
    assert not puzzle.unique
    assert make_puzzle(grid_of(SMALL), allow_multiple=True).unique
    for solution in ("1234341221434321", "1243341221344321"):
        assert potential(puzzle, grid_of(solution), 0, 0) == 1.0
    assert potential(puzzle, grid_of(SEVERAL), 0, 0) == 0.0
    assert potential(puzzle, grid_of("1244341221434321"), 0, 0) == 0.0


def test_masks_hold_the_digits_of_the_clues_around() -> None:
    puzzle = Puzzle.make(grid_of(SMALL), grid_of(SMALL_SOLUTION))
    assert puzzle.barred[0] == -1
    assert puzzle.barred[1] == 1 << 1 | 1 << 4
    assert TASKS[4].instance(Split.TRAIN, 0).puzzle.unique

"""Generated puzzles: one solution, the difficulty asked for, disjoint splits."""

import time
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.core.errors import UsageError
from llm_envs.core.task import Split
from llm_envs.sudoku.engine import PYTHON
from llm_envs.sudoku.generator import (
    MOST_BLANKS,
    PRESETS,
    Difficulty,
    Recipe,
    canonical,
    generate,
    recipe,
    split_of,
)
from llm_envs.sudoku.puzzle import Puzzle
from llm_envs.sudoku.techniques import Technique, rate
from tests.llm_envs.sudoku import exact_cover
from tests.scale import scaled

SIZES = {
    4: scaled(fast=40, long=500),
    6: scaled(fast=20, long=500),
    9: scaled(fast=6, long=500),
    16: scaled(fast=1, long=50),
}


def puzzle(size: int, difficulty: str, index: int, split: Split = Split.TRAIN) -> Puzzle:
    return generate(recipe(size, difficulty), split, index, PYTHON)


@pytest.mark.parametrize("difficulty", Difficulty)
@pytest.mark.parametrize("size", SIZES)
def test_every_puzzle_has_exactly_one_solution_and_the_difficulty_asked_for(size: int, difficulty: str) -> None:
    """The solution is confirmed by the tests' own solver."""
    wanted = PRESETS[size, Difficulty(difficulty)]
    for index in range(SIZES[size]):
        made = puzzle(size, difficulty, index)
        assert list(zip(exact_cover.solutions(made.clues), range(2), strict=False)) == [(made.solution, 0)]
        assert wanted.least <= made.blanks == made.clues.count(0) <= wanted.most
        assert wanted.needs <= rate(made.clues) <= wanted.hardest


def test_the_check_of_solutions_would_see_a_second_one() -> None:
    """Negative control: a puzzle without one of its clues, where that clue was needed."""
    made = puzzle(4, "hard", 0)
    counts = {exact_cover.count(made.clues.replace(bytes([digit]), b"\0")) for digit in range(1, 5)}
    assert 2 in counts


@pytest.mark.parametrize("blanks", [45, 50, 55, 60])
def test_a_puzzle_has_as_many_blanks_as_were_asked_for(blanks: int) -> None:
    """UC-032: also at 60 blanks, which few puzzles have; the time is shown by `benchmarks/speed/sudoku.py`."""
    wanted = recipe(9, "easy", blanks=blanks)
    for index in range(scaled(fast=1 if blanks == 60 else 4, long=100)):
        made = generate(wanted, Split.TRAIN, index, PYTHON)
        assert made.blanks == made.clues.count(0) == blanks
        assert exact_cover.count(made.clues) == 1


@pytest.mark.parametrize(("size", "blanks"), [(9, 64), (9, 61), (4, 13), (6, 30), (16, 200)])
def test_more_blanks_than_can_be_had_are_refused(size: int, blanks: int) -> None:
    """UC-032."""
    with pytest.raises(UsageError, match=f"blanks={blanks}: must be at most {MOST_BLANKS[size][Technique.GUESSING]}"):
        recipe(size, "easy", blanks=blanks)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("hardest", Technique)
def test_the_most_blanks_of_each_size_and_technique_are_reached(size: int, hardest: Technique) -> None:
    blanks = MOST_BLANKS[size][hardest]
    for index in range(scaled(fast=1, long=20)):
        made = generate(Recipe(size, blanks, blanks, hardest), Split.TRAIN, index, PYTHON)
        assert made.blanks == blanks
        assert rate(made.clues) <= hardest


@pytest.mark.parametrize(
    "options",
    [
        {"size": 5},
        {"size": 9, "difficulty": "hrad"},
        {"size": 9, "hardest": "hidden"},
        {"size": 9, "blanks": 0},
        {"size": 9, "blanks": (45, 40)},
        {"size": 9, "blanks": (45,)},
        {"size": 9, "blanks": True},
        {"size": 9, "blanks": 58, "hardest": "naked_single"},
    ],
    ids=str,
)
def test_an_option_that_is_not_allowed_is_refused_with_what_is(options: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="must be"):
        recipe(**{"difficulty": "easy", **options})  # type: ignore[arg-type]


def test_no_seed_fails() -> None:
    for index in range(scaled(fast=150, long=10_000)):
        for size in (4, 6):
            assert puzzle(size, "hard", index * 1_000_003).blanks


def test_an_instance_is_a_function_of_split_and_index() -> None:
    forwards = [puzzle(6, "medium", index).clues for index in range(8)]
    backwards = [puzzle(6, "medium", index).clues for index in reversed(range(8))]
    assert forwards == backwards[::-1]
    assert len(set(forwards)) == 8, "negative control: indices differ"


@pytest.mark.parametrize("size", [4, 6, 9])
def test_a_batch_has_different_puzzles(size: int) -> None:
    """UC-011."""
    clues = {canonical(puzzle(size, "medium", index).clues) for index in range(64)}
    assert len(clues) >= 60


@pytest.mark.parametrize("size", [4, 6, 9])
def test_splits_are_disjoint_by_content(size: int) -> None:
    """UC-011: no puzzle is in two splits, whatever the names of its digits."""
    found = {
        split: {canonical(puzzle(size, "easy", index, split).clues) for index in range(scaled(fast=20, long=1000))}
        for split in Split
    }
    for split, puzzles in found.items():
        assert {split_of(clues) for clues in puzzles} == {split}
    assert not found[Split.TRAIN] & found[Split.TEST]
    assert not found[Split.TRAIN] & found[Split.VALIDATION]
    assert not found[Split.VALIDATION] & found[Split.TEST]


def test_the_whole_of_a_small_world_divides_into_three() -> None:
    """Negative control of the test above: splits are not empty and differ for different puzzles."""
    splits = [split_of(bytes([1, 2, 3, 4, *digits, *(0,) * 8])) for digits in permutations(range(1, 5))]
    assert len(set(splits)) > 1


@given(st.integers(0, 30), st.permutations(range(1, 10)))
def test_renaming_digits_changes_neither_content_nor_split(index: int, names: list[int]) -> None:
    clues = puzzle(9, "easy", index).clues
    renamed = bytes(names[digit - 1] if digit else 0 for digit in clues)
    assert canonical(renamed) == canonical(clues)
    assert split_of(renamed) is split_of(clues)


def test_puzzles_that_differ_by_more_than_names_differ_in_content() -> None:
    """Negative control of the test above."""
    clues = puzzle(9, "easy", 0).clues
    cell = next(cell for cell, digit in enumerate(clues) if digit)
    assert canonical(clues[:cell] + b"\0" + clues[cell + 1 :]) != canonical(clues)


def test_clocks_play_no_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """A puzzle may not depend on how fast the machine is: digging is bounded by nodes, not by seconds."""

    def refuse(*_: object) -> float:
        raise AssertionError("a clock was read")

    for name in ("time", "monotonic", "perf_counter", "process_time"):
        monkeypatch.setattr(time, name, refuse)
    assert puzzle(9, "hard", 3).blanks

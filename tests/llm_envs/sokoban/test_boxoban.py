"""Levels made elsewhere: all load, are solved by the solver, replay and round-trip."""

import contextlib
import json
from collections.abc import Iterator

import pytest

from llm_envs.sokoban.board import Board, walk
from llm_envs.sokoban.deadlocks import assess
from llm_envs.sokoban.levels import parse_level, read_levels
from llm_envs.sokoban.solver import moves_of, solve
from tests.architecture.paths import ROOT
from tests.llm_envs.sokoban.reference import TooLargeError, fewest_pushes
from tests.scale import scaled

DATA = ROOT.parent / "shared" / "data"
FILES = ("boxoban_unfiltered_train", "boxoban_medium_train", "boxoban_unfiltered_valid")
CONFIRMED, MOST_POSITIONS = scaled(fast=(6, 1_000), long=(100, 20_000))

pytestmark = pytest.mark.needs("data")


def texts() -> Iterator[str]:
    for name in FILES:
        path = DATA / f"{name}.jsonl"
        if not path.exists():
            pytest.skip(f"{path.name} is not beside the checkout")
        with path.open() as file:
            yield from (json.loads(line)["question"] for line in file)


@pytest.fixture(scope="module")
def boards() -> list[Board]:
    """Every level in the long tier, each tenth elsewhere."""
    return [parse_level(text) for text in list(texts())[:: scaled(fast=10, long=1)]]


def test_all_levels_round_trip() -> None:
    """UC-026."""
    found = list(texts())
    assert len(found) == 500
    for text in found:
        board = parse_level(text)
        assert board.text == text
        assert board.boxes.bit_count() == board.room.goals.bit_count() == 4


def test_a_file_in_boxobans_own_form_gives_the_same_levels() -> None:
    some = list(texts())[:50]
    file = "\n".join(f"; {number}\n{text}\n" for number, text in enumerate(some))
    assert [board.text for board in read_levels(file)] == some


def test_all_levels_are_solved_by_the_solver_and_replay(boards: list[Board]) -> None:
    for board in boards:
        solution = solve(board)
        assert solution.bounds.optimal is not None
        went = walk(board, moves_of(board, solution.pushes or ()))
        assert (went.end.solved, went.pushes, went.hits) == (True, solution.bounds.optimal, 0)
        assert assess(board.room, board.boxes).deadlock is None


def test_many_solutions_are_confirmed_to_be_the_shortest() -> None:
    """100 levels at full size, the narrowest first, by a search that shares nothing with the solver."""
    confirmed = 0
    for text in sorted(texts(), key=lambda level: level.count("#"), reverse=True):
        with contextlib.suppress(TooLargeError):
            assert solve(parse_level(text)).bounds.optimal == fewest_pushes(text, MOST_POSITIONS)
            confirmed += 1
        if confirmed == CONFIRMED:
            return
    pytest.fail(f"only {confirmed} levels were small enough for the tests' search")

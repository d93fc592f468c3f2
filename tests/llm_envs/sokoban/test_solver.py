"""Lower bounds, deadlocks and the solver, against the tests' own search."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm_envs.core.task import Split
from llm_envs.sokoban.board import Board, cells, spread, walk
from llm_envs.sokoban.deadlocks import Deadlock, assess
from llm_envs.sokoban.distances import FAR, assign, push_distances
from llm_envs.sokoban.generator import Dials, generate
from llm_envs.sokoban.layouts import Shape
from llm_envs.sokoban.levels import parse_level
from llm_envs.sokoban.solver import Push, PushBounds, moves_of, solve, tighten
from tests.llm_envs.sokoban.reference import fewest_pushes
from tests.llm_envs.sokoban.strategies import SMALL, boards
from tests.scale import scaled

LOST = {
    Deadlock.SIMPLE: [
        "######\n#$  .#\n#  @ #\n######",  # corner
        "#######\n#  $  #\n#  @  #\n#    .#\n#######",  # edge without a goal
    ],
    Deadlock.FREEZE: [
        "#######\n#. $$ #\n#  @  #\n#  .  #\n#######",  # side by side on an edge with a goal
        "#######\n#     #\n# $$  #\n# $$. #\n# ..@.#\n#######",  # a block of four
    ],
    Deadlock.BIPARTITE: ["##########\n# $ .  $ #\n#   @    #\n#   .    #\n##########"],  # one edge, one goal, two boxes
}


@given(boards(SMALL))
@settings(max_examples=scaled(fast=40, long=500))
def test_no_solvable_position_is_called_a_deadlock_and_no_bound_is_too_high(board: Board) -> None:
    found = assess(board.room, board.boxes)
    fewest = fewest_pushes(board.text)
    if fewest is None:
        return
    assert found.deadlock is None
    assert found.pushes is not None
    assert found.pushes <= fewest


@given(boards(SMALL))
@settings(max_examples=scaled(fast=40, long=500))
def test_the_solver_finds_the_smallest_number_of_pushes_or_proves_that_there_is_no_plan(board: Board) -> None:
    fewest = fewest_pushes(board.text)
    solution = solve(board)
    assert solution.bounds == PushBounds(fewest, fewest)
    assert solution.bounds.optimal == fewest
    if fewest is None:
        assert solution.pushes is None
        return
    went = walk(board, moves_of(board, solution.pushes or ()))
    assert (went.end.solved, went.pushes, went.hits) == (True, fewest, 0)


@given(boards(SMALL), st.integers(0, 60))
@settings(max_examples=scaled(fast=40, long=500))
def test_a_spent_budget_leaves_bounds_that_hold_the_truth(board: Board, node_budget: int) -> None:
    fewest = fewest_pushes(board.text)
    solution = solve(board, node_budget)
    lower, upper = solution.bounds.lower, solution.bounds.upper
    assert solution.nodes <= 2 * node_budget
    if fewest is None:
        assert upper is None
        return
    assert lower is not None
    assert lower <= fewest
    assert upper is None or upper >= fewest
    assert solution.bounds.optimal in {None, fewest}
    if solution.pushes is not None:
        assert walk(board, moves_of(board, solution.pushes)).pushes == upper


def test_small_budgets_leave_some_bounds_open() -> None:
    """Negative control: the test above meets budgets that are spent."""
    boards = [generate(Dials(10, 10, 4, Shape.CARVED, 0.4, 8, 160), Split.TRAIN, index).start for index in range(4)]
    assert any(solve(board, 5).bounds.optimal is None for board in boards)
    assert all(solve(board).bounds.optimal is not None for board in boards)


def test_bounds_are_tightened_from_both_sides() -> None:
    level = generate(Dials(10, 10, 4, Shape.CARVED, 0.4, 8, 160), Split.TRAIN, 0)
    exact = solve(level.start).bounds.optimal
    assert tighten(level.start, level.bounds).optimal == exact
    known = level.bounds
    none = tighten(level.start, known, 0)
    assert (none.lower, none.upper) == (known.lower, known.upper), "without a budget the bounds stay as they were"
    some = tighten(level.start, known, 20)
    assert known.lower <= some.lower <= exact <= some.upper <= known.upper
    assert tighten(level.start, PushBounds(3, 3), 0) == PushBounds(3, 3)


@pytest.mark.parametrize("kind", LOST)
def test_deadlocks_are_named(kind: Deadlock) -> None:
    for text in LOST[kind]:
        board = parse_level(text)
        assert fewest_pushes(text) is None
        assert assess(board.room, board.boxes).deadlock is kind
        assert assess(board.room, board.boxes).potential == 0.0
        assert assess(board.room, board.boxes).pushes is None


@pytest.mark.parametrize(
    "text",
    [
        "#######\n#     #\n# $$  #\n#   @ #\n# ..  #\n#######",  # side by side, but not on an edge
        "#######\n#**@  #\n#     #\n#  $ .#\n#######",  # frozen, but on goals
        "######\n#*   #\n# $@ #\n#  . #\n######",  # a corner that is a goal
        "######\n#@   #\n# $  #\n#.   #\n######",  # an edge with a goal
    ],
)
def test_what_only_looks_like_a_deadlock_is_none(text: str) -> None:
    board = parse_level(text)
    assert fewest_pushes(text) is not None
    assert assess(board.room, board.boxes).deadlock is None


def test_in_one_room_every_deadlock_that_is_called_one_is_one() -> None:
    """All placements of two boxes (of three at full size), with the player in each of the areas they leave."""
    empty = (
        "######\n#.   #\n#    #\n#  . #\n#    #\n######"
        if scaled(fast=True, long=False)
        else ("######\n#.  .#\n#    #\n#  . #\n#    #\n######")
    )
    free = [place for place, mark in enumerate(empty) if mark in " ."]
    kinds = set()
    for places in itertools.combinations(free, empty.count(".")):
        marks = list(empty)
        for place in places:
            marks[place] = "*" if empty[place] == "." else "$"
        standing = next(place for place in free if place not in places)
        marks[standing] = "+" if empty[standing] == "." else "@"
        board = parse_level("".join(marks))
        kind = assess(board.room, board.boxes).deadlock
        kinds.add(kind)
        if kind is not None:
            assert all(fewest_pushes(text) is None for text in from_every_area(board))
    assert kinds == {None, *Deadlock}


def from_every_area(board: Board) -> list[str]:
    """The board's text, with the player in each area that the boxes leave."""
    free, texts = board.room.floor & ~board.boxes, []
    while free:
        player = free & -free
        texts.append(Board(board.room, board.boxes, player.bit_length() - 1).text)
        free &= ~spread(player, board.room.floor & ~board.boxes, board.room.cols)
    return texts


@given(boards())
def test_the_potential_is_one_only_when_solved(board: Board) -> None:
    found = assess(board.room, board.boxes)
    assert 0.0 <= found.potential <= 1.0
    assert (found.potential == 1.0) == board.solved
    assert (found.deadlock is None) or found.potential == 0.0


@given(boards())
def test_the_potential_depends_on_the_boxes_alone(board: Board) -> None:
    elsewhere = Board(board.room, board.boxes, next(cells(board.room.floor & ~board.boxes)))
    assert assess(elsewhere.room, elsewhere.boxes) == assess(board.room, board.boxes)


def test_the_potential_is_the_documented_formula() -> None:
    board = parse_level("########\n#@ $ . #\n#      #\n#   *  #\n#      #\n########")
    longest = push_distances(board.room).longest
    assert assess(board.room, board.boxes).potential == pytest.approx(1 / 4 + (1 - 2 / longest) / 2)


@given(
    st.integers(1, 5).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, 30), min_size=n, max_size=n), min_size=n, max_size=n)
    )
)
def test_the_least_assignment_is_the_least_of_all(rows: list[list[int]]) -> None:
    orders = itertools.permutations(range(len(rows)))
    assert assign(rows) == min(sum(row[column] for row, column in zip(rows, order, strict=True)) for order in orders)


def test_a_box_that_reaches_no_goal_makes_the_bound_far() -> None:
    board = parse_level(LOST[Deadlock.SIMPLE][0])
    assert push_distances(board.room).bound(board.boxes) >= FAR


def test_a_plan_that_cannot_be_carried_out_is_refused() -> None:
    board = parse_level("######\n#@$ .#\n#    #\n######")
    good = (Push(8, "right"), Push(9, "right"))
    assert walk(board, moves_of(board, good)).end.solved
    for bad in ((Push(9, "right"),), (Push(8, "up"),), (Push(8, "left"), Push(7, "left"))):
        with pytest.raises(ValueError, match=r"no box|can't reach"):
            moves_of(board, bad)

"""Grid, moves, distances and text."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.core.errors import UsageError
from llm_envs.plan_path.board import MOVES, UNREACHABLE, Board, Move, parse_grid, shortest_moves, targets, walk
from llm_envs.plan_path.state import State, parse, render
from tests.llm_envs.plan_path.strategies import MOVE_LISTS, boards, states

GRID = """
@.#.
..#.
...G
#...
"""


def slow_distance(board: Board, cell: int) -> int:
    """Bellman-Ford, which shares nothing with the search under test."""
    size, far = board.size, board.size**2 + 1
    cost = {c: far for c in range(size * size) if c not in board.blocked}
    cost[board.goal] = 0
    for _ in cost:
        for c, r in itertools.product(cost, (1, -1, size, -size)):
            if c + r in cost and (abs(r) == size or c // size == (c + r) // size):
                cost[c] = min(cost[c], cost[c + r] + 1)
    return UNREACHABLE if cost.get(cell, far) == far else cost[cell]


@given(boards(), st.data())
def test_distances_are_those_of_another_search(board: Board, data: st.DataObject) -> None:
    cell = data.draw(st.integers(0, board.size**2 - 1))
    if board.size <= 7:
        assert board.distances[cell] == slow_distance(board, cell)


@given(boards())
def test_the_shortest_list_arrives_and_none_shorter_could(board: Board) -> None:
    moves = shortest_moves(board, board.start, limit=1000)
    went = walk(board, board.start, moves)
    assert len(moves) == board.length
    assert (went.end, went.hits, went.wasted) == (board.goal, 0, 0)
    for cell, ways in enumerate(targets(board.size)):
        near = [board.distances[target] for target in ways.values() if target not in board.blocked]
        if board.distances[cell] > 0:
            assert min(near) == board.distances[cell] - 1


@given(states(), MOVE_LISTS)
def test_a_walk_stays_on_free_cells_and_its_counts_add_up(state: State, moves: tuple[Move, ...]) -> None:
    board = state.board
    went = walk(board, state.position, moves)
    assert went.end not in board.blocked
    gained = board.distances[state.position] - board.distances[went.end]
    if went.end != board.goal:
        assert len(moves) == went.hits + went.wasted + (gained + went.wasted)


def test_a_walk_stops_at_the_goal_and_ignores_the_rest() -> None:
    """UC-025, for moves."""
    board, here = parse_grid(GRID)
    went = walk(board, here, ("down", "down", "right", "right", "right", "left", "up", "up"))
    assert went.end == board.goal
    assert went.hits == went.wasted == 0


def test_walls_and_borders_do_not_move_and_count() -> None:
    board, here = parse_grid(GRID)
    assert walk(board, here, ("up", "left", "right", "right")) == (1, 3, 0)


@given(states())
def test_a_state_is_read_back_from_its_text(state: State) -> None:
    assert parse(render(state)) == state


def test_every_place_of_the_agent_has_its_own_symbol() -> None:
    """UC-026, for paths: on the start, elsewhere, on the goal."""
    board, start = parse_grid(GRID)
    assert board.text_at(start).count("@") == 1
    assert "S" not in board.text_at(start)
    elsewhere = board.text_at(4)
    assert (elsewhere.count("@"), elsewhere.count("S"), elsewhere.count("G")) == (1, 1, 1)
    arrived = board.text_at(board.goal)
    assert (arrived.count("+"), arrived.count("@"), arrived.count("G"), arrived.count("S")) == (1, 0, 0, 1)


def test_a_state_that_differs_has_another_text() -> None:
    """Negative control of reading back."""
    board, start = parse_grid(GRID)
    texts = {render(State(board, cell)) for cell in (start, 1, 4, board.goal)} | {render(State(board, 0, ("up",)))}
    assert len(texts) == 5


@pytest.mark.parametrize(
    ("grid", "words"),
    [
        ("@..\n...\n..G", "4 to 16"),
        ("@...\n....\n....\n...G.", "length of row 3"),
        ("@...\n....\n....\n....", "must hold one G"),
        ("@...\n@...\n....\n...G", "at most one @"),
        ("S...\nS...\n....\n...G", "must hold one G"),
        ("@.x.\n....\n....\n...G", "grid symbols"),
        ("@#..\n##..\n....\n...G", "can be reached"),
        ("S#..\n##..\n..@.\n...G", "can be reached"),
        ("", "grid rows"),
    ],
)
def test_a_text_that_is_no_grid_is_refused_in_words(grid: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        parse_grid(grid)


def test_a_grid_without_an_agent_starts_on_its_start() -> None:
    board, here = parse_grid("S...\n....\n....\n...G\n")
    assert here == board.start == 0
    assert parse_grid("  S...\r\n  ....\r\n  ....\r\n  ...G  ") == (board, here)


def test_a_candidate_line_that_holds_no_moves_is_refused() -> None:
    with pytest.raises(UsageError, match="candidate"):
        parse("@...\n....\n....\n...G\ncandidate: forward")


def test_moves_are_the_four_documented_ones() -> None:
    assert MOVES == ("up", "down", "left", "right")

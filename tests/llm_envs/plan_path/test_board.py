"""Grid, moves, distances and text."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.core.errors import UsageError
from llm_envs.plan_path.board import Board, legal_moves, shortest_moves, walk
from llm_envs.plan_path.distances import UNREACHABLE
from llm_envs.plan_path.grid_text import parse_grid
from llm_envs.plan_path.moves import MOVES
from llm_envs.plan_path.state import State, parse, render
from tests.llm_envs.plan_path.strategies import boards, moves_on, states

GRID = """
@.#.
..#.
...G
#...
"""


def slow_distance(board: Board, cell: int) -> int:
    """Bellman-Ford over rows and columns, which shares neither moves nor search with the code under test."""
    size = board.size
    free = {divmod(place, size): price for place, price in enumerate(board.costs) if place not in board.blocked}
    least: dict[tuple[int, int], float] = dict.fromkeys(free, float("inf")) | {divmod(board.goal, size): 0}
    for _ in free:
        for (row, column), (down, right) in itertools.product(free, itertools.product((-1, 0, 1), repeat=2)):
            near = (row + down, column + right)
            beside = {(row + down, column), (row, column + right)}
            if near in free and beside <= free.keys() and (board.diagonal or not down or not right):
                least[row, column] = min(least[row, column], least[near] + free[near])
    found = least.get(divmod(cell, size), float("inf"))
    return UNREACHABLE if found == float("inf") else int(found)


@given(boards(), st.data())
def test_distances_are_those_of_another_search(board: Board, data: st.DataObject) -> None:
    cell = data.draw(st.integers(0, board.size**2 - 1))
    if board.size <= 6:
        assert board.distances[cell] == slow_distance(board, cell)


@given(boards())
def test_the_shortest_list_arrives_and_none_cheaper_could(board: Board) -> None:
    moves = shortest_moves(board, board.start, limit=1000)
    assert walk(board, board.start, moves) == (board.goal, 0, 0, board.length)
    assert len(moves) == board.length or board.highest > 1
    for cell, ways in enumerate(board.ways):
        onward = [
            board.distances[target] + board.costs[target] for target in ways.values() if target not in board.blocked
        ]
        if board.distances[cell] > 0:
            assert min(onward) == board.distances[cell]


@given(states(), st.data())
def test_a_walk_stays_on_free_cells_and_its_counts_add_up(state: State, data: st.DataObject) -> None:
    board, moves = state.board, data.draw(moves_on(state.board))
    went = walk(board, state.position, moves)
    assert went.end not in board.blocked
    excess = went.cost - (board.distances[state.position] - board.distances[went.end])
    assert excess >= went.wasted
    assert (excess == 0) == (went.wasted == 0)
    if board.highest == 1 and went.end != board.goal:
        assert went.cost == len(moves) - went.hits
        assert excess == 2 * went.wasted or board.diagonal


def test_a_walk_stops_at_the_goal_and_ignores_the_rest() -> None:
    """UC-025, for moves."""
    board, here = parse_grid(GRID)
    went = walk(board, here, ("down", "down", "right", "right", "right", "left", "up", "up"))
    assert went.end == board.goal
    assert went.hits == went.wasted == 0


def test_walls_and_borders_do_not_move_and_count() -> None:
    board, here = parse_grid(GRID)
    assert walk(board, here, ("up", "left", "right", "right")) == (1, 3, 0, 1)


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
        ("@.0.\n....\n....\n...G", "grid symbols"),
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


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("diagonal: maybe", "diagonal:.*yes or no"),
        ("here: 10", "here:.*1 to 9"),
        ("here: much", "here:.*1 to 9"),
        ("here: 3", "1 where the agent stands on the start"),
    ],
)
def test_a_line_below_the_grid_that_makes_no_sense_is_refused(lines: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        parse(f"@...\n....\n....\n...G\n{lines}")


def test_moves_are_the_four_documented_ones() -> None:
    assert MOVES == ("up", "down", "left", "right")


WEIGHTED = """
S5..
.9@.
...2
#..G
diagonal: yes
here: 4
candidate: down-right down
"""


def test_a_state_with_costs_and_diagonal_moves_is_read_as_written() -> None:
    state = parse(WEIGHTED)
    assert render(state) == WEIGHTED.strip()
    assert state.board.costs == (1, 5, 1, 1, 1, 9, 4, 1, 1, 1, 1, 2, 1, 1, 1, 1)
    assert state.candidate == ("down-right", "down")


@pytest.mark.parametrize("change", [("5", "6"), ("here: 4", "here: 3"), ("diagonal: yes\n", ""), ("down-right ", "")])
def test_no_part_of_such_a_state_is_lost(change: tuple[str, str]) -> None:
    """Negative control of reading back, for costs and diagonal moves."""
    other = WEIGHTED.replace(*change).replace(
        "down-right", "down" if change[0].startswith("diagonal") else "down-right"
    )
    assert parse(other) != parse(WEIGHTED)


def test_costs_are_paid_on_entering_and_a_blocked_move_is_free() -> None:
    """The start and the goal cost 1."""
    board, here = parse_grid("S5..\n.9..\n..@2\n#..G", here=4)
    assert walk(board, here, ("right", "down")).cost == 3
    assert walk(board, here, ("up", "left", "left", "up")).cost == 1 + 9 + 1 + 1
    assert walk(board, here, ("left", "left", "down")) == (8, 1, 2, 2)
    assert board.distances[here] == 2


@pytest.mark.parametrize(
    ("grid", "legal"),
    [
        ("....\n.@..\n....\n...G", ["up", "down", "left", "right", "up-left", "up-right", "down-left", "down-right"]),
        ("..#.\n.@..\n....\n...G", ["up", "down", "left", "right", "up-left", "down-left", "down-right"]),
        (".#..\n.@..\n....\n...G", ["down", "left", "right", "down-left", "down-right"]),
        ("....\n#@..\n.#..\n...G", ["up", "right", "up-right"]),
    ],
)
def test_a_diagonal_move_needs_both_cells_that_it_passes_between(grid: str, legal: list[str]) -> None:
    board, here = parse_grid(grid, diagonal=True)
    assert legal_moves(board, here) == legal
    assert walk(board, here, ("up-left",)).hits == ("up-left" not in legal)


def test_a_diagonal_move_costs_no_more_than_another() -> None:
    board, here = parse_grid("@...\n....\n....\n...G", diagonal=True)
    assert walk(board, here, ("down-right",) * 3) == (15, 0, 0, 3)
    assert walk(board, here, ("down-right", "down", "right", "right", "down")) == (15, 0, 2, 5)

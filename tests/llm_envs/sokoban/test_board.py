"""Moves, pushes and text."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.core.task import Split
from llm_envs.sokoban.board import MOVES, Board, Move, cells, legal_moves, spread, walk, walk_to
from llm_envs.sokoban.generator import generate
from llm_envs.sokoban.levels import parse_level
from llm_envs.sokoban.presets import make_dials
from llm_envs.sokoban.state import State, parse, render
from tests.llm_envs.sokoban import reference
from tests.llm_envs.sokoban.strategies import MOVE_LISTS, boards, states
from tests.scale import scaled

PUSH_RIGHT = "#######\n#@$ . #\n#     #\n#######"


def after(text: str, *moves: Move) -> str:
    return walk(parse_level(text), moves).end.text


@given(boards(), st.lists(st.sampled_from(MOVES), max_size=60))
def test_a_walk_goes_where_the_rules_say(board: Board, moves: list[Move]) -> None:
    went = walk(board, moves)
    boxes, (row, col), pushes = reference.play(board.text, moves)
    assert {divmod(cell, board.room.cols) for cell in cells(went.end.boxes)} == boxes
    assert divmod(went.end.player, board.room.cols) == (row, col)
    assert went.pushes == pushes
    if not went.end.solved:
        assert went.moves + went.hits == len(moves)


def test_the_player_is_never_on_a_box_or_in_a_wall_in_random_play() -> None:
    """UC-025: 10,000 steps at full size; the number of boxes never changes."""
    rng, steps = random.Random(0), scaled(fast=2_000, long=10_000)
    board = generate(make_dials(difficulty="expert", max_moves=160), Split.TRAIN, 0).start
    for _ in range(steps):
        board = walk(board, (rng.choice(MOVES),)).end
        assert not (board.boxes | board.room.walls) >> board.player & 1
        assert not board.boxes & board.room.walls
        assert board.boxes.bit_count() == 4


def test_a_walk_stops_when_solved_and_ignores_the_rest() -> None:
    """UC-025: solved at move 2 of 5 is as if 2 had been said."""
    board = parse_level(PUSH_RIGHT)
    long = walk(board, ("right", "right", "left", "left", "up"))
    assert long == walk(board, ("right", "right"))
    assert long.end.solved
    assert (long.moves, long.pushes, long.hits) == (2, 2, 0)
    assert walk(long.end, ("left",)).end is long.end


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("######\n#@$$ #\n# .. #\n######", "right"),
        ("######\n#@$# #\n# .  #\n######", "right"),
        ("######\n#@$* #\n# .  #\n######", "right"),
        ("######\n#@$. #\n#    #\n######", "up"),
    ],
)
def test_a_blocked_move_does_nothing_and_counts(text: str, move: Move) -> None:
    """UC-025: two boxes in a row, a box before a wall, a wall."""
    went = walk(parse_level(text), (move, move))
    assert went.end.text == text
    assert (went.moves, went.pushes, went.hits) == (0, 0, 2)


def test_a_push_moves_one_box_one_cell() -> None:
    """UC-025."""
    assert after(PUSH_RIGHT, "right") == "#######\n# @$. #\n#     #\n#######"
    assert after(PUSH_RIGHT, "right", "right") == "#######\n#  @* #\n#     #\n#######"


def test_every_standing_place_has_its_own_symbol() -> None:
    """UC-026: player on a goal, box on a goal, both in one room, and a player who left a goal."""
    text = "#######\n#+$ * #\n#     #\n#######"
    board = parse_level(text)
    assert board.text == text
    assert after(text, "right") == "#######\n#.@$* #\n#     #\n#######"
    assert parse_level(after(text, "right", "left")).text == "#######\n#+ $* #\n#     #\n#######"


@given(states())
def test_a_state_is_read_back_from_its_text(state: State) -> None:
    """UC-026."""
    assert parse(render(state)) == state


def test_a_thousand_states_are_read_back_from_their_texts() -> None:
    """UC-026."""
    rng = random.Random(1)
    for index in range(scaled(fast=100, long=1000)):
        dials = make_dials(difficulty=rng.choice(["easy", "medium", "hard"]), max_moves=160)
        start = generate(dials, Split.TRAIN, index).start
        board = walk(start, [rng.choice(MOVES) for _ in range(rng.randrange(40))]).end
        assert parse_level(board.text) == board


def test_states_that_differ_have_different_texts() -> None:
    """Negative control of reading back."""
    board = parse_level(PUSH_RIGHT)
    ends = [walk(board, moves).end for moves in ((), ("right",), ("down",), ("right", "right"))]
    assert len({render(State(end)) for end in ends} | {render(State(board, None, ("up",)))}) == 5


@given(boards(), MOVE_LISTS)
def test_legal_moves_are_those_that_change_the_board(board: Board, moves: tuple[Move, ...]) -> None:
    board = walk(board, moves).end
    if not board.solved:
        assert legal_moves(board) == [move for move in MOVES if walk(board, (move,)).end != board]


@given(boards(), st.data())
def test_a_walk_to_a_cell_is_a_shortest_one_without_pushes(board: Board, data: st.DataObject) -> None:
    area = spread(1 << board.player, board.room.floor & ~board.boxes, board.room.cols)
    target = data.draw(st.sampled_from(list(cells(area))))
    moves = walk_to(board, target)
    if not board.solved:
        went = walk(board, moves)
        assert (went.end.player, went.pushes, went.hits) == (target, 0, 0)
    row, col = divmod(board.player, board.room.cols)
    assert len(moves) >= abs(row - target // board.room.cols) + abs(col - target % board.room.cols)
    with pytest.raises(ValueError, match="can't reach"):
        walk_to(board, 0)

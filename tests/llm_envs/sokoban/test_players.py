"""The reference players do what they are documented to do, and plans are known where they are needed."""

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm_envs.core.parsing import Unparsed
from llm_envs.core.task import Split
from llm_envs.core.tool_use import Script
from llm_envs.sokoban.board import MOVES, Board, legal_moves, walk
from llm_envs.sokoban.deadlocks import assess
from llm_envs.sokoban.generator import Level
from llm_envs.sokoban.levels import parse_level
from llm_envs.sokoban.plans import plan_from
from llm_envs.sokoban.players import PLAYERS, WEAK_GREEDY, greedy_moves, oracle_moves, random_moves, weak_moves
from llm_envs.sokoban.state import State
from llm_envs.sokoban.task import SokobanTask
from tests.llm_envs.sokoban.scenes import TWO
from tests.llm_envs.sokoban.strategies import ALL, SMALL, boards, levels
from tests.scale import scaled


@given(levels(), st.integers(1, 30))
@settings(max_examples=30)
def test_the_oracle_solves_every_level_within_the_moves_of_its_plan(level: Level, limit: int) -> None:
    state, moves = State(level.start, level), 0
    while not state.board.solved:
        went = walk(state.board, oracle_moves(state, limit, random.Random(0)))
        assert went.hits == 0
        assert 1 <= went.moves <= limit
        state, moves = State(went.end, level), moves + went.moves
    assert moves <= len(level.moves or ())


@given(boards(SMALL))
@settings(max_examples=scaled(fast=40, long=1000))
def test_a_plan_from_anywhere_solves_the_board(board: Board) -> None:
    plan = plan_from(board, None)
    if plan is not None:
        assert walk(board, plan).end.solved
    if assess(board.room, board.boxes).deadlock is not None:
        assert plan is None


@given(levels(ALL), st.data())
@settings(max_examples=30)
def test_on_the_way_of_its_own_plan_a_level_needs_no_search(level: Level, data: st.DataObject) -> None:
    moves = level.moves or ()
    made = data.draw(st.integers(0, len(moves)))
    rest = plan_from(walk(level.start, moves[:made]).end, level)
    assert rest is not None
    assert len(rest) <= len(moves) - made


@given(boards(), st.integers(1, 20), st.integers(0, 99))
@settings(max_examples=40)
def test_greedy_and_weak_players_make_legal_moves_only(board: Board, limit: int, seed: int) -> None:
    if board.solved:
        return
    for player in (greedy_moves, weak_moves):
        moves = player(State(board), limit, random.Random(seed))
        assert 1 <= len(moves) <= limit
        assert walk(board, moves).hits == 0
    assert len(weak_moves(State(board), limit, random.Random(seed))) <= 3


@given(boards())
@settings(max_examples=40)
def test_the_greedy_player_never_ends_lower_than_it_began(board: Board) -> None:
    moves = greedy_moves(State(board), 200, random.Random(0))
    end = walk(board, moves).end
    assert assess(end.room, end.boxes).potential >= assess(board.room, board.boxes).potential or len(moves) == 1


@pytest.mark.parametrize("player", PLAYERS)
@pytest.mark.parametrize("roles", ["team", "single", "planners"])
def test_every_reply_of_a_reference_player_is_valid(player: str, roles: str) -> None:
    task = SokobanTask(roles=roles, difficulty="medium", max_moves=5, max_cycles=40)
    kinds = Counter[type]()
    for index in range(30):
        state = task.instance(Split.TRAIN, index)
        for role in task.roles:
            action = task.parse(state, role, task.reference(player, state, role, random.Random(index)))
            assert not isinstance(action, Unparsed)
            assert isinstance(action, Script) or len(action) <= 5
            kinds[type(action)] += 1
    assert (Script in kinds) == (roles == "team" or (roles == "single" and player in {"random", "weak"}))


def test_a_walled_in_player_still_says_something() -> None:
    """A position that no play reaches, but a caller may give."""
    board = parse_level("#####\n##*##\n#*+*#\n##$##\n#####")
    assert legal_moves(board) == []
    assert all(PLAYERS[player](State(board), 3, random.Random(0)) for player in PLAYERS)


def test_the_weak_player_follows_the_greedy_one_no_oftener_than_it_says() -> None:
    """With two legal moves, one of them the greedy player's: 0.3 + 0.7 / 2 = 0.65."""
    state, draws, rng = State(parse_level(TWO)), scaled(fast=2000, long=100_000), random.Random(0)
    (aim,) = greedy_moves(state, 1, rng)
    assert len(legal_moves(state.board)) == 2
    share = sum(weak_moves(state, 1, rng)[0] == aim for _ in range(draws)) / draws
    assert share == pytest.approx(WEAK_GREEDY + (1 - WEAK_GREEDY) / 2, abs=0.04)


def test_the_random_player_uses_every_move_and_length() -> None:
    lists = [random_moves(State(parse_level(TWO)), 4, random.Random(seed)) for seed in range(200)]
    assert {len(moves) for moves in lists} == {1, 2, 3, 4}
    assert {move for moves in lists for move in moves} == set(MOVES)

"""The reference players do what they are documented to do."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.core.parsing import Unparsed
from llm_envs.core.task import Split
from llm_envs.core.tool_use import Script
from llm_envs.plan_path.board import legal_moves, walk
from llm_envs.plan_path.moves import Move, targets
from llm_envs.plan_path.players import WEAK_TOWARDS, greedy_moves, oracle_moves, random_moves, weak_moves
from llm_envs.plan_path.state import State, parse
from llm_envs.plan_path.task import PlanPathTask
from tests.llm_envs.plan_path.strategies import states
from tests.scale import scaled

UNSOLVED = states().filter(lambda state: not state.solved)


@given(UNSOLVED, st.integers(1, 20), st.integers(0, 99))
def test_the_oracle_and_the_weak_player_make_legal_moves_only(state: State, limit: int, seed: int) -> None:
    for player in (oracle_moves, greedy_moves, weak_moves):
        moves = player(state, limit, random.Random(seed))
        assert 1 <= len(moves) <= limit
        assert walk(state.board, state.position, moves).hits == 0
    assert len(weak_moves(state, limit, random.Random(seed))) <= 3


@given(UNSOLVED, st.integers(1, 20))
def test_the_oracle_comes_as_near_as_the_limit_lets_it(state: State, limit: int) -> None:
    moves = oracle_moves(state, limit, random.Random(0))
    went = walk(state.board, state.position, moves)
    assert went.cost == state.distance - state.board.distances[went.end]
    assert went.end == state.board.goal or len(moves) == limit
    if state.board.highest == 1:
        assert state.board.distances[went.end] == max(0, state.distance - limit)


@given(UNSOLVED, st.integers(1, 20), st.sampled_from(["tool", "planner"]), st.booleans(), st.integers(0, 9))
def test_every_reply_of_a_reference_player_is_valid(state: State, limit: int, role: str, full: bool, seed: int) -> None:
    view = "full" if full else "local"
    task = PlanPathTask(max_moves=limit, min_path=1, observation=view, weights=9, diagonal=state.board.diagonal)
    for player in task.players:
        reply = task.reference(player, state, role, random.Random(seed))
        action = task.parse(state, role, reply)
        assert isinstance(action, Script if role == "tool" else tuple), reply


@pytest.mark.parametrize("player", PlanPathTask.players)
def test_replies_of_a_single_reference_player_are_valid(player: str) -> None:
    task = PlanPathTask(roles="single")
    kinds = Counter()
    for index in range(60):
        state = task.instance(Split.TRAIN, index)
        action = task.parse(state, "solver", task.reference(player, state, "solver", random.Random(index)))
        assert not isinstance(action, Unparsed)
        kinds[type(action)] += 1
    assert (Script in kinds) == (player in {"random", "weak"})


def test_the_weak_player_seeks_the_goal_no_oftener_than_it_says() -> None:
    """With two of four moves leading nearer, a random legal move does so half the time: 0.15 + 0.85 * 0.5 = 0.575."""
    task = PlanPathTask(size=5, min_path=1)
    state = task.load(".....\n.....\n..@..\n.....\n....G")
    towards: set[Move] = {"down", "right"}
    draws = scaled(fast=4000, long=100_000)
    rng = random.Random(0)
    share = sum(weak_moves(state, 1, rng)[0] in towards for _ in range(draws)) / draws
    assert share == pytest.approx(WEAK_TOWARDS + (1 - WEAK_TOWARDS) * 0.5, abs=0.03)


def test_the_weak_player_moves_at_random_where_no_legal_move_leads_nearer() -> None:
    task = PlanPathTask(size=4, min_path=1)
    state = task.load("....\n.@#G\n.#..\n....")
    assert {weak_moves(state, 1, random.Random(seed))[0] for seed in range(40)} == {"up", "left"}
    assert legal_moves(state.board, state.position) == ["up", "left"]


def test_the_random_player_uses_every_move_and_length() -> None:
    state = PlanPathTask().instance(Split.TRAIN, 0)
    lists = [random_moves(state, 4, random.Random(seed)) for seed in range(200)]
    assert {len(moves) for moves in lists} == {1, 2, 3, 4}
    assert {move for moves in lists for move in moves} == set(targets(8)[0])


def test_the_random_player_uses_diagonal_moves_where_there_are_any() -> None:
    state = PlanPathTask(diagonal=True).instance(Split.TRAIN, 0)
    lists = [random_moves(state, 4, random.Random(seed)) for seed in range(200)]
    assert {move for moves in lists for move in moves} == set(state.board.moves)


@pytest.mark.parametrize(
    ("grid", "moves"),
    [
        ("@...\n....\n....\n...G", ["down"] * 3 + ["right"] * 3),
        ("@...\n....\n....\n...G\ndiagonal: yes", ["down-right"] * 3),
        ("@2..\n9...\n....\n...G", ["right", "down", "down", "down", "right", "right"]),
        ("@2..\n95..\n....\n...G\ndiagonal: yes", ["right", "down-right", "down-right", "down"]),
    ],
)
def test_the_greedy_player_goes_straight_where_the_next_cell_is_cheap(grid: str, moves: list[str]) -> None:
    """A diagonal move gains two cells, so that one onto a cell of cost 5 costs more for each than one onto a 2."""
    assert greedy_moves(parse(grid), 20, random.Random(0)) == moves


def test_the_greedy_player_pays_more_than_the_oracle_where_it_should_look_ahead() -> None:
    """Negative control of the oracle."""
    board = parse("....\n@99.\n.99G\n....").board
    players = (oracle_moves, greedy_moves)
    costs = [walk(board, 4, player(State(board, 4), 20, random.Random(0))).cost for player in players]
    assert costs == [6, 20]

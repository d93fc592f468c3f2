"""The reference players do what they are documented to do."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.core.parsing import Unparsed
from llm_envs.core.task import Split
from llm_envs.core.tool_use import Script
from llm_envs.sudoku.players import PLAYERS, WEAK_RIGHT, greedy_answer, random_answer, weak_answer
from llm_envs.sudoku.puzzle import Placement, play
from llm_envs.sudoku.state import State
from llm_envs.sudoku.task import SudokuTask
from tests.llm_envs.sudoku.boards import SMALL, TASKS, states
from tests.scale import scaled

UNSOLVED = states().filter(lambda state: not state.solved)


@given(UNSOLVED, st.sampled_from(["tool", "planner", "solver"]), st.sampled_from(sorted(PLAYERS)), st.integers(0, 99))
def test_every_reply_is_valid_and_every_placement_legal(state: State, role: str, player: str, seed: int) -> None:
    task = TASKS[state.puzzle.size]
    action = task.parse(state, role, task.reference(player, state, role, random.Random(seed)))
    assert not isinstance(action, Unparsed)
    assert role != "tool" or isinstance(action, Script)
    answer = PLAYERS[player](state, random.Random(seed))
    assert play(state.puzzle, state.grid, state.right, state.wrong, answer.placements).illegal == ()


@given(UNSOLVED)
def test_the_oracle_solves_from_anywhere(state: State) -> None:
    answer = PLAYERS["oracle"](state, random.Random(0))
    assert play(state.puzzle, state.grid, 0, 0, answer.placements).grid == state.puzzle.solution


@pytest.mark.parametrize("size", [4, 6, 9])
def test_greedy_solves_what_yields_to_naked_singles_without_guessing(size: int) -> None:
    task = SudokuTask(size=size, blanks=size * size // 2, hardest="naked_single", engine="python")
    state = task.instance(Split.TRAIN, 1)
    for _ in range(size * size):
        played = play(
            state.puzzle, state.grid, state.right, state.wrong, greedy_answer(state, random.Random(0)).placements
        )
        assert played.wrong == 0
        state = State(state.puzzle, played.grid, played.right, played.wrong)
        if state.solved:
            break
    assert state.solved


def test_greedy_starts_again_where_a_cell_can_hold_nothing_or_the_grid_is_full() -> None:
    state = TASKS[4].load(SMALL)
    stuck = play(state.puzzle, state.grid, 0, 0, [Placement(1, 2), Placement(2, 4), Placement(7, 2)])
    full = play(state.puzzle, bytes([1, 2, 4, 4, 4, 4, 3, 1, 2, 4, 1, 3, 3, 1, 4, 2]), 0, 0, [])
    for played in (stuck, full):
        answer = greedy_answer(State(state.puzzle, played.grid, played.right, played.wrong), random.Random(0))
        cleared = play(state.puzzle, played.grid, 0, 0, answer.placements)
        assert cleared.grid == state.puzzle.clues


def test_the_weak_player_is_right_as_often_as_it_says() -> None:
    """In a cell with n digits that the clues admit: 0.3 + 0.7 / n."""
    state = TASKS[9].instance(Split.TRAIN, 0)
    expected, right, draws = 0.0, 0, scaled(fast=3000, long=100_000)
    rng = random.Random(0)
    for _ in range(draws):
        cell, digit = weak_answer(state, rng).placements[0]
        right += digit == state.puzzle.solution[cell]
        admitted = sum(not state.puzzle.barred[cell] >> option & 1 for option in range(1, 10))
        expected += WEAK_RIGHT + (1 - WEAK_RIGHT) / admitted
    assert right / draws == pytest.approx(expected / draws, abs=0.03)


def test_the_random_player_uses_every_cell_and_length() -> None:
    state = TASKS[4].instance(Split.TRAIN, 0)
    lists = [random_answer(state, random.Random(seed)).placements for seed in range(400)]
    assert {len(placements) for placements in lists} == {1, 2, 3}
    blank = {cell for cell, given in enumerate(state.puzzle.clues) if not given}
    assert {cell for placements in lists for cell, _ in placements} == blank


@pytest.mark.parametrize("player", sorted(PLAYERS))
def test_only_clumsy_single_agents_write_programs(player: str) -> None:
    task = SudokuTask(size=4, roles="single")
    state = task.instance(Split.TRAIN, 0)
    actions = [
        task.parse(state, "solver", task.reference(player, state, "solver", random.Random(n))) for n in range(60)
    ]
    assert any(isinstance(action, Script) for action in actions) == (player in {"random", "weak"})

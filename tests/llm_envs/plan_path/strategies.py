"""Random boards for property tests."""

from hypothesis import strategies as st

from llm_envs.core.task import Split
from llm_envs.plan_path.board import Board
from llm_envs.plan_path.generator import Dials, generate
from llm_envs.plan_path.moves import MOVES, Move, moves_of
from llm_envs.plan_path.state import State

MOVE_LISTS = st.lists(st.sampled_from(MOVES), min_size=1, max_size=20).map(tuple)
ALL_MOVE_LISTS = st.lists(st.sampled_from(moves_of(diagonal=True)), min_size=1, max_size=20).map(tuple)


@st.composite
def dials(draw: st.DrawFn) -> Dials:
    """Any dials that `PlanPathTask` admits."""
    size = draw(st.integers(4, 16))
    weights, diagonal = draw(st.sampled_from([1, 1, 2, 9])), draw(st.booleans())
    min_path = draw(st.integers(1, (1 if diagonal else 2) * (size - 1)))
    max_path = draw(st.integers(min_path, 300))
    return Dials(size, draw(st.sampled_from([0.0, 0.1, 0.2, 0.35, 0.5])), min_path, max_path, weights, diagonal)


@st.composite
def boards(draw: st.DrawFn) -> Board:
    """Any generated board."""
    return generate(draw(dials()), draw(st.sampled_from(Split)), draw(st.integers(0, 1 << 31)))


def moves_on(board: Board) -> st.SearchStrategy[tuple[Move, ...]]:
    """Any move list of a board's game, blocked moves included."""
    return ALL_MOVE_LISTS if board.diagonal else MOVE_LISTS


@st.composite
def states(draw: st.DrawFn) -> State:
    """Any state that an episode can reach, the solved one included."""
    board = draw(boards())
    cells = [cell for cell, distance in enumerate(board.distances) if distance >= 0]
    candidate: tuple[Move, ...] | None = draw(st.none() | moves_on(board))
    return State(board, draw(st.sampled_from(cells)), candidate)

"""Random rooms and positions for property tests."""

import itertools
from functools import cache

from hypothesis import strategies as st

from llm_envs.core.task import Split
from llm_envs.sokoban.board import MOVES, Board, Move, walk
from llm_envs.sokoban.generator import Dials, Level, generate
from llm_envs.sokoban.layouts import Shape
from llm_envs.sokoban.state import State

MOVE_LISTS = st.lists(st.sampled_from(MOVES), min_size=1, max_size=20).map(tuple)

# Drawn from in place of all dials, since drawing a move list takes a thousandth of drawing a room.
SMALL = [
    Dials(6, 6, 1, Shape.SCATTERED, 0.1, 2, 100),
    Dials(6, 7, 2, Shape.SCATTERED, 0.1, 2, 100),
    Dials(7, 6, 2, Shape.CARVED, 0.3, 3, 100),
    Dials(7, 7, 3, Shape.SCATTERED, 0.2, 2, 100),
]
ALL = [
    *SMALL,
    Dials(8, 8, 2, Shape.CARVED, 0.35, 6, 160),
    Dials(10, 10, 4, Shape.CARVED, 0.4, 8, 160),
    Dials(6, 16, 3, Shape.SCATTERED, 0.3, 4, 160),
    Dials(16, 16, 1, Shape.CARVED, 0.5, 10, 160),
    Dials(16, 16, 6, Shape.CARVED, 0.5, 10, 400),
]
cached = cache(generate)


@st.composite
def dials(draw: st.DrawFn) -> Dials:
    """Dials that `SokobanTask` admits, with pushes that most rooms have, so that drawing is quick."""
    rows, cols = draw(st.integers(6, 16)), draw(st.integers(6, 16))
    boxes = draw(st.integers(1, min(6, (rows - 2) * (cols - 2) // 6)))
    shape, walls = draw(st.sampled_from(Shape)), draw(st.sampled_from([0.0, 0.2, 0.4, 0.6]))
    return Dials(rows, cols, boxes, shape, walls, draw(st.integers(1, 4)), 400)


def levels(some: list[Dials] = ALL) -> st.SearchStrategy[Level]:
    """A level of each kind."""
    kinds = itertools.product(some, Split, range(2))
    return st.sampled_from(list(kinds)).map(lambda kind: cached(*kind))


@st.composite
def boards(draw: st.DrawFn, some: list[Dials] = ALL) -> Board:
    """A position that random play reaches, or one on the way of the level's plan, the solved one included."""
    level = draw(levels(some))
    moves = level.moves or ()
    planned = moves[: draw(st.integers(0, len(moves)))]
    wandered = draw(st.lists(st.sampled_from(MOVES), max_size=60))
    return walk(walk(level.start, planned).end, wandered).end


@st.composite
def states(draw: st.DrawFn) -> State:
    """Any state that an episode can reach, as far as its text shows it."""
    candidate: tuple[Move, ...] | None = draw(st.none() | MOVE_LISTS)
    return State(draw(boards()), None, candidate)

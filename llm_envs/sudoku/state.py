"""The state of a Sudoku episode and its text form."""

from functools import lru_cache
from typing import NamedTuple, TypeVar

from llm_envs.core.errors import UsageError, require
from llm_envs.core.parsing import Unparsed
from llm_envs.sudoku.engine import PYTHON, Engine
from llm_envs.sudoku.geometry import BOXES, SYMBOLS, cell_name, clashes, complete, geometry, size_of
from llm_envs.sudoku.puzzle import Placement, Puzzle, potential, tally
from llm_envs.sudoku.reading import Answer, read_answer, read_grid

T = TypeVar("T")

_NOW, _CANDIDATE = "now:", "candidate:"
_SYMBOL_OF = bytes(SYMBOLS.encode().ljust(256))
_LINES = {size: ("\n".join([" ".join("." * size)] * size)).encode() for size in BOXES}


class State(NamedTuple):
    """Where an episode stands (a tuple, since one is made on every turn).

    Attributes:
        grid: the cells as they are now.
        right, wrong: how many filled cells that are no clues agree with the puzzle's solution or do not.
        candidate: what the latest program printed, if placements have not been executed since.
        report: in words, what the latest program did; only its author sees it.
        news: in words, what the last placements did, and which of them break a rule.
    """

    puzzle: Puzzle
    grid: bytes
    right: int = 0
    wrong: int = 0
    candidate: Answer | None = None
    report: str = ""
    news: str = ""

    @property
    def potential(self) -> float:
        return potential(self.puzzle, self.grid, self.right, self.wrong)

    @property
    def solved(self) -> bool:
        if self.puzzle.unique:
            return self.right == self.puzzle.blanks
        return complete(self.grid, self.puzzle.size)


@lru_cache(maxsize=4096)  # the agents of a cycle, and the siblings of a branch, read the same grid
def rows(grid: bytes) -> str:
    """A line of symbols for each row, separated by spaces."""
    text = bytearray(_LINES[size_of(grid)])
    text[::2] = grid.translate(_SYMBOL_OF)
    return text.decode()


def boxed(grid: bytes) -> str:
    """`rows` with lines between the boxes, for people."""
    board = geometry(size_of(grid))
    wide = 2 * board.box_columns
    inner = "+".join("-" * (wide + 1) for _ in range(board.size // board.box_columns))[1:-1]
    lines: list[str] = []
    for number, line in enumerate(rows(grid).splitlines()):
        if number and number % board.box_rows == 0:
            lines.append(inner)
        lines.append("| ".join(line[first : first + wide] for first in range(0, len(line), wide)))
    return "\n".join(lines)


def placement_text(placement: Placement, size: int) -> str:
    """`r1c2=3`; `r1c2=.` clears."""
    return f"{cell_name(placement.cell, size)}={SYMBOLS[placement.digit]}"


def answer_text(answer: Answer, size: int) -> str:
    """A whole grid as rows, else the placements in one line."""
    if answer.grid is not None:
        return rows(answer.grid)
    return " ".join(placement_text(placement, size) for placement in answer.placements)


def render(state: State) -> str:
    """The puzzle, the grid as it is now where it differs, and the candidate where there is one."""
    parts = [boxed(state.puzzle.clues)]
    if state.grid != state.puzzle.clues:
        parts.append(f"{_NOW}\n{boxed(state.grid)}")
    if state.candidate is not None:
        parts.append(f"{_CANDIDATE}\n{answer_text(state.candidate, state.puzzle.size)}")
    return "\n\n".join(parts)


def parse(text: str, size: int | None = None, *, allow_multiple: bool = True, engine: Engine = PYTHON) -> State:
    """The inverse of `render` (reports and news are no part of the text). The puzzle may have any form of a grid.

    Args:
        text: the state.
        size: the size that the puzzle must have; None admits any.
        allow_multiple: whether a puzzle with several solutions is admitted.
        engine: looks for the solutions.

    Raises:
        UsageError: a text that is no state, or a puzzle that cannot be played.
    """
    board, marked, candidate = text.partition(_CANDIDATE)
    clues, changed, now = board.partition(_NOW)
    puzzle = make_puzzle(_known(read_grid(clues, size), clues), allow_multiple=allow_multiple, engine=engine)
    grid = _known(read_grid(now, puzzle.size), now) if changed else puzzle.clues
    if any(given not in {0, digit} for given, digit in zip(puzzle.clues, grid, strict=True)):
        raise UsageError(f"grid={now.strip()!r}: must hold the puzzle's clues where they are.")
    answer = _known(read_answer(candidate, puzzle.size), candidate) if marked else None
    return State(puzzle, grid, *tally(puzzle, grid), answer)


def _known(found: T | Unparsed, text: str) -> T:
    if isinstance(found, Unparsed):
        raise UsageError(f"grid={text.strip()[:400]!r}: {found.reason}.")
    return found


def make_puzzle(clues: bytes, *, allow_multiple: bool = False, engine: Engine = PYTHON) -> Puzzle:
    """The puzzle that a grid is.

    Raises:
        UsageError: no blank cell, clues that break a rule, no solution, or several where they are not admitted.
    """
    size = size_of(clues)
    require(0 in clues, "grid", rows(clues), "a puzzle with at least one blank cell")
    for first, second in clashes(clues, size):
        digit = SYMBOLS[clues[first]]
        raise UsageError(
            f"grid: {cell_name(first, size)} and {cell_name(second, size)} both hold {digit}, but a row, a column and "
            "a box hold each digit once."
        )
    found = engine.search(clues, limit=2)
    if not found.solutions:
        why = "has no solution" if found.exhausted else "has too few clues for a solution to be found soon"
        raise UsageError(f"grid: this puzzle {why}.\n{rows(clues)}")
    unique = len(found.solutions) == 1 and found.exhausted
    if not unique and not allow_multiple:
        why = "several solutions" if len(found.solutions) > 1 else "too few clues to prove that it has one solution"
        raise UsageError(
            f"grid: this puzzle has {why}; add clues, or admit it by options={{'task': {{'puzzle': ..., "
            "'allow_multiple': True}}, under which any solution counts and nothing less earns.\n" + rows(clues)
        )
    return Puzzle.make(clues, found.solutions[0], unique=unique)

"""How hard a puzzle is: the hardest technique that a person needs to solve it.

The order is the usual one of Sudoku raters: naked singles, hidden singles, then eliminations by pairs and by boxes that
meet lines (pointing and claiming), then guessing, which stands for everything beyond.
"""

from collections import Counter
from enum import IntEnum
from functools import cache

from llm_envs.sudoku.geometry import geometry, size_of
from llm_envs.sudoku.solver import Cover, Position, close, cover, position


class Technique(IntEnum):
    """Techniques in order of difficulty; each includes those before it."""

    NAKED_SINGLE = 1
    HIDDEN_SINGLE = 2
    PAIRS = 3
    GUESSING = 4


def rate(clues: bytes) -> Technique:
    """The hardest technique needed for a puzzle that has one solution."""
    return next((level for level in Technique if yields_to(clues, level)), Technique.GUESSING)


def yields_to(clues: bytes, hardest: Technique) -> bool:
    """Whether techniques up to `hardest` fill the grid; guessing fills any, which is never asked for here."""
    if hardest is Technique.GUESSING:
        return False
    board = cover(size_of(clues))
    node = close(board, position(clues), board.cell_guards if hardest is Technique.NAKED_SINGLE else None)
    while node is not None and node.done != board.guards:
        reduced = eliminate(board, node) if hardest is Technique.PAIRS else node.open
        if reduced == node.open:
            return False
        node = close(board, node._replace(open=reduced))
    return node is not None


def eliminate(board: Cover, node: Position) -> int:
    """The candidates left after one round of pairs, pointing and claiming."""
    cells = (1 << (board.size**2 * (board.size + 1))) - 1  # the cells' lanes: each candidate has one bit there
    open_ = node.open & cells
    gone = _intersections(board.size, open_) | _naked_pairs(board.size, open_)
    left = node.open
    while gone:
        candidate = board.candidate_at[gone.bit_length() - 1]
        left &= board.others[candidate]
        gone &= board.others[candidate]
    return left


@cache
def _crossings(size: int) -> tuple[tuple[int, int, int], ...]:
    """For each digit, box and line that meet: bits of the cells' lanes in both, in the line only, in the box only."""
    units, width = geometry(size).units, size + 1

    def mask(cells: set[int], digit: int) -> int:
        return sum(1 << (cell * width + digit) for cell in cells)

    pairs = [(set(line), set(box)) for line in units[: 2 * size] for box in units[2 * size :]]
    return tuple(
        (mask(line & box, digit), mask(line - box, digit), mask(box - line, digit))
        for line, box in pairs
        if line & box
        for digit in range(size)
    )


def _intersections(size: int, open_: int) -> int:
    """Pointing: a digit that fits a box only within a line leaves the rest of the line. Claiming: the reverse."""
    gone = 0
    for both, line_only, box_only in _crossings(size):
        if open_ & both:
            in_line, in_box = open_ & line_only, open_ & box_only
            if not in_box:
                gone |= in_line
            elif not in_line:
                gone |= in_box
    return gone


def _naked_pairs(size: int, open_: int) -> int:
    """Two cells of a unit with the same two candidates: the unit's other cells hold neither."""
    width, lane = size + 1, (1 << size) - 1
    options = [open_ >> (cell * width) & lane for cell in range(size * size)]
    gone = 0
    for unit in geometry(size).units:
        for pair, count in Counter(options[cell] for cell in unit if options[cell].bit_count() == 2).items():
            if count == 2:
                for cell in unit:
                    if options[cell] != pair:
                        gone |= (options[cell] & pair) << (cell * width)
    return gone

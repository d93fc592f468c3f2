"""The compiled part of `llm_envs.sudoku.fast`: the rules of `solver` and `digging` on arrays.

Digits are masks (digit 1 is bit 0), the used ones are kept for each unit, and the search has a stack of grids. Arrays
that end in `solutions` or `rng` are written to; an `rng` is the state of a SplitMix64.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numba
import numpy as np
from numpy.typing import NDArray

from llm_envs.sudoku.digging import DIG_NODES, FILL_NODES
from llm_envs.sudoku.geometry import BOXES, geometry
from llm_envs.sudoku.solver import NODES
from llm_envs.sudoku.techniques import Technique

F = TypeVar("F", bound=Callable[..., Any])
CONTRADICTION = -1
NAKED_SINGLE, GUESSING = int(Technique.NAKED_SINGLE), int(Technique.GUESSING)
MOST = max(BOXES)


def _compiled(function: F) -> F:
    """The function compiled on first call; uncached where no cache folder can be written."""
    njit: Any = numba.njit  # typed in some of numba's versions only
    try:
        compiled: F = njit(cache=True)(function)
    except RuntimeError:  # "cannot cache function: no locator available"
        compiled = njit(function)
    return compiled


def _tables() -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """By size: the units of each cell, the cells of each unit, the boxes on the diagonal (then -1)."""
    units_of = np.zeros((MOST + 1, MOST * MOST, 3), np.int64)
    units = np.zeros((MOST + 1, 3 * MOST, MOST), np.int64)
    diagonal = np.full((MOST + 1, MOST), -1, np.int64)
    for size, (box_rows, box_columns) in BOXES.items():
        board = geometry(size)
        units_of[size, : size * size] = board.units_of
        units[size, : 3 * size, :size] = board.units
        stacks = size // box_columns
        for step in range(min(stacks, size // box_rows)):
            diagonal[size, step] = 2 * size + step * stacks + step
    return units_of, units, diagonal


_UNITS_OF, _UNITS, _DIAGONAL = _tables()  # numba compiles globals in as constants
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@_compiled
def _below(state: Any, bound: int) -> Any:
    """`SplitMix64.below` on a state of one number."""
    state[0] += _GOLDEN
    mixed = (state[0] ^ (state[0] >> _S30)) * _MIX_1
    mixed = (mixed ^ (mixed >> _S27)) * _MIX_2
    return np.int64((((mixed ^ (mixed >> _S31)) >> _S32) * np.uint64(bound)) >> _S32)


@_compiled
def _shuffle(state: Any, order: Any) -> None:
    """`SplitMix64.shuffled` into `order`."""
    count = len(order)
    for place in range(count):
        order[place] = place
    for last in range(count - 1, 0, -1):
        other = _below(state, last + 1)
        order[last], order[other] = order[other], order[last]


class _Node(NamedTuple):
    """A position of the search, and the one digit that is banned from one cell (none: cell -1).

    `grid` holds the cells, `used` a mask of the digits in each unit (digit 1 is bit 0); both change in place.
    """

    size: int
    grid: Any
    used: Any
    banned_cell: int
    banned: int


@_compiled
def _put(node: Any, cell: int, bit: int) -> None:
    digit, rest = 1, bit
    while rest > 1:
        rest >>= 1
        digit += 1
    node.grid[cell] = digit
    for unit in _UNITS_OF[node.size, cell]:
        node.used[unit] |= bit


@_compiled
def _options(node: Any, cell: int) -> Any:
    """Digits that a blank cell may hold, as a mask."""
    units = _UNITS_OF[node.size, cell]
    options = ((1 << node.size) - 1) & ~(node.used[units[0]] | node.used[units[1]] | node.used[units[2]])
    return options & ~node.banned if cell == node.banned_cell else options


@_compiled
def _load(node: Any, clues: Any) -> bool:
    """Copy clues into a node; False where they break a rule."""
    node.used[:] = 0
    node.grid[:] = 0
    consistent = True
    for cell in range(node.size * node.size):
        if clues[cell]:
            bit = 1 << (clues[cell] - 1)
            for unit in _UNITS_OF[node.size, cell]:
                consistent = consistent and node.used[unit] & bit == 0
            _put(node, cell, bit)
    return consistent


@_compiled
def _place_naked(node: Any, blank: Any, count: int) -> int:
    """One pass over the blank cells; how many are left, or `CONTRADICTION`."""
    place = 0
    while place < count:
        options = _options(node, blank[place])
        if options == 0:
            return CONTRADICTION
        if options & (options - 1) == 0:
            _put(node, blank[place], options)
            count -= 1
            blank[place] = blank[count]
        else:
            place += 1
    return count


@_compiled
def _place_hidden(node: Any, blank: Any, count: int) -> int:
    """Place the digits that fit a unit in one cell only; how many blanks are left, or `CONTRADICTION`."""
    once, twice = np.zeros(3 * node.size, np.int64), np.zeros(3 * node.size, np.int64)
    for place in range(count):
        options = _options(node, blank[place])
        for unit in _UNITS_OF[node.size, blank[place]]:
            twice[unit] |= once[unit] & options
            once[unit] |= options
    for unit in range(3 * node.size):
        if (node.used[unit] | once[unit]) != (1 << node.size) - 1:
            return CONTRADICTION
        once[unit] &= ~twice[unit]
    place = 0
    while place < count:
        units = _UNITS_OF[node.size, blank[place]]
        hidden = (once[units[0]] | once[units[1]] | once[units[2]]) & _options(node, blank[place])
        if hidden == 0:
            place += 1
            continue
        if hidden & (hidden - 1):
            return CONTRADICTION
        _put(node, blank[place], hidden)
        count -= 1
        blank[place] = blank[count]
    return count


@_compiled
def _close(node: Any, hidden: bool) -> int:
    """Place singles, hidden ones too or not, until none is left; the number of blanks left, or `CONTRADICTION`."""
    blank = np.empty(node.size * node.size, np.int64)
    count = 0
    for cell in range(node.size * node.size):
        if node.grid[cell] == 0:
            blank[count] = cell
            count += 1
    while count > 0:
        left = _place_naked(node, blank, count)
        if left == count:
            if not hidden:
                return count
            left = _place_hidden(node, blank, count)
            if left == count:
                return count
        if left == CONTRADICTION:
            return CONTRADICTION
        count = left
    return 0


@_compiled
def _lane(node: Any) -> int:
    """The first lane with the fewest candidates, counted as in `solver`: cells, then units and digits."""
    size = node.size
    fewest, lane = size + 1, -1
    places = np.zeros((3 * size, size), np.int64)
    for cell in range(size * size):
        if node.grid[cell] == 0:
            options, count = _options(node, cell), 0
            for digit in range(size):
                if options >> digit & 1:
                    count += 1
                    for unit in _UNITS_OF[size, cell]:
                        places[unit, digit] += 1
            if count < fewest:
                fewest, lane = count, cell
    for unit in range(3 * size):
        for digit in range(size):
            if 0 < places[unit, digit] < fewest:
                fewest, lane = places[unit, digit], size * size + unit * size + digit
    return lane


@_compiled
def _branch(node: Any, cells: Any, bits: Any) -> int:
    """Write the candidates of that lane as cells and digits' bits; returns how many."""
    size, lane, found = node.size, _lane(node), 0
    if lane < size * size:
        options = _options(node, lane)
        for digit in range(size):
            if options >> digit & 1:
                cells[found], bits[found] = lane, 1 << digit
                found += 1
        return found
    unit, digit = divmod(lane - size * size, size)
    for cell in _UNITS[size, unit, :size]:
        if node.grid[cell] == 0 and _options(node, cell) >> digit & 1:
            cells[found], bits[found] = cell, 1 << digit
            found += 1
    return found


@_compiled
def _search(node: Any, clues: Any, budget: int, rng: Any, solutions: Any) -> tuple[int, int, bool]:
    """`solver.search` in a scratch node, for as many solutions as fit `solutions`.

    Returns their number, the nodes, whether exhausted. An `rng` of length 0 picks the first candidate.
    """
    if budget == 0:
        return 0, 0, False
    left = _close(node, True) if _load(node, clues) else CONTRADICTION
    if left <= 0:
        if left == 0:
            solutions[0] = node.grid
        return left + 1, 1, True
    total, size = node.size * node.size, node.size
    grids, masks = np.empty((total, total), np.uint8), np.empty((total, 3 * size), np.int64)
    cells, bits = np.empty((total, size), np.int64), np.empty((total, size), np.int64)
    count, tried, first = np.empty(total, np.int64), np.empty(total, np.int64), np.empty(total, np.int64)
    found, nodes, depth = 0, 1, 0
    while True:
        if left > 0:
            grids[depth], masks[depth] = node.grid, node.used
            count[depth] = _branch(node, cells[depth], bits[depth])
            first[depth] = _below(rng, count[depth]) if len(rng) else 0
            tried[depth] = 0
            depth += 1
        elif left == 0:
            solutions[found] = node.grid
            found += 1
        while depth > 0 and tried[depth - 1] == count[depth - 1]:
            depth -= 1
        if depth == 0 or found == len(solutions) or nodes == budget:
            return found, nodes, depth == 0
        nodes += 1
        level = depth - 1
        choice = (first[level] + tried[level]) % count[level]
        tried[level] += 1
        node.grid[:], node.used[:] = grids[level], masks[level]
        _put(node, cells[level, choice], bits[level, choice])
        left = _close(node, True)


@_compiled
def _scratch(size: int, banned_cell: int, banned: int) -> Any:
    return _Node(size, np.empty(size * size, np.uint8), np.empty(3 * size, np.int64), banned_cell, banned)


@_compiled
def solve(clues: Any, solutions: Any) -> int:
    """`solver.solve` into the first of one solution; the number of solutions found."""
    size = int(np.sqrt(len(clues)))
    return _search(_scratch(size, -1, 0), clues, NODES, np.empty(0, np.uint64), solutions)[0]


@_compiled
def search(clues: Any, budget: int, cell: int, digit: int, solutions: Any) -> tuple[int, int, bool]:
    """`_search` without `digit` in `cell` (-1 for none)."""
    size = int(np.sqrt(len(clues)))
    return _search(_scratch(size, cell, 1 << (digit - 1)), clues, budget, np.empty(0, np.uint64), solutions)


@_compiled
def full_grid(size: int, rng: Any, solutions: Any) -> None:
    """`digging.full_grid` into the first of one solution."""
    order, grid = np.empty(size, np.int64), np.empty(size * size, np.uint8)
    node = _scratch(size, -1, 0)
    while True:
        grid[:] = 0
        for box in _DIAGONAL[size]:
            if box >= 0:
                _shuffle(rng, order)
                for place in range(size):
                    grid[_UNITS[size, box, place]] = order[place] + 1
        if _search(node, grid, FILL_NODES, rng, solutions)[0]:
            return


@_compiled
def yields(clues: Any, hidden: bool) -> bool:
    """Whether singles fill the grid."""
    node = _scratch(int(np.sqrt(len(clues))), -1, 0)
    return _load(node, clues) and _close(node, hidden) == 0


@_compiled
def dig(solution: Any, grid: Any, rng: Any, blanks: int, hardest: int) -> None:
    """`digging.dig` in place, for `hardest` other than PAIRS."""
    size = int(np.sqrt(len(grid)))
    order: Any = np.empty(size * size, np.int64)
    _shuffle(rng, order)
    none, solutions = np.empty(0, np.uint64), np.empty((1, size * size), np.uint8)
    left = blanks
    for filled in grid:
        left -= filled == 0
    for cell in order:
        if left <= 0:
            return
        if grid[cell] == 0:
            continue
        grid[cell] = 0
        if hardest == GUESSING:
            node = _scratch(size, cell, 1 << (solution[cell] - 1))
            found, _, exhausted = _search(node, grid, DIG_NODES, none, solutions)
            holds = exhausted and found == 0
        else:
            holds = yields(grid, hardest != NAKED_SINGLE)
        if holds:
            left -= 1
        else:
            grid[cell] = solution[cell]

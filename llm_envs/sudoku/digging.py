"""Making puzzles: a random full grid, from which clues are taken as long as a condition holds. Pure Python.

`llm_envs.sudoku.fast` does the same in compiled code: equal seeds give equal puzzles.
"""

from llm_envs.sudoku.geometry import geometry, size_of
from llm_envs.sudoku.rng import SplitMix64
from llm_envs.sudoku.solver import search
from llm_envs.sudoku.techniques import Technique, yields_to

FILL_NODES = 2_000  # ten times what a fill usually takes; then another start is tried
DIG_NODES = 2_000  # a clue whose removal can't be judged within this many nodes stays


def full_grid(size: int, rng: SplitMix64) -> bytes:
    """A random full grid: the boxes on the diagonal, which do not constrain one another, then a random search."""
    board = geometry(size)
    stacks = size // board.box_columns
    while True:
        grid = bytearray(size * size)
        for step in range(min(stacks, size // board.box_rows)):
            box = board.units[2 * size + step * stacks + step]
            for cell, digit in zip(box, rng.shuffled(size), strict=True):
                grid[cell] = digit + 1
        found = search(bytes(grid), budget=FILL_NODES, pick=rng.below).solutions
        if found:
            return found[0]


def dig(solution: bytes, clues: bytes, rng: SplitMix64, blanks: int, hardest: Technique) -> bytes:
    """The clues with as many taken away, in random order, as leave `blanks` cells empty; fewer where none can go.

    Args:
        solution: the full grid.
        clues: where to start: a puzzle that meets the condition.
        rng: draws the order.
        blanks: the number of empty cells to reach.
        hardest: the puzzle must yield to techniques up to this one; `GUESSING` asks for one solution only.
    """
    grid = bytearray(clues)
    left = blanks - grid.count(0)
    for cell in rng.shuffled(len(grid)):
        if left <= 0:
            break
        if grid[cell]:
            grid[cell] = 0
            if _is_single(grid, cell, solution[cell], hardest) or _holds(bytes(grid), cell, solution[cell], hardest):
                left -= 1
            else:
                grid[cell] = solution[cell]
    return bytes(grid)


def _holds(clues: bytes, cell: int, digit: int, hardest: Technique) -> bool:
    """Whether a puzzle still meets the condition after `digit` was taken from `cell`.

    It had one solution before; so another one would have another digit there.
    """
    if hardest is not Technique.GUESSING:
        return yields_to(clues, hardest)
    found = search(clues, budget=DIG_NODES, without=(cell, digit))
    return found.exhausted and not found.solutions


def _is_single(grid: bytearray, cell: int, digit: int, hardest: Technique) -> bool:
    """Whether the digit follows at once as a naked single or, where the condition admits it, as a hidden one.

    Then the puzzle is as hard as it was with the digit. This only spares the full check.
    """
    size = size_of(grid)
    board = geometry(size)
    own = [board.units[unit] for unit in board.units_of[cell]]
    if len({grid[peer] for unit in own for peer in unit}) == size:  # all digits but one, and the blank's 0
        return True
    if hardest is Technique.NAKED_SINGLE:
        return False
    return any(all(grid[peer] or peer == cell or _sees(grid, peer, digit) for peer in unit) for unit in own)


def _sees(grid: bytearray, cell: int, digit: int) -> bool:
    """Whether a clue in one of the cell's units holds the digit."""
    board = geometry(size_of(grid))
    return any(grid[peer] == digit for unit in board.units_of[cell] for peer in board.units[unit])

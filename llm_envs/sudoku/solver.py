"""Solving Sudoku, and proving that a puzzle has one solution, in pure Python.

Sudoku is an exact cover: each of the candidates (cell, digit) meets four constraints (its cell is filled; its row, its
column, its box holds its digit), and a solution meets each constraint once. Here the whole cover is *one* integer. Each
constraint is a lane of `size` bits, one for each candidate that can meet it, and a guard bit above them, so that a few
operations on the integer test every constraint at once: a lane that is empty is a contradiction, a lane with one bit is
a naked single (a cell's lane) or a hidden single (a unit's). Branching takes a lane with the fewest candidates (minimum
remaining values, Knuth's rule for exact covers, arXiv cs/0011047), the first one among equals.

Singles lead to the same fixpoint in whatever order they are placed, and branching depends on the fixpoint alone: any
other implementation of these two rules visits the same nodes (`llm_envs.sudoku.fast` does).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from llm_envs.sudoku.geometry import geometry, size_of

NODES = 20_000  # more than any 9x9 puzzle needs; a bound for 16x16 boards with few clues


@dataclass(frozen=True, slots=True)
class Cover:
    """The exact cover of one size as masks. Candidate `cell * size + digit - 1` stands for a digit in a cell.

    Attributes:
        guards, lows: the guard bit and the lowest bit of each lane.
        cell_guards: the guard bits of the cells' lanes, which come first.
        full: all candidates.
        bits: the four bits of each candidate.
        lanes: the guard bits of the four lanes of each candidate.
        keep: what is left of all candidates once this one is chosen; itself included.
        others: all candidates but this one.
        candidate_at: the candidate that a bit belongs to.
    """

    size: int
    guards: int
    lows: int
    cell_guards: int
    full: int
    bits: tuple[int, ...]
    lanes: tuple[int, ...]
    keep: tuple[int, ...]
    others: tuple[int, ...]
    candidate_at: tuple[int, ...]


@cache
def cover(size: int) -> Cover:
    """The cover of a size, built on first use (0.1 s for 16x16)."""
    board = geometry(size)
    lanes = _members(size)
    width = size + 1
    guard_of = [1 << (lane * width + size) for lane in range(len(lanes))]
    bits, guards = [0] * size**3, [0] * size**3
    candidate_at = [0] * (len(lanes) * width)
    for lane, members in enumerate(lanes):
        for place, candidate in enumerate(members):
            bits[candidate] |= 1 << (lane * width + place)
            guards[candidate] |= guard_of[lane]
            candidate_at[lane * width + place] = candidate
    full = sum(bits)
    lane_bits = [sum(bits[candidate] for candidate in members) for members in lanes]
    conflicts = [0] * size**3
    for lane, members in enumerate(lanes):
        for candidate in members:
            conflicts[candidate] |= lane_bits[lane]
    return Cover(
        size=size,
        guards=sum(guard_of),
        lows=sum(1 << (lane * width) for lane in range(len(lanes))),
        cell_guards=sum(guard_of[: board.cells]),
        full=full,
        bits=tuple(bits),
        lanes=tuple(guards),
        keep=tuple(full & ~conflict | own for conflict, own in zip(conflicts, bits, strict=True)),
        others=tuple(full & ~own for own in bits),
        candidate_at=tuple(candidate_at),
    )


def _members(size: int) -> list[list[int]]:
    """The candidates of each lane: the cells' lanes, then (row, digit), (column, digit), (box, digit)."""
    digits = range(size)
    units = geometry(size).units
    cells = [[cell * size + digit for digit in digits] for cell in range(size * size)]
    return cells + [[cell * size + digit for cell in unit] for unit in units for digit in digits]


class Position(NamedTuple):
    """A node of the search.

    Attributes:
        open: the candidates left, chosen ones included.
        done: the guard bits of the constraints that chosen candidates meet.
        chosen: the candidates chosen beyond the clues.
    """

    open: int
    done: int
    chosen: tuple[int, ...] = ()


def position(clues: bytes) -> Position:
    """The candidates that clues leave. Clues that break a rule leave a lane empty, which `close` reports."""
    size = size_of(clues)
    keep, lanes = cover(size).keep, cover(size).lanes
    open_, done = cover(size).full, 0
    candidate = -1
    for digit in clues:
        if digit:
            open_ &= keep[candidate + digit]
            done |= lanes[candidate + digit]
        candidate += size
    return Position(open_, done)


def close(board: Cover, node: Position, scope: int | None = None) -> Position | None:
    """Place singles until none is left; None where a constraint has no candidate.

    Args:
        board: the cover.
        node: where to start.
        scope: guard bits of the lanes in which singles are looked for (default: all, so naked and hidden ones).
    """
    guards, lows, size = board.guards, board.lows, board.size
    keep, lanes, others, candidate_at = board.keep, board.lanes, board.others, board.candidate_at
    open_, done = node.open, node.done
    scope = guards if scope is None else scope
    chosen: list[int] = []
    while True:
        # Taking 1 from a lane clears its lowest bit and all guards below stay: only an empty lane borrows from its own.
        less_one = (open_ | guards) - lows
        if less_one & guards != guards:
            return None
        several = ((open_ & less_one) | guards) - lows & guards
        single = (guards ^ (several | done)) & scope
        if not single:
            return Position(open_, done, node.chosen + tuple(chosen))
        found = open_ & (single - (single >> size))
        while found:
            candidate = candidate_at[found.bit_length() - 1]
            chosen.append(candidate)
            open_ &= keep[candidate]
            done |= lanes[candidate]
            found &= others[candidate]


def branch(board: Cover, node: Position) -> list[int]:
    """The candidates of the first lane with the fewest ones, at least two; the node is closed and not a solution."""
    guards, lows = board.guards, board.lows
    more = node.open
    more &= (more | guards) - lows  # each lane without its lowest candidate
    while True:
        most = more & ((more | guards) - lows)
        fewest = ((more | guards) - lows & guards) & ~((most | guards) - lows)
        if fewest:
            break
        more = most
    lane = fewest & -fewest
    found = node.open & (lane - (lane >> board.size))
    candidates: list[int] = []
    while found:
        candidates.append(board.candidate_at[found.bit_length() - 1])
        found &= board.others[candidates[-1]]
    return candidates[::-1]


class Search(NamedTuple):
    """What a search found.

    Attributes:
        solutions: complete grids, in the order of the search, at most as many as asked for.
        nodes: positions closed.
        exhausted: whether no further solution exists; False where the limit or the budget ended the search.
    """

    solutions: tuple[bytes, ...]
    nodes: int
    exhausted: bool


def search(
    clues: bytes,
    *,
    limit: int = 1,
    budget: int = NODES,
    without: tuple[int, int] | None = None,
    pick: Callable[[int], int] | None = None,
) -> Search:
    """Depth-first search for up to `limit` solutions.

    Args:
        clues: the grid; its filled cells stay.
        limit: solutions after which the search ends.
        budget: nodes after which it gives up.
        without: a cell and a digit that it must not hold.
        pick: of `n` candidates to branch on, the number of the one that is tried first (the others follow in turn);
            the first one by default.
    """
    size = size_of(clues)
    board = cover(size)
    root = position(clues)
    if without is not None:
        cell, digit = without
        root = root._replace(open=root.open & board.others[cell * size + digit - 1])
    stack: list[tuple[Position, int | None]] = [(root, None)]  # a child is made when its turn comes: most never are
    solutions: list[bytes] = []
    nodes = 0
    while stack:
        if nodes == budget:
            return Search(tuple(solutions), nodes, exhausted=False)
        nodes += 1
        node, choice = stack.pop()
        closed = close(board, node if choice is None else _chosen(board, node, choice))
        if closed is None:
            continue
        if closed.done == board.guards:
            solutions.append(_filled(clues, closed.chosen, size))
            if len(solutions) == limit:
                return Search(tuple(solutions), nodes, exhausted=not stack)
            continue
        candidates = branch(board, closed)
        first = 0 if pick is None else pick(len(candidates))
        stack += [(closed, candidate) for candidate in reversed(candidates[first:] + candidates[:first])]
    return Search(tuple(solutions), nodes, exhausted=True)


def _chosen(board: Cover, node: Position, candidate: int) -> Position:
    return Position(node.open & board.keep[candidate], node.done | board.lanes[candidate], (*node.chosen, candidate))


def _filled(clues: bytes, chosen: tuple[int, ...], size: int) -> bytes:
    grid = bytearray(clues)
    for candidate in chosen:
        grid[candidate // size] = candidate % size + 1
    return bytes(grid)


def solve(clues: bytes) -> bytes | None:
    """A solution, the first one in the order of the search; None where there is none (or none within the budget)."""
    found = search(clues).solutions
    return found[0] if found else None

"""Reference players of Plan-Path: oracle, greedy, random, and the weak one that warm-starts tiny models."""

import random
from collections.abc import Callable, Sequence

from llm_envs.plan_path.board import MOVES, Board, Move, legal_moves, shortest_moves, targets
from llm_envs.plan_path.state import State

WEAK_TOWARDS = 0.15  # how often the weak player picks a move towards the goal; else any legal move
WEAK_LONGEST = 3
SOLVER_PROGRAMS = 0.25  # how often a random or weak single agent writes a program instead of moving

# Breadth-first search from the goal, so that following falling distances from the agent gives a shortest list.
_SEARCH = """\
import sys
grid = sys.stdin.read().split()
size = len(grid)
cells = {(r, c): grid[r][c] for r in range(size) for c in range(size)}
steps = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
here = next(cell for cell, mark in cells.items() if mark == "@")
goal = next(cell for cell, mark in cells.items() if mark == "G")
distance = {goal: 0}
queue = [goal]
for r, c in queue:
    for dr, dc in steps.values():
        near = (r + dr, c + dc)
        if cells.get(near, "#") != "#" and near not in distance:
            distance[near] = distance[r, c] + 1
            queue.append(near)
moves = []
while here != goal and len(moves) < LIMIT:
    for word, (dr, dc) in steps.items():
        near = (here[0] + dr, here[1] + dc)
        if distance.get(near, len(cells)) < distance[here]:
            moves.append(word)
            here = near
            break
print(*moves)
"""


def oracle_moves(state: State, limit: int, _rng: random.Random) -> list[Move]:
    """The start of a shortest path."""
    return shortest_moves(state.board, state.position, limit)


def greedy_moves(state: State, limit: int, rng: random.Random) -> list[Move]:
    """Moves that each reduce the straight-line (Manhattan) distance; one random legal move where none does."""
    moves: list[Move] = []
    cell = state.position
    while len(moves) < limit and (nearer := _towards(state.board, cell)):
        moves.append(nearer[0])
        cell = targets(state.board.size)[cell][nearer[0]]
    return moves or [_pick(legal_moves(state.board, cell), rng)]


def random_moves(_state: State, limit: int, rng: random.Random) -> list[Move]:
    """A list of random length and random moves, blocked ones included."""
    return [_pick(MOVES, rng) for _ in range(1 + int(rng.random() * limit))]


def weak_moves(state: State, limit: int, rng: random.Random) -> list[Move]:
    """One to three legal moves: each with probability 0.15 one that reduces the Manhattan distance, else any."""
    moves: list[Move] = []
    cell = state.position
    for _ in range(1 + int(rng.random() * min(WEAK_LONGEST, limit))):
        nearer = _towards(state.board, cell) if rng.random() < WEAK_TOWARDS else []
        move = _pick(nearer or legal_moves(state.board, cell), rng)
        moves.append(move)
        cell = targets(state.board.size)[cell][move]
        if cell == state.board.goal:
            break
    return moves


PLAYERS: dict[str, Callable[[State, int, random.Random], list[Move]]] = {
    "oracle": oracle_moves,
    "greedy": greedy_moves,
    "random": random_moves,
    "weak": weak_moves,
}


def reference_reply(player: str, state: State, role: str, limit: int, rng: random.Random, *, full: bool) -> str:
    """What a reference player says, in the format its observation asks for: bare in `local`, tagged or fenced in
    `full`.

    A tool prints the list that it would play; in `full` the oracle's program really searches the grid it reads.
    """
    moves = PLAYERS[player](state, limit, rng)
    programs = role == "tool"
    if role == "solver" and player in {"random", "weak"}:
        programs = state.candidate is None and rng.random() < SOLVER_PROGRAMS
    if not programs:
        return f"<answer>{' '.join(moves)}</answer>" if full else " ".join(moves)
    if not full:
        return f'print("{" ".join(moves)}")'
    code = _SEARCH.replace("LIMIT", str(limit)) if player == "oracle" else f'print("{" ".join(moves)}")\n'
    return f"```python\n{code}```"


def _towards(board: Board, cell: int) -> list[Move]:
    """The legal moves that reduce the Manhattan distance to the goal."""
    size, goal = board.size, board.goal

    def manhattan(place: int) -> int:
        return abs(place // size - goal // size) + abs(place % size - goal % size)

    here = manhattan(cell)
    return [move for move in legal_moves(board, cell) if manhattan(targets(size)[cell][move]) < here]


def _pick(moves: Sequence[Move], rng: random.Random) -> Move:
    return moves[int(rng.random() * len(moves))]

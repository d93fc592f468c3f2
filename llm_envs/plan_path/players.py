"""Reference players of Plan-Path: oracle, greedy, random, and the weak one that warm-starts tiny models."""

import random
from collections.abc import Callable, Mapping, Sequence

from llm_envs.plan_path.board import Board, legal_moves, shortest_moves
from llm_envs.plan_path.moves import Move
from llm_envs.plan_path.programs import search_program
from llm_envs.plan_path.state import State

WEAK_TOWARDS = 0.15  # how often the weak player picks a move towards the goal; else any legal move
WEAK_LONGEST = 3
SOLVER_PROGRAMS = 0.25  # how often a random or weak single agent writes a program instead of moving


def oracle_moves(state: State, limit: int, _rng: random.Random) -> list[Move]:
    """The start of a cheapest path."""
    return shortest_moves(state.board, state.position, limit)


def greedy_moves(state: State, limit: int, rng: random.Random) -> list[Move]:
    """Moves that each reduce the Manhattan distance to the goal, at the least cost for each cell nearer; one random
    legal move where none does. Nothing is looked ahead, so that walls trap it and costs beyond the next cell surprise
    it.
    """
    board, cell = state.board, state.position
    moves: list[Move] = []
    while len(moves) < limit and (nearer := _towards(board, cell)):
        moves.append(_cheapest(board, cell, nearer))
        cell = board.ways[cell][moves[-1]]
    return moves or [_pick(legal_moves(board, cell), rng)]


def random_moves(state: State, limit: int, rng: random.Random) -> list[Move]:
    """A list of random length and random moves, blocked ones included."""
    return [_pick(state.board.moves, rng) for _ in range(1 + int(rng.random() * limit))]


def weak_moves(state: State, limit: int, rng: random.Random) -> list[Move]:
    """One to three legal moves: each with probability 0.15 one that reduces the Manhattan distance, else any."""
    moves: list[Move] = []
    cell = state.position
    for _ in range(1 + int(rng.random() * min(WEAK_LONGEST, limit))):
        nearer = list(_towards(state.board, cell)) if rng.random() < WEAK_TOWARDS else []
        move = _pick(nearer or legal_moves(state.board, cell), rng)
        moves.append(move)
        cell = state.board.ways[cell][move]
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
    if player != "oracle":
        return f'```python\nprint("{" ".join(moves)}")\n```'
    board = state.board
    return f"```python\n{search_program(limit, weighted=board.highest > 1, diagonal=board.diagonal)}```"


def _towards(board: Board, cell: int) -> dict[Move, int]:
    """The legal moves that reduce the Manhattan distance to the goal, and by how much."""
    size, goal = board.size, board.goal

    def manhattan(place: int) -> int:
        return abs(place // size - goal // size) + abs(place % size - goal % size)

    here, ways = manhattan(cell), board.ways[cell]
    gains = {move: here - manhattan(ways[move]) for move in legal_moves(board, cell)}
    return {move: gain for move, gain in gains.items() if gain > 0}


def _cheapest(board: Board, cell: int, gains: Mapping[Move, int]) -> Move:
    """The move that costs least for each cell that it gains; among equals the first."""
    ways, costs = board.ways[cell], board.costs
    return min(gains, key=lambda move: costs[ways[move]] / gains[move])


def _pick(moves: Sequence[Move], rng: random.Random) -> Move:
    return moves[int(rng.random() * len(moves))]

"""Reference players of Sokoban: oracle, greedy, random, and the weak one that warm-starts models."""

import random
from collections.abc import Callable, Sequence

from llm_envs.sokoban.board import MOVES, Board, Move, legal_moves, spread, walk
from llm_envs.sokoban.deadlocks import assess
from llm_envs.sokoban.plans import plan_from
from llm_envs.sokoban.solver import Push, moves_of, successors
from llm_envs.sokoban.state import State

WEAK_GREEDY = 0.3  # how often the weak player makes the greedy one's move; else any legal one
WEAK_LONGEST = 3
SOLVER_PROGRAMS = 0.25  # how often a random or weak single agent writes a program instead of moving


def oracle_moves(state: State, limit: int, rng: random.Random) -> list[Move]:
    """The start of a plan; what the greedy player would do where none is known, as in a deadlock."""
    plan = plan_from(state.board, state.level)
    return list(plan[:limit]) if plan else greedy_moves(state, limit, rng)


def greedy_moves(state: State, limit: int, rng: random.Random) -> list[Move]:
    """Pushes that each raise the potential most, with the walks to them; one random legal move where none does."""
    board, moves = state.board, list[Move]()
    while len(moves) < limit and (ahead := _best_push(board)):
        moves += ahead
        board = walk(board, ahead).end
    return moves[:limit] or [_pick(_possible(board), rng)]


def random_moves(_state: State, limit: int, rng: random.Random) -> list[Move]:
    """A list of random length and random moves, blocked ones included."""
    return [_pick(MOVES, rng) for _ in range(1 + int(rng.random() * limit))]


def weak_moves(state: State, limit: int, rng: random.Random) -> list[Move]:
    """One to three legal moves: each with probability 0.3 the greedy player's, else any."""
    board, moves = state.board, list[Move]()
    for _ in range(1 + int(rng.random() * min(WEAK_LONGEST, limit))):
        ahead = _best_push(board) if rng.random() < WEAK_GREEDY else []
        moves.append(ahead[0] if ahead else _pick(_possible(board), rng))
        board = walk(board, moves[-1:]).end
        if board.solved:
            break
    return moves


PLAYERS: dict[str, Callable[[State, int, random.Random], list[Move]]] = {
    "oracle": oracle_moves,
    "greedy": greedy_moves,
    "random": random_moves,
    "weak": weak_moves,
}


def reference_reply(player: str, state: State, role: str, limit: int, rng: random.Random) -> str:
    """What a reference player says; a tool's program prints the list that it would play."""
    moves = " ".join(PLAYERS[player](state, limit, rng))
    programs = role == "tool"
    if role == "solver" and player in {"random", "weak"}:
        programs = state.candidate is None and rng.random() < SOLVER_PROGRAMS
    return f'```python\nprint("{moves}")\n```' if programs else f"<answer>{moves}</answer>"


def _best_push(board: Board) -> list[Move]:
    """Walk and push that raise the potential most, the first among equals; empty where no push raises it."""
    room, boxes = board.room, board.boxes
    reach = spread(1 << board.player, room.floor & ~boxes, room.cols)
    best, found = assess(room, boxes).potential, None
    for after, cell, move in successors(room, boxes, reach, room.floor):
        potential = assess(room, after).potential
        if potential > best:
            best, found = potential, Push(cell, move)
    return moves_of(board, [found]) if found else []


def _possible(board: Board) -> Sequence[Move]:
    """The legal moves; all where a player is walled in by boxes that cannot move."""
    return legal_moves(board) or MOVES


def _pick(moves: Sequence[Move], rng: random.Random) -> Move:
    return moves[int(rng.random() * len(moves))]

"""`PlanPathTask`: the rules, rewards and roles of Plan-Path as pure functions of a state."""

import random
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Any

from llm_envs.core.errors import UsageError, require, unknown_choice, whole_number
from llm_envs.core.parsing import Unparsed
from llm_envs.core.task import Job, Result, Split, Transition
from llm_envs.plan_path.board import MAX_SIZE, MIN_SIZE, Board, walk
from llm_envs.plan_path.generator import Dials, generate
from llm_envs.plan_path.observation import View, observe_full, observe_local
from llm_envs.plan_path.players import PLAYERS, reference_reply
from llm_envs.plan_path.replies import Moves, Script, parse_moves, read_reply
from llm_envs.plan_path.state import State, parse, render
from llm_envs.sandbox.base import Status

HIT_PENALTY = 0.05
WASTE_PENALTY = 0.01
MOST_WALLS = 0.5
MOST_MOVES = 256
PROGRAM_CPU_S, PROGRAM_WALL_S = 2.0, 10.0
PROGRAM_OUTPUT = 1 << 14  # bytes; the longest list has under 2 KiB
REPORT_CHARACTERS = 300  # of what a failed program said

Action = Moves | Script


class Team(StrEnum):
    """Who plays: a tool and a planner, or a single agent with the same tool access."""

    TEAM = "team"
    SINGLE = "single"


class PlanPathTask:
    """Plan-Path as a pure task. See `llm_envs.plan_path_v0` for the meaning of the options."""

    players = tuple(PLAYERS)

    def __init__(
        self,
        *,
        size: int = 8,
        walls: float = 0.2,
        min_path: int = 4,
        max_moves: int = 20,
        observation: str = "full",
        roles: str = "team",
        max_cycles: int = 8,
    ) -> None:
        """Check the options; `max_cycles` bounds the length of paths, so that every instance can be solved in time.

        Raises:
            UsageError: an option outside what is allowed.
        """
        size = whole_number("size", size, least=MIN_SIZE, most=MAX_SIZE)
        require(isinstance(walls, (int, float)) and 0 <= walls <= MOST_WALLS, "walls", walls, f"0 to {MOST_WALLS}")
        self.max_moves = whole_number("max_moves", max_moves, least=1, most=MOST_MOVES)
        within = self.max_moves * whole_number("max_cycles", max_cycles, least=1)
        min_path = whole_number("min_path", min_path, least=1, most=2 * (size - 1))
        if min_path > within:
            raise UsageError(
                f"min_path={min_path}: must be at most max_moves * max_cycles = {within}, or none could arrive in time."
            )
        if observation not in set(View):
            raise unknown_choice("observation", observation, View)
        if roles not in set(Team):
            raise unknown_choice("roles", roles, Team)
        self.dials = Dials(size, float(walls), min_path, within)
        self.view = View(observation)
        self.roles: tuple[str, ...] = ("solver",) if roles == Team.SINGLE else ("tool", "planner")

    # ---- instances

    def instance(self, split: Split, index: int) -> State:
        return _start(self.dials, split, index)

    def load(self, description: Any) -> State:
        """The state a grid text describes (see `llm_envs.plan_path_v0` for its symbols)."""
        require(isinstance(description, str), "options['task']", description, "a grid as text")
        state = parse(description)
        require(not state.solved, "options['task']", description, "a grid in which the goal is not reached yet")
        return state

    # ---- turns

    def observe(self, state: State, role: str, feedback: str) -> str:
        if self.view is View.LOCAL:
            return observe_local(state, role, feedback)
        return observe_full(state, role, feedback, self.max_moves)

    def parse(self, state: State, role: str, text: str) -> Action | Unparsed:
        return read_reply(role, text, self.max_moves)

    def jobs(self, state: State, role: str, action: Action) -> tuple[Job, ...]:
        if not isinstance(action, Script):
            return ()
        stdin = state.board.text_at(state.position) if self.view is View.FULL else ""
        return (Job(action.code, stdin, cpu_s=PROGRAM_CPU_S, wall_s=PROGRAM_WALL_S, output_bytes=PROGRAM_OUTPUT),)

    def apply(self, state: State, role: str, action: Action, results: Sequence[Result]) -> Transition[State]:
        if isinstance(action, Script):
            return self._suggest(state, results[0])
        return self._move(state, action)

    def _move(self, state: State, moves: Moves) -> Transition[State]:
        board = state.board
        went = walk(board, state.position, moves)
        distance = board.distances[state.position]
        penalties = {
            "hit_penalty": _penalty(HIT_PENALTY, went.hits),
            "waste_penalty": _penalty(WASTE_PENALTY, went.wasted),
        }
        info = {
            "hits": went.hits,
            "wasted": went.wasted,
            "progress": distance - board.distances[went.end],
            "optimal_moves": distance,
        }
        # A candidate belongs to the position it was found for: it goes when the agent moves on.
        after = State(board, went.end, None, state.report, moves, went.hits)
        return Transition(after, penalties, info)

    def _suggest(self, state: State, result: Result) -> Transition[State]:
        board, distance = state.board, state.distance
        ran = result.status is Status.OK
        moves = parse_moves(result.stdout) if ran else None
        if moves is not None and len(moves) > self.max_moves:
            moves = None
        after = State(board, state.position, moves, _report(result, self.max_moves), state.last_moves, state.last_hits)
        if moves is None:
            return Transition(after, {"program": -1.0}, {"tool_useful": False, "program_ran": ran})
        went = walk(board, state.position, moves)
        reached, best = board.distances[went.end], max(0, distance - self.max_moves)
        penalties = {
            "shortfall": min(0.0, board.potentials[reached] - board.potentials[best]),
            "hit_penalty": _penalty(HIT_PENALTY, went.hits),
        }
        return Transition(after, penalties, {"tool_useful": reached < distance, "program_ran": True})

    # ---- the state as a whole

    def potential(self, state: State) -> float:
        return state.board.potentials[state.board.distances[state.position]]

    def solved(self, state: State) -> bool:
        return state.solved

    def finished(self, state: State) -> bool:
        return state.solved

    def text(self, state: State) -> str:
        return render(state)

    def reference(self, player: str, state: State, role: str, rng: random.Random) -> str:
        return reference_reply(player, state, role, self.max_moves, rng, full=self.view is View.FULL)


@lru_cache(maxsize=1024)  # K branches of an instance and repeated evaluations share the board
def _start(dials: Dials, split: Split, index: int) -> State:
    board: Board = generate(dials, split, index)
    return State(board, board.start)


def _penalty(each: float, count: int) -> float:
    return max(-1.0, -each * count) if count else 0.0


def _report(result: Result, limit: int) -> str:
    """What a program did, in words for its author."""
    if result.status is not Status.OK:
        said = result.stderr.strip().splitlines()
        why = f": {said[-1][:REPORT_CHARACTERS]}" if said else ""
        return f"failed ({result.status}{why})"
    moves = parse_moves(result.stdout)
    if moves is None:
        return f"printed no list of moves but {result.stdout.strip()[:REPORT_CHARACTERS]!r}"
    many = f", which are more than the {limit} allowed" if len(moves) > limit else ""
    return f"printed {' '.join(moves[:limit])}{many}"

"""`SokobanTask`: the rules, rewards and roles of Sokoban as pure functions of a state."""

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from llm_envs.core.errors import require, whole_number
from llm_envs.core.move_lists import list_report
from llm_envs.core.parsing import Unparsed
from llm_envs.core.task import Result, Split, Transition
from llm_envs.core.tool_use import PROGRAM_OUTPUT, Script, team_roles
from llm_envs.sandbox.base import Program, Status
from llm_envs.sokoban.board import Board, Walk, walk
from llm_envs.sokoban.deadlocks import assess
from llm_envs.sokoban.generator import Dials, Level, generate
from llm_envs.sokoban.observation import observe
from llm_envs.sokoban.plans import plan_from
from llm_envs.sokoban.players import PLAYERS, reference_reply
from llm_envs.sokoban.presets import make_dials
from llm_envs.sokoban.replies import WORDS, Moves, parse_moves, read_reply
from llm_envs.sokoban.solver import moves_of, solve, tighten
from llm_envs.sokoban.state import State, parse, render

HIT_PENALTY = 0.05
MOST_MOVES = 256
PROGRAM_CPU_S, PROGRAM_WALL_S = 5.0, 15.0  # room for a search that a model writes

Action = Moves | Script


class SokobanTask:
    """Sokoban as a pure task. See `llm_envs.sokoban_v0` for the meaning of the options."""

    players = tuple(PLAYERS)

    def __init__(
        self,
        *,
        difficulty: str = "easy",
        size: int | Sequence[int] | None = None,
        boxes: int | None = None,
        shape: str | None = None,
        walls: float | None = None,
        min_pushes: int | None = None,
        max_moves: int = 20,
        terminate_on_deadlock: bool = False,
        node_budget: int = 1000,
        roles: str = "team",
        max_cycles: int = 8,
    ) -> None:
        """Check the options; `max_cycles` bounds the length of plans, so that every room can be solved in time.

        Raises:
            UsageError: an option outside what is allowed.
        """
        self.max_moves = whole_number("max_moves", max_moves, least=1, most=MOST_MOVES)
        self.dials = make_dials(
            difficulty=difficulty,
            size=size,
            boxes=boxes,
            shape=shape,
            walls=walls,
            min_pushes=min_pushes,
            max_moves=self.max_moves * whole_number("max_cycles", max_cycles, least=1),
        )
        deadlock_ends = terminate_on_deadlock
        require(isinstance(deadlock_ends, bool), "terminate_on_deadlock", deadlock_ends, "True or False")
        self._deadlock_ends = deadlock_ends
        self._node_budget = whole_number("node_budget", node_budget, least=0)
        self.roles = team_roles(roles)

    # ---- instances

    def instance(self, split: Split, index: int) -> State:
        return _start(self.dials, split, index, self._node_budget)

    def load(self, description: Any) -> State:
        """The state of a level in XSB (see `llm_envs.sokoban_v0`), which must not be solved, nor proven unsolvable."""
        require(isinstance(description, str), "options['task']", description, "a level as text")
        state = parse(description)
        board = state.board
        require(not board.solved, "options['task']", description, "a level that is not solved yet")
        solution = solve(board, self._node_budget)
        require(solution.bounds.lower is not None, "options['task']", description, "a level that can be solved")
        moves = None if solution.pushes is None else tuple(moves_of(board, solution.pushes))
        return state._replace(level=Level(board, moves, solution.bounds))

    # ---- turns

    def observe(self, state: State, role: str, feedback: str) -> str:
        return observe(state, role, feedback, self.max_moves, alone=self.roles == ("planner",))

    def parse(self, state: State, role: str, text: str) -> Action | Unparsed:
        return read_reply(role, text, self.max_moves)

    def jobs(self, state: State, role: str, action: Action) -> tuple[Program, ...]:
        if not isinstance(action, Script):
            return ()
        stdin = state.board.text + "\n"
        return (Program(action.code, stdin, cpu_s=PROGRAM_CPU_S, wall_s=PROGRAM_WALL_S, output_bytes=PROGRAM_OUTPUT),)

    def apply(self, state: State, role: str, action: Action, results: Sequence[Result]) -> Transition[State]:
        if isinstance(action, Script):
            return self._suggest(state, results[0])
        return self._move(state, action)

    def _move(self, state: State, moves: Moves) -> Transition[State]:
        level, went = state.level, walk(state.board, moves)
        room, boxes = went.end.room, went.end.boxes
        found, bounds = assess(room, boxes), None if level is None else level.bounds
        info = {
            "moves": went.moves,
            "pushes": went.pushes,
            "hits": went.hits,
            "boxes_on_goals": (boxes & room.goals).bit_count(),
            "pushes_left": found.pushes,
            "deadlock": found.deadlock and found.deadlock.value,
            "optimal_pushes": bounds and bounds.optimal,
            "pushes_lower": bounds and bounds.lower,
            "pushes_upper": bounds and bounds.upper,
        }
        # A candidate belongs to the position it was found for: it goes when moves are made.
        after = State(went.end, level, None, state.report, moves, went.hits)
        return Transition(after, {"hit_penalty": _penalty(went)}, info)

    def _suggest(self, state: State, result: Result) -> Transition[State]:
        ran = result.status is Status.OK
        moves = parse_moves(result.stdout) if ran else None
        if moves is not None and len(moves) > self.max_moves:
            moves = None
        after = state._replace(candidate=moves, report=list_report(result, WORDS, self.max_moves))
        if moves is None:
            return Transition(after, {"program": -1.0}, {"tool_useful": False, "program_ran": ran})
        went = walk(state.board, moves)
        useful = _potential(went.end) > _potential(state.board)
        penalties = {"shortfall": self._shortfall(state, went), "hit_penalty": _penalty(went)}
        return Transition(after, penalties, {"tool_useful": useful, "program_ran": True})

    def _shortfall(self, state: State, went: Walk) -> float:
        """What a list falls short of the first `max_moves` moves of a plan, in potential; 0 where it does not.

        A list that leaves the boxes as they are, where the plan does not, counts as potential 0: else it would pass for
        perfect wherever a plan has to move a box away first. Where no plan is known, the measure is the solution.
        """
        plan = plan_from(state.board, state.level)
        if plan is None:
            return _potential(went.end) - 1.0
        aim = walk(state.board, plan[: self.max_moves])
        if aim.pushes and went.end.boxes == state.board.boxes:
            return -_potential(aim.end)
        return min(0.0, _potential(went.end) - _potential(aim.end))

    # ---- the state as a whole

    def potential(self, state: State) -> float:
        return _potential(state.board)

    def solved(self, state: State) -> bool:
        return state.board.solved

    def finished(self, state: State) -> bool:
        board = state.board
        return board.solved or (self._deadlock_ends and assess(board.room, board.boxes).deadlock is not None)

    def text(self, state: State) -> str:
        return render(state)

    def reference(self, player: str, state: State, role: str, rng: random.Random) -> str:
        return reference_reply(player, state, role, self.max_moves, rng)


@lru_cache(maxsize=1024)  # K branches of an instance and repeated evaluations share the room
def _start(dials: Dials, split: Split, index: int, node_budget: int) -> State:
    level = generate(dials, split, index)
    bounds = tighten(level.start, level.bounds, node_budget)
    return State(level.start, replace(level, bounds=bounds))


def _potential(board: Board) -> float:
    return assess(board.room, board.boxes).potential


def _penalty(went: Walk) -> float:
    return max(-1.0, -HIT_PENALTY * went.hits) if went.hits else 0.0

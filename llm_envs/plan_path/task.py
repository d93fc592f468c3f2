"""`PlanPathTask`: the rules, rewards and roles of Plan-Path as pure functions of a state."""

import random
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from llm_envs.core.errors import require, unknown_choice, whole_number
from llm_envs.core.move_lists import list_report
from llm_envs.core.parsing import Unparsed
from llm_envs.core.task import Result, Split, Transition
from llm_envs.core.tool_use import PROGRAM_OUTPUT, Script, Team, team_roles
from llm_envs.plan_path.board import Board, shortest_moves, walk
from llm_envs.plan_path.generator import Dials, generate
from llm_envs.plan_path.observation import Rules, View, observe_full, observe_local
from llm_envs.plan_path.players import PLAYERS, reference_reply
from llm_envs.plan_path.presets import make_dials
from llm_envs.plan_path.replies import Moves, parse_moves, read_reply, words_of
from llm_envs.plan_path.state import State, parse, render
from llm_envs.sandbox.base import Program, Status

HIT_PENALTY = 0.05
WASTE_PENALTY = 0.005  # a unit of cost; on a plain grid a step away from the goal wastes two
MOST_MOVES = 256
PROGRAM_CPU_S, PROGRAM_WALL_S = 2.0, 10.0

Action = Moves | Script


class PlanPathTask:
    """Plan-Path as a pure task. See `llm_envs.plan_path_v0` for the meaning of the options."""

    players = tuple(PLAYERS)

    def __init__(
        self,
        *,
        difficulty: str = "easy",
        size: int | None = None,
        walls: float | None = None,
        min_path: int | None = None,
        weights: int = 1,
        diagonal: bool = False,
        max_moves: int = 20,
        observation: str = "full",
        roles: str = "team",
        max_cycles: int = 8,
    ) -> None:
        """Check the options; `max_cycles` bounds the cost of paths, so that every instance can be solved in time.

        Raises:
            UsageError: an option outside what is allowed.
        """
        self.max_moves = whole_number("max_moves", max_moves, least=1, most=MOST_MOVES)
        self.dials = make_dials(
            difficulty=difficulty,
            size=size,
            walls=walls,
            min_path=min_path,
            weights=weights,
            diagonal=diagonal,
            within=self.max_moves * whole_number("max_cycles", max_cycles, least=1),
        )
        if observation not in set(View):
            raise unknown_choice("observation", observation, View)
        self.view = View(observation)
        self.roles = team_roles(roles)
        self._prompts = {role: "alone" if roles == Team.PLANNERS else role for role in self.roles}
        self._rules = Rules(self.max_moves, self.dials.weights, self.dials.diagonal)

    # ---- instances

    def instance(self, split: Split, index: int) -> State:
        return _start(self.dials, split, index)

    def load(self, description: Any) -> State:
        """The state a grid text describes (see `llm_envs.plan_path_v0` for its symbols)."""
        require(isinstance(description, str), "options['task']", description, "a grid as text")
        diagonal, weights = self.dials.diagonal, self.dials.weights
        state = parse(description, diagonal=diagonal)
        require(not state.solved, "options['task']", description, "a grid in which the goal is not reached yet")
        costs = f"a grid whose cells cost at most {weights}; make the environment with weights={state.board.highest}"
        require(state.board.highest <= weights, "options['task']", description, costs)
        ways = f"a grid with diagonal: {'yes' if diagonal else 'no'}, as the option `diagonal` of the environment says"
        require(state.board.diagonal == diagonal, "options['task']", description, ways)
        return state

    # ---- turns

    def observe(self, state: State, role: str, feedback: str) -> str:
        if self.view is View.LOCAL:
            return observe_local(state, self._prompts[role], feedback, weighted=self._rules.weights > 1)
        return observe_full(state, self._prompts[role], feedback, self._rules)

    def parse(self, state: State, role: str, text: str) -> Action | Unparsed:
        return read_reply(role, text, self.max_moves, self._rules.diagonal)

    def jobs(self, state: State, role: str, action: Action) -> tuple[Program, ...]:
        if not isinstance(action, Script):
            return ()
        stdin = state.board.text_at(state.position) if self.view is View.FULL else ""
        return (Program(action.code, stdin, cpu_s=PROGRAM_CPU_S, wall_s=PROGRAM_WALL_S, output_bytes=PROGRAM_OUTPUT),)

    def apply(self, state: State, role: str, action: Action, results: Sequence[Result]) -> Transition[State]:
        if isinstance(action, Script):
            return self._suggest(state, results[0])
        return self._move(state, action)

    def _move(self, state: State, moves: Moves) -> Transition[State]:
        board, position, _, report, _, _, paid, beyond = state
        end, hits, wasted, cost = walk(board, position, moves)
        distance = board.distances[position]
        progress = distance - board.distances[end]
        excess = cost - progress
        # A candidate belongs to the position it was found for: it goes when the agent moves on.
        after = State(board, end, None, report, moves, hits, paid + cost, beyond + excess)
        penalties = {
            "hit_penalty": _penalty(HIT_PENALTY, hits),
            "waste_penalty": _penalty(WASTE_PENALTY, excess),
        }
        info = {
            "hits": hits,
            "wasted": wasted,
            "progress": progress,
            "optimal_moves": distance if board.highest == 1 else len(shortest_moves(board, position, distance)),
            "cost": paid + cost,
            "optimal_cost": paid + distance - beyond,
            "excess_cost": beyond + excess,
        }
        return Transition(after, penalties, info)

    def _suggest(self, state: State, result: Result) -> Transition[State]:
        board, distance = state.board, state.distance
        ran = result.status is Status.OK
        moves = parse_moves(result.stdout, diagonal=board.diagonal) if ran else None
        if moves is not None and len(moves) > self.max_moves:
            moves = None
        report = list_report(result, words_of(diagonal=board.diagonal), self.max_moves)
        after = state._replace(candidate=moves, report=report)
        if moves is None:
            return Transition(after, {"program": -1.0}, {"tool_useful": False, "program_ran": ran})
        went = walk(board, state.position, moves)
        reached = board.distances[went.end]
        penalties = {
            "shortfall": min(0.0, board.potentials[reached] - board.potentials[self._within_reach(state)]),
            "hit_penalty": _penalty(HIT_PENALTY, went.hits),
        }
        return Transition(after, penalties, {"tool_useful": reached < distance, "program_ran": True})

    def _within_reach(self, state: State) -> int:
        """The distance that is left after the first `max_moves` moves of a cheapest path."""
        board = state.board
        if board.highest == 1:
            return max(0, state.distance - self.max_moves)
        return board.distances[walk(board, state.position, shortest_moves(board, state.position, self.max_moves)).end]

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

"""`SudokuTask`: the rules, rewards and roles of Sudoku as pure functions of a state."""

import random
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from llm_envs.core.errors import UsageError, require, unknown_choice, whole_number
from llm_envs.core.parsing import Unparsed
from llm_envs.core.task import Result, Split, Transition
from llm_envs.core.tool_use import PROGRAM_OUTPUT, Script, failure, output, team_roles
from llm_envs.sandbox.base import Program, Status
from llm_envs.sudoku.engine import Engine, get_engine
from llm_envs.sudoku.generator import Recipe, generate, recipe
from llm_envs.sudoku.observation import news_of, observe
from llm_envs.sudoku.players import PLAYERS, reference_reply
from llm_envs.sudoku.puzzle import play, potential
from llm_envs.sudoku.reading import Answer, read_answer
from llm_envs.sudoku.replies import read_reply
from llm_envs.sudoku.state import State, answer_text, parse, render, rows

ILLEGAL_PENALTY = 0.05
PROGRAM_CPU_S, PROGRAM_WALL_S = 5.0, 15.0  # room for a search that a model writes

Action = Answer | Script


class SudokuTask:
    """Sudoku as a pure task. See `llm_envs.sudoku_v0` for the meaning of the options."""

    players = tuple(PLAYERS)

    def __init__(
        self,
        *,
        size: int = 9,
        difficulty: str = "easy",
        blanks: int | tuple[int, int] | None = None,
        hardest: str | None = None,
        roles: str = "team",
        engine: str = "auto",
    ) -> None:
        """Check the options.

        Raises:
            UsageError: an option outside what is allowed, or puzzles that can't be made.
        """
        size = whole_number("size", size, least=1)
        self.recipe = recipe(size, difficulty, blanks, hardest)
        self.roles = team_roles(roles)
        self._engine = get_engine(engine, size)

    # ---- instances

    def instance(self, split: Split, index: int) -> State:
        return _start(self.recipe, split, index, self._engine)

    def load(self, description: Any) -> State:
        """The state of a grid of this size, or of a state's text.

        `{"puzzle": text, "allow_multiple": True}` admits a puzzle with several solutions.
        """
        fields = description if isinstance(description, Mapping) else {"puzzle": description}
        text, multiple = fields.get("puzzle"), fields.get("allow_multiple", False)
        require(isinstance(text, str), "options['task']", description, "a grid as text, or {'puzzle': text}")
        require(isinstance(multiple, bool), "options['task']['allow_multiple']", multiple, "True or False")
        for key in fields:
            if key not in {"puzzle", "allow_multiple"}:
                raise unknown_choice("options['task']", key, ("puzzle", "allow_multiple"))
        state = parse(str(text), self.recipe.size, allow_multiple=multiple, engine=self._engine)
        if state.solved:
            raise UsageError(f"options['task']={description!r}: must be a grid that is not solved yet.")
        return state

    # ---- turns

    def observe(self, state: State, role: str, feedback: str) -> str:
        return observe(state, role, feedback, alone=self.roles == ("planner",))

    def parse(self, state: State, role: str, text: str) -> Action | Unparsed:
        return read_reply(role, text, state.puzzle.size)

    def jobs(self, state: State, role: str, action: Action) -> tuple[Program, ...]:
        if not isinstance(action, Script):
            return ()
        stdin = rows(state.puzzle.clues) + "\n"
        return (Program(action.code, stdin, cpu_s=PROGRAM_CPU_S, wall_s=PROGRAM_WALL_S, output_bytes=PROGRAM_OUTPUT),)

    def apply(self, state: State, role: str, action: Action, results: Sequence[Result]) -> Transition[State]:
        if isinstance(action, Script):
            return self._suggest(state, results[0])
        return self._fill(state, action)

    def _fill(self, state: State, answer: Answer) -> Transition[State]:
        puzzle = state.puzzle
        played = play(puzzle, state.grid, state.right, state.wrong, answer.placements)
        news = news_of(puzzle, played)
        # A candidate belongs to the grid it was found for: it goes when cells are filled.
        after = State(puzzle, played.grid, played.right, played.wrong, None, state.report, news)
        info = {
            "placed": len(played.placed),
            "illegal": len(played.illegal),
            "empty": puzzle.blanks - played.right - played.wrong,
            "blanks": puzzle.blanks,
        }
        return Transition(after, {"illegal_penalty": _penalty(len(played.illegal))}, info)

    def _suggest(self, state: State, result: Result) -> Transition[State]:
        puzzle = state.puzzle
        ran = result.status is Status.OK
        answer = read_answer(result.stdout, puzzle.size) if ran else Unparsed("")
        usable = None if isinstance(answer, Unparsed) else answer
        report = _report(result, answer, puzzle.size)
        after = State(puzzle, state.grid, state.right, state.wrong, usable, report, state.news)
        if usable is None:
            return Transition(after, {"program": -1.0}, {"tool_useful": False, "program_ran": ran})
        played = play(puzzle, state.grid, state.right, state.wrong, usable.placements)
        reached = potential(puzzle, played.grid, played.right, played.wrong)
        penalties = {"shortfall": reached - 1.0, "illegal_penalty": _penalty(len(played.illegal))}
        return Transition(after, penalties, {"tool_useful": reached > state.potential, "program_ran": True})

    # ---- the state as a whole

    def potential(self, state: State) -> float:
        return state.potential

    def solved(self, state: State) -> bool:
        return state.solved

    def finished(self, state: State) -> bool:
        return state.solved

    def text(self, state: State) -> str:
        return render(state)

    def reference(self, player: str, state: State, role: str, rng: random.Random) -> str:
        return reference_reply(player, state, role, rng)


@lru_cache(maxsize=1024)  # K branches of an instance and repeated evaluations share the puzzle
def _start(wanted: Recipe, split: Split, index: int, engine: Engine) -> State:
    puzzle = generate(wanted, split, index, engine)
    return State(puzzle, puzzle.clues)


def _penalty(illegal: int) -> float:
    return max(-1.0, -ILLEGAL_PENALTY * illegal) if illegal else 0.0


def _report(result: Result, answer: Answer | Unparsed, size: int) -> str:
    """What a program did, in words for its author."""
    if failed := failure(result):
        return f"{failed}."
    if isinstance(answer, Unparsed):
        return f"printed no placements and no grid ({answer.reason}) but {output(result)}."
    return f"printed:\n{answer_text(answer, size)}"

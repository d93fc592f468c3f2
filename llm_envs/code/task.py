"""`CodeTask`: the rules, rewards and roles of the programming environment as pure functions of a state."""

import random
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Any

from llm_envs.code.datasets import NAMES, problems
from llm_envs.code.descriptions import problem_of
from llm_envs.code.families.generator import generate
from llm_envs.code.families.programs import Style
from llm_envs.code.families.table import FAMILIES
from llm_envs.code.jobs import JudgeProgram, Standing, WeighCases, Worth
from llm_envs.code.judging import Verdict, share_passed
from llm_envs.code.judging.verdicts import RAN
from llm_envs.code.observation import Stop, observe
from llm_envs.code.players import PLAYERS, reference_reply
from llm_envs.code.problem import Problem
from llm_envs.code.replies import Cases, read_reply
from llm_envs.code.state import Report, State, Tried, render
from llm_envs.core.errors import unknown_choice, whole_number
from llm_envs.core.jobs import Job
from llm_envs.core.names import Names, chosen_names
from llm_envs.core.parsing import Unparsed
from llm_envs.core.task import Split, Transition
from llm_envs.core.tool_use import Script
from llm_envs.data.collection import Collection
from llm_envs.data.source import choose_source

LEVELS = {"easy": 1, "medium": 2, "hard": 3}
MOST_CASES = 10
ATTEMPTS = 3  # wrong programs of an episode that a tester's cases are tried on
DISTINCTIVE = 20  # characters of a hidden input from which on it is in a prompt by no accident

Action = Cases | Script


class Team(StrEnum):
    """Who plays: a tester and a coder, or a single agent that may do what both may."""

    TEAM = "team"
    SINGLE = "single"


_ROLES = {Team.TEAM: ("tester", "coder"), Team.SINGLE: ("solver",)}


class CodeTask:
    """Programming problems as a pure task. See `llm_envs.code_v0` for the meaning of the options."""

    players = PLAYERS

    def __init__(
        self,
        *,
        difficulty: str = "easy",
        families: Names | None = None,
        style: str = "stdio",
        cases: int = 5,
        stop: str = "correct",
        roles: str = "team",
        dataset: str | None = None,
        path: str | None = None,
        config: str | None = None,
        sandbox: str = "auto",
    ) -> None:
        """Check the options, and load the data set where they name one, in `sandbox` what of it has to run.

        Raises:
            UsageError: an option outside what is allowed.
            ImportError, DataError, SandboxError: see `llm_envs.code.datasets.problems`.
        """
        if difficulty not in LEVELS:
            raise unknown_choice("difficulty", difficulty, LEVELS)
        if style not in set(Style):
            raise unknown_choice("style", style, Style)
        if stop not in set(Stop):
            raise unknown_choice("stop", stop, Stop)
        if roles not in set(Team):
            raise unknown_choice("roles", roles, Team)
        self.level = LEVELS[difficulty]
        self.families = chosen_names("families", families, FAMILIES)
        self.style, self.stop = Style(style), Stop(stop)
        self.cases = whole_number("cases", cases, least=1, most=MOST_CASES)
        self.roles = _ROLES[Team(roles)]
        self._source = choose_source(NAMES, dataset=dataset, path=path, config=config, families=families)
        self._sandbox = sandbox
        if self._source is not None:
            problems(self._source, sandbox)  # whatever is wrong with it shows now, not in the first episode

    # ---- instances

    @property
    def data(self) -> Collection[Problem] | None:
        """The data set, with its sizes and faults; None where problems are generated."""
        return None if self._source is None else problems(self._source, self._sandbox)

    def instance(self, split: Split, index: int) -> State:
        if (data := self.data) is not None:
            return State(data.item(split, index))
        return _start(self.families, self.level, self.style, split, index)

    def load(self, description: Any) -> State:
        """The state of a problem that is given as a mapping; see `llm_envs.code.descriptions`."""
        return State(problem_of(description))

    # ---- turns

    def observe(self, state: State, role: str, feedback: str) -> str:
        return observe(state, role, feedback, self.stop, self.cases)

    def parse(self, state: State, role: str, text: str) -> Action | Unparsed:
        return read_reply(role, text, self.cases)

    def jobs(self, state: State, role: str, action: Action) -> tuple[Job, ...]:
        problem = state.problem
        if isinstance(action, Script):
            return (JudgeProgram(problem, action.code, state.cases),)
        if action.code is not None:
            return (WeighCases(problem, action.cases, _suspects(state), action.code),)
        return (WeighCases(problem, action.cases, _suspects(state), state.program, state.on_visible),)

    def apply(self, state: State, role: str, action: Action, results: Sequence[Any]) -> Transition[State]:
        if isinstance(action, Script):
            return _hand_in(state, action.code, results[0], alone=role == "solver")
        return _test(state, action, results[0], alone=role == "solver")

    # ---- the state as a whole

    def potential(self, state: State) -> float:
        return state.share

    def solved(self, state: State) -> bool:
        return state.solved

    def finished(self, state: State) -> bool:
        if self.stop is Stop.CORRECT:
            return state.solved
        return state.agreed and self.stop is Stop.AGREEMENT

    def text(self, state: State) -> str:
        return render(state)

    def secrets(self, state: State) -> tuple[str, ...]:
        """The hidden inputs, but for those so short, or so near to what is shown, that they might be seen by chance."""
        shown = [
            state.problem.statement,
            *(text for case in state.problem.visible for text in (case.stdin, case.expected)),
        ]
        inputs = [case.stdin.strip() for case in state.problem.hidden]
        return tuple(
            stdin for stdin in inputs if len(stdin) >= DISTINCTIVE and not any(stdin in text for text in shown)
        )

    def reference(self, player: str, state: State, role: str, rng: random.Random) -> str:
        return reference_reply(player, state, role, self.cases, rng)


@lru_cache(maxsize=1024)  # K branches of an instance and repeated evaluations share the problem
def _start(families: tuple[str, ...], level: int, style: Style, split: Split, index: int) -> State:
    return State(generate(families, level, style, split, index))


def _suspects(state: State) -> tuple[str, ...]:
    """The wrong programs that a tester's cases are tried on."""
    return (*state.problem.mutants, *state.attempts)


def _hand_in(state: State, code: str, standing: Standing, *, alone: bool) -> Transition[State]:
    """A program becomes the one that counts."""
    on_visible, hidden, on_cases = standing
    visible = tuple(report.verdict for report in on_visible)
    passed = hidden.count(Verdict.PASS)
    attempts = state.attempts
    plausible = Verdict.PASS in visible or not visible
    if passed < len(hidden) and plausible and code.strip() not in {text.strip() for text in _suspects(state)}:
        attempts = (*attempts, code)[-ATTEMPTS:]
    after = state._replace(
        program=code,
        on_visible=on_visible,
        passed=passed,
        on_cases=on_cases,
        judged=True,
        attempts=attempts,
        tried=None,
        agreed=_agree(on_visible, on_cases) or (alone and code == state.program),
    )
    ran = not RAN.isdisjoint((*visible, *hidden))
    penalties = {"program": 0.0 if ran else -1.0, "visible": share_passed(visible) - 1.0 if visible else 0.0}
    info = {
        "verdict": next((str(verdict) for verdict in hidden if verdict is not Verdict.PASS), str(Verdict.PASS)),
        "passed_visible": visible.count(Verdict.PASS),
        "visible_tests": len(visible),
        "passed_hidden": passed,
        "hidden_tests": len(hidden),
        "passed_cases": sum(report.verdict is Verdict.PASS for report in on_cases),
        "cases": len(on_cases),
    }
    return Transition(after, penalties, info)


def _test(state: State, action: Cases, worth: Worth, *, alone: bool) -> Transition[State]:
    """Cases take the place of those of earlier rounds; testers of one round add to one another's."""
    kept, kept_reports = state.cases, state.on_cases
    if state.judged or alone:
        kept, kept_reports = (), ()
    on_cases = (*(report for report in kept_reports if report.case not in action.cases), *worth.on_cases)[-MOST_CASES:]
    tried = None if action.code is None else Tried(action.code, worth.on_visible)
    after = state._replace(
        cases=(*(case for case in kept if case not in action.cases), *action.cases)[-MOST_CASES:],
        on_cases=on_cases,
        judged=False,
        tried=tried,
        agreed=tried is None and state.program is not None and _agree(state.on_visible, on_cases),
    )
    info: dict[str, Any] = {"cases": len(action.cases), "suspects": len(worth.killed)}
    if worth.valid is None:  # nobody knows the right outputs: never paid, never punished
        return Transition(after, {}, info | {"valid": None, "killed": None})
    valid, killed = sum(worth.valid), sum(worth.killed)
    share = valid / len(action.cases) * (killed / len(worth.killed) if worth.killed else 1.0)
    return Transition(after, {"shortfall": share - 1.0}, info | {"valid": valid, "killed": killed})


def _agree(on_visible: tuple[Report, ...], on_cases: tuple[Report, ...]) -> bool:
    """Whether a program passes what its author may see, of which something must come from a tester."""
    return bool(on_cases) and all(report.verdict is Verdict.PASS for report in (*on_visible, *on_cases))

"""What the harness does for an action before it counts: programs are judged, and so are test cases."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from llm_envs.code.inputs import are_new
from llm_envs.code.judging import Verdict, programs, verdicts
from llm_envs.code.judging.judge import Result, outcome_of, output_of
from llm_envs.code.judging.stages import StagedWork, Stages
from llm_envs.code.problem import Case, Problem
from llm_envs.code.state import SHOWN, Report, cut
from llm_envs.core.tool_use import failure

LIMITS = frozenset({Verdict.TIMEOUT, Verdict.MEMORY, Verdict.OUTPUT})


class Standing(NamedTuple):
    """How a program did on all tests."""

    on_visible: tuple[Report, ...]
    hidden: tuple[Verdict, ...]
    on_cases: tuple[Report, ...]


@dataclass(frozen=True, slots=True)
class JudgeProgram(StagedWork[Standing]):
    """The job of judging a program that was handed in, by the tests of the problem and by the cases of testers.

    A program that ends at a limit on every visible test is not run on the others: it would take all the time there is,
    a dozen times over. They count as ended at that limit.
    """

    problem: Problem
    code: str
    cases: tuple[Case, ...]

    def stages(self) -> Stages[Standing]:
        problem, hidden = self.problem, self.problem.hidden
        on_visible = yield from _on_visible(problem, self.code)
        if stuck := _stuck(on_visible):
            return Standing(on_visible, (stuck.verdict,) * len(hidden), _all_like(stuck, self.cases))
        results = yield programs(problem, self.code, (*hidden, *self.cases))
        found = verdicts(problem, self.code, hidden, results[: len(hidden)])
        return Standing(on_visible, found, reports_on(problem, self.code, self.cases, results[len(hidden) :]))


def _on_visible(problem: Problem, code: str) -> Stages[tuple[Report, ...]]:
    results = yield programs(problem, code, problem.visible)
    return reports_on(problem, code, problem.visible, results)


def _stuck(on_visible: Sequence[Report]) -> Report | None:
    """The first report of a program that ended at a limit on every visible test; None for any other one."""
    return on_visible[0] if on_visible and all(report.verdict in LIMITS for report in on_visible) else None


def _all_like(report: Report, cases: Sequence[Case]) -> tuple[Report, ...]:
    return tuple(report._replace(case=case) for case in cases)


class Worth(NamedTuple):
    """What is known of test cases, and how a program did on the visible tests and on them.

    Attributes:
        valid: for each case whether it counts: the reference meets it, its input has the form asked for, and it is no
            copy. None without a reference.
        killed: for each wrong program whether a case that counts finds it out.
        on_visible, on_cases: of the author's program; empty without one.
    """

    valid: tuple[bool, ...] | None
    killed: tuple[bool, ...]
    on_visible: tuple[Report, ...] = ()
    on_cases: tuple[Report, ...] = ()


@dataclass(frozen=True, slots=True)
class WeighCases(StagedWork[Worth]):
    """The job of judging test cases.

    Wrong programs run only on cases that count, which takes the reference first.

    Attributes:
        suspects: wrong programs.
        code: the author's program, if there is one.
        on_visible: how that did on the visible tests; None where it is a new one.
    """

    problem: Problem
    cases: tuple[Case, ...]
    suspects: tuple[str, ...] = ()
    code: str | None = None
    on_visible: tuple[Report, ...] | None = None

    def stages(self) -> Stages[Worth]:
        on_visible, on_cases = yield from self._own()
        if not self.problem.reference:
            return Worth(None, (), on_visible, on_cases)
        valid = yield from self._valid()
        killed = yield from self._killed([case for case, counts in zip(self.cases, valid, strict=True) if counts])
        return Worth(valid, killed, on_visible, on_cases)

    def _own(self) -> Stages[tuple[tuple[Report, ...], tuple[Report, ...]]]:
        problem, code, on_visible = self.problem, self.code, self.on_visible
        if code is None:
            return (), ()
        if on_visible is None:
            on_visible = yield from _on_visible(problem, code)
        if stuck := _stuck(on_visible):
            return on_visible, _all_like(stuck, self.cases)
        results = yield programs(problem, code, self.cases)
        return on_visible, reports_on(problem, code, self.cases, results)

    def _valid(self) -> Stages[tuple[bool, ...]]:
        problem, cases = self.problem, self.cases
        results = yield programs(problem, problem.reference, cases)
        met = verdicts(problem, problem.reference, cases, results)
        news = are_new(problem, cases)
        return tuple(verdict is Verdict.PASS and new for verdict, new in zip(met, news, strict=True))

    def _killed(self, cases: Sequence[Case]) -> Stages[tuple[bool, ...]]:
        results = yield [job for suspect in self.suspects for job in programs(self.problem, suspect, cases)]
        runs = [results[place * len(cases) :][: len(cases)] for place in range(len(self.suspects))]
        return tuple(
            any(verdict is not Verdict.PASS for verdict in verdicts(self.problem, suspect, cases, run))
            for suspect, run in zip(self.suspects, runs, strict=True)
        )


def reports_on(problem: Problem, code: str, cases: Sequence[Case], results: Sequence[Result]) -> tuple[Report, ...]:
    """How a program did on tests that its author may see."""
    found = verdicts(problem, code, cases, results)
    return tuple(
        Report(case, verdict, "" if verdict is Verdict.PASS else _given(problem, code, result))
        for case, verdict, result in zip(cases, found, results, strict=True)
    )


def _given(problem: Problem, code: str, result: Result) -> str:
    """What a program gave, or why it gave nothing."""
    if failed := failure(outcome_of(result)):
        return cut(failed, SHOWN)
    return cut(output_of(problem, code, result), SHOWN)

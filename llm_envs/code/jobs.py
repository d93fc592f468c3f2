"""What test cases are worth: what the reference, wrong programs and the author's own one do on them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from llm_envs.code.judging import Verdict, programs, verdicts
from llm_envs.code.judging.judge import Result, outcome_of, output_of
from llm_envs.code.judging.stages import StagedWork, Stages
from llm_envs.code.judging.texts import words
from llm_envs.code.problem import Case, Problem
from llm_envs.code.state import SHOWN, Report, cut
from llm_envs.core.tool_use import failure


class Worth(NamedTuple):
    """What is known of test cases, and how a program did on the visible tests and on them.

    Attributes:
        valid: for each case whether it counts: the reference meets it, and it is no copy. None without a reference.
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
    """

    problem: Problem
    cases: tuple[Case, ...]
    suspects: tuple[str, ...]
    code: str | None

    def stages(self) -> Stages[Worth]:
        problem, cases, visible = self.problem, self.cases, self.problem.visible
        reference = programs(problem, problem.reference, cases) if problem.reference else ()
        own = () if self.code is None else programs(problem, self.code, (*visible, *cases))
        results = yield (*reference, *own)
        reports = reports_on(problem, self.code or "", (*visible, *cases), results[len(reference) :]) if own else ()
        shown = reports[: len(visible)], reports[len(visible) :]
        if not reference:
            return Worth(None, (), *shown)
        met = verdicts(problem, problem.reference, cases, results[: len(reference)])
        valid = tuple(
            verdict is Verdict.PASS and new for verdict, new in zip(met, are_new(problem, cases), strict=True)
        )
        counting = [case for case, counts in zip(cases, valid, strict=True) if counts]
        results = yield [job for suspect in self.suspects for job in programs(problem, suspect, counting)]
        runs = [results[place * len(counting) :][: len(counting)] for place in range(len(self.suspects))]
        killed = tuple(
            any(verdict is not Verdict.PASS for verdict in verdicts(problem, suspect, counting, run))
            for suspect, run in zip(self.suspects, runs, strict=True)
        )
        return Worth(valid, killed, *shown)


def are_new(problem: Problem, cases: Sequence[Case]) -> tuple[bool, ...]:
    """For each case whether its input is that of no visible test and of no case before it, however it is spaced."""
    seen = {_essence(problem, case) for case in problem.visible}
    news = []
    for case in cases:
        essence = _essence(problem, case)
        news.append(essence not in seen)
        seen.add(essence)
    return tuple(news)


def _essence(problem: Problem, case: Case) -> tuple[bytes, ...]:
    """What makes two inputs the same one: the words of a program's, the values of a function's."""
    if problem.entry_point is not None:
        try:
            values = [json.loads(line) for line in filter(None, case.stdin.split("\n"))]
            return (json.dumps(values, sort_keys=True).encode(),)
        except (ValueError, RecursionError):  # no JSON, or too deep to be read: the reference refuses it as well
            pass
    return tuple(words(case.stdin))


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

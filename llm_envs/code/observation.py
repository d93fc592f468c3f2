"""What an agent of the programming environment sees: rules, format of the reply, problem, tests, and what happened.

Neither hidden tests nor the reference stand in it, nor anything that depends on how a program did on them.
"""

import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import lru_cache

from llm_envs.code.judging import Verdict
from llm_envs.code.problem import Case, Problem
from llm_envs.code.state import SHOWN, SHOWN_PROGRAM, SHOWN_STATEMENT, Report, State, cut
from llm_envs.core.prompts import prompt_template

SHOWN_EXAMPLES = 10
_FENCES = re.compile(r"`{3,}")


class Stop(StrEnum):
    """What ends an episode before its horizon: a right program, agreement (which takes no hidden test), or nothing."""

    CORRECT = "correct"
    AGREEMENT = "agreement"
    BUDGET = "budget"


@lru_cache(maxsize=1024)  # a data set's problems have a function each
def rules(role: str, function: str, stop: Stop, cases: int) -> str:
    """The part of an observation that is the same for all problems of a form. `function`: its `def` line or name."""
    template = prompt_template("llm_envs.code", f"{role}.jinja")
    return template.render(function=function, stop=stop, cases=cases, alone=role == "solver").rstrip()


def observe(state: State, role: str, feedback: str, stop: Stop, cases: int) -> str:
    """The prompt of a role."""
    problem = state.problem
    function = "" if problem.entry_point is None else problem.signature or problem.entry_point
    parts = [
        rules(role, function, stop, cases),
        f"The problem:\n{cut(problem.statement, SHOWN_STATEMENT)}",
        *_examples(problem),
        *_NEWS[role](state),
    ]
    if feedback:
        parts.append(f"Your last reply was not valid and had no effect: {feedback}.")
    return "\n\n".join(parts)


def _examples(problem: Problem) -> list[str]:
    return [_case(f"Example {number}", case) for number, case in enumerate(problem.visible[:SHOWN_EXAMPLES], 1)]


def _case(title: str, case: Case) -> str:
    """A test in the form in which testers write them."""
    expected = f"<output>\n{_shown(case.expected)}\n</output>"
    return f"{title}:\n<input>\n{_shown(case.stdin)}\n</input>\n{expected}"


def _shown(text: str) -> str:
    return cut(text, SHOWN).removesuffix("\n")


def _tester_news(state: State) -> list[str]:
    if state.program is None:
        return ["There is no program of the coder yet.", *_cases("Your case", state.cases, ())]
    return [*_program("The coder's latest program", state), *_cases("Your case", state.cases, state.on_cases)]


def _coder_news(state: State) -> list[str]:
    if not state.cases:
        cases = ["There are no cases of the tester."]
    else:
        cases = _cases("The tester's case", state.cases, state.on_cases)
    return [*cases, *(_program("Your latest program", state) if state.program is not None else ())]


def _solver_news(state: State) -> list[str]:
    parts = _program("The program that you handed in last", state) if state.program is not None else []
    if state.tried is not None:
        parts.append(f"The program that you tried out, which is not handed in:\n{_fenced(state.tried.code)}")
        parts += _results(state.tried.on_visible)
    return [*parts, *_cases("Your case", state.cases, state.on_cases)]


_NEWS: dict[str, Callable[[State], list[str]]] = {
    "tester": _tester_news,
    "coder": _coder_news,
    "solver": _solver_news,
}


def _program(title: str, state: State) -> list[str]:
    return [f"{title}:\n{_fenced(state.program or '')}", *_results(state.on_visible)]


def _fenced(code: str) -> str:
    """A fenced block whose fence no line of the program can close."""
    longest = max((len(fence) for fence in _FENCES.findall(code)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}python\n{cut(code, SHOWN_PROGRAM).rstrip()}\n{fence}"


def _results(reports: Sequence[Report]) -> list[str]:
    """How a program did on the examples."""
    lines = [f"Example {number}: {_result(report)}" for number, report in enumerate(reports[:SHOWN_EXAMPLES], 1)]
    return ["\n".join(lines)] if lines else []


def _cases(title: str, cases: Sequence[Case], reports: Sequence[Report]) -> list[str]:
    """Test cases, and how the program did on each where it was run on them."""
    results = [f"\nResult: {_result(report)}" for report in reports] or [""] * len(cases)
    return [
        f"{_case(f'{title} {number}', case)}{result}"
        for number, (case, result) in enumerate(zip(cases, results, strict=True), 1)
    ]


def _result(report: Report) -> str:
    if report.verdict is Verdict.PASS:
        return "passed."
    if report.verdict is Verdict.WRONG:
        return f"wrong, the program gave:\n{_shown(report.got)}" if report.got.strip() else "wrong, it gave nothing."
    return f"the program {report.got}."

"""From a program and tests to jobs, and from what the jobs did to verdicts."""

from collections.abc import Sequence
from typing import TypeAlias

from llm_envs.code.judging.calls import result_of, with_driver
from llm_envs.code.judging.checker import Checked, CheckedRun
from llm_envs.code.judging.texts import same_text
from llm_envs.code.judging.values import read_json, same_value
from llm_envs.code.judging.verdicts import Judgement, Verdict
from llm_envs.code.problem import Case, Comparison, Problem
from llm_envs.core.jobs import Job, arun_jobs, run_jobs
from llm_envs.sandbox.base import Outcome, Program, Sandbox, Status

# CPU time is what a program may take; wall time only ends those that wait, whatever the load of the machine.
WALL_PER_CPU = 5.0
OUTPUT_BYTES = 1 << 20  # allowed, or twice the longest expected output
_MOST_OUTPUT_BYTES = 1 << 30

Result: TypeAlias = Outcome | Checked


def programs(problem: Problem, code: str, cases: Sequence[Case]) -> tuple[Job, ...]:
    """One job for each test. All programs have the same code, so that the sandbox compiles it once."""
    text = code if problem.entry_point is None else with_driver(code, problem.entry_point)
    output_bytes = _output_bytes(problem)
    runs = [
        Program(
            text,
            case.stdin,
            cpu_s=problem.cpu_s,
            wall_s=WALL_PER_CPU * problem.cpu_s,
            memory_mb=problem.memory_mb,
            output_bytes=output_bytes,
        )
        for case in cases
    ]
    if problem.comparison is not Comparison.CHECKER:
        return tuple(runs)
    return tuple(CheckedRun(problem, code, case, run) for case, run in zip(cases, runs, strict=True))


def _output_bytes(problem: Problem) -> int:
    longest = max(len(case.expected) for case in (*problem.visible, *problem.hidden))
    return min(max(OUTPUT_BYTES, 2 * longest), _MOST_OUTPUT_BYTES)


def verdicts(problem: Problem, code: str, cases: Sequence[Case], results: Sequence[Result]) -> tuple[Verdict, ...]:
    """The verdict on each test, from what the jobs of `programs(problem, code, cases)` did."""
    return tuple(_verdict(problem, code, case, result) for case, result in zip(cases, results, strict=True))


def output_of(problem: Problem, code: str, result: Result) -> str:
    """What is compared: what the program printed, or its function's result as JSON; empty where there is none."""
    outcome = outcome_of(result)
    return outcome.stdout if problem.entry_point is None else result_of(code, outcome.stdout) or ""


def outcome_of(result: Result) -> Outcome:
    """What the program did, whoever decided about its output."""
    return result.outcome if isinstance(result, Checked) else result


def _verdict(problem: Problem, code: str, case: Case, result: Result) -> Verdict:
    outcome = outcome_of(result)
    if outcome.status is not Status.OK:
        return Verdict(outcome.status)
    if isinstance(result, Checked):
        right = result.accepted
    elif problem.entry_point is None:
        right = same_text(case.expected, outcome.stdout, problem.comparison, problem.tolerance)
    else:
        right = _right_value(problem, case, result_of(code, outcome.stdout))
    return Verdict.PASS if right else Verdict.WRONG


def _right_value(problem: Problem, case: Case, result: str | None) -> bool:
    """A tester may expect what is no JSON, and both sides may be nested too deeply to be read or compared."""
    if result is None:
        return False
    try:
        return same_value(read_json(case.expected), read_json(result), problem.comparison, problem.tolerance)
    except (ValueError, RecursionError):
        return False


def judge(problem: Problem, code: str, sandbox: Sandbox) -> Judgement:
    """Judge a program by all tests of a problem, blocking.

    Raises:
        SandboxError: the sandbox failed; there is no judgement then.
    """
    cases = (*problem.visible, *problem.hidden)
    return _judgement(problem, code, run_jobs(programs(problem, code, cases), lambda: sandbox))


async def ajudge(problem: Problem, code: str, sandbox: Sandbox) -> Judgement:
    """The same without blocking the event loop."""
    cases = (*problem.visible, *problem.hidden)
    return _judgement(problem, code, await arun_jobs(programs(problem, code, cases), lambda: sandbox))


def _judgement(problem: Problem, code: str, results: Sequence[Result]) -> Judgement:
    found = verdicts(problem, code, (*problem.visible, *problem.hidden), results)
    return Judgement(found[: len(problem.visible)], found[len(problem.visible) :])

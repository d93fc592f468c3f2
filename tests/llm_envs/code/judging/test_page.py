"""The policy of the judge is what its page says: every line of its tables is judged."""

import json

import pytest

from llm_envs.code.judging import Verdict, programs, verdicts
from llm_envs.code.judging.texts import same_text
from llm_envs.code.problem import Case, Comparison, Problem
from llm_envs.core.jobs import run_jobs
from llm_envs.sandbox.base import Sandbox
from tests.llm_envs.code.judging.page import rows

PROGRAMS = rows("Verdicts")
OUTPUTS = rows("Outputs of programs")
RESULTS = rows("Results of functions")


def one_verdict(problem: Problem, code: str, sandbox: Sandbox) -> Verdict:
    cases = problem.hidden
    (verdict,) = verdicts(problem, code, cases, run_jobs(programs(problem, code, cases), lambda: sandbox))
    return verdict


def test_the_tables_cover_every_comparison_and_verdict() -> None:
    assert {row[0] for row in OUTPUTS} | {"checker"} == set(Comparison)
    assert {row[1] for row in PROGRAMS} | {"lost"} == set(Verdict)


@pytest.mark.parametrize(("code", "verdict"), PROGRAMS)
def test_a_program_gets_the_verdict_of_the_page(code: str, verdict: str, sandbox: Sandbox) -> None:
    """UC-062, UC-067, UC-071."""
    problem = Problem("sum", "Print the sum.", (), (Case("1 2 3\n", "6\n"),), cpu_s=0.5, memory_mb=64)
    assert one_verdict(problem, code, sandbox) == verdict


@pytest.mark.parametrize("row", OUTPUTS)
def test_an_output_gets_the_verdict_of_the_page(row: list[str]) -> None:
    """UC-064, UC-065."""
    comparison, expected, output, verdict, _ = row
    same = same_text(json.loads(expected), json.loads(output), Comparison(comparison), 1e-6)
    assert same == (verdict == "pass")


@pytest.mark.parametrize("row", RESULTS)
def test_a_result_gets_the_verdict_of_the_page(row: list[str], sandbox: Sandbox) -> None:
    """UC-064, UC-080."""
    comparison, expected, result, verdict, _ = row
    case = Case("", expected)
    problem = Problem("f", "Write f.", (), (case,), entry_point="f", comparison=Comparison(comparison))
    assert one_verdict(problem, f"def f():\n    return {result}", sandbox) == verdict

"""The judge as a whole: tests in, verdicts out."""

import asyncio
import threading
from dataclasses import replace
from typing import Any

import pytest

from llm_envs.code.judging import Judgement, Verdict, ajudge, judge, programs, share_passed, verdicts
from llm_envs.code.judging.calls import _mark, with_driver
from llm_envs.code.problem import Case, Comparison, Problem
from llm_envs.core.errors import UsageError
from llm_envs.sandbox.base import Outcome, Program, Sandbox, SandboxError, Status
from tests.llm_envs.code.problems import DIVISOR, PROBLEMS, SUM_FUNCTION, SUM_STDIO

PASS, WRONG = Verdict.PASS, Verdict.WRONG


@pytest.mark.parametrize("style", PROBLEMS)
def test_a_reference_passes_and_each_mutant_fails_where_it_differs(style: str, sandbox: Sandbox) -> None:
    problem = PROBLEMS[style]
    assert judge(problem, problem.reference, sandbox) == Judgement((PASS,) * 2, (PASS,) * 4)
    found = [judge(problem, mutant, sandbox) for mutant in problem.mutants]
    assert [judgement.visible for judgement in found] == [(PASS, PASS)] * 3
    assert [judgement.hidden for judgement in found] == [
        (PASS, WRONG, WRONG, PASS),
        (WRONG, PASS, WRONG, PASS),
        (PASS if style == "function" else WRONG, PASS, PASS, WRONG),
    ]
    assert [judgement.passed for judgement in found] == [False] * 3
    assert found[0].share == 0.5


def test_judging_does_not_block_the_event_loop(sandbox: Sandbox) -> None:
    async def both() -> tuple[Judgement, bool]:
        ticked = asyncio.Event()
        asyncio.get_running_loop().call_soon(ticked.set)
        judgement = await ajudge(SUM_STDIO, SUM_STDIO.reference + " # awaited", sandbox)
        return judgement, ticked.is_set()

    judgement, ticked = asyncio.run(both())
    assert judgement.passed
    assert ticked


def test_judging_works_from_any_thread(sandbox: Sandbox) -> None:
    """UC-050, as far as programs go."""
    found: list[Judgement] = []
    threads = [
        threading.Thread(target=lambda: found.append(judge(SUM_FUNCTION, SUM_FUNCTION.reference, sandbox)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [judgement.passed for judgement in found] == [True] * 4


@pytest.mark.parametrize("style", PROBLEMS)
def test_all_tests_run_the_same_code_and_see_their_own_input_only(style: str) -> None:
    """UC-082: neither the other inputs nor any expected output is part of a program."""
    problem = PROBLEMS[style]
    runs: list[Any] = list(programs(problem, "x = 1", problem.hidden))
    assert len({run.code for run in runs}) == 1
    assert [run.stdin for run in runs] == [case.stdin for case in problem.hidden]
    for run in runs:
        assert (run.files, run.argv) == ((), ())
        assert "1000000008" not in run.code + run.stdin
        assert (run.cpu_s, run.wall_s, run.memory_mb) == (2.0, 10.0, 256)


def test_a_program_may_print_twice_the_longest_expected_output() -> None:
    long = replace(SUM_STDIO, hidden=(Case("", "x" * (3 << 20)),))
    (run,) = programs(long, "", long.hidden)
    assert isinstance(run, Program)
    assert run.output_bytes == 6 << 20


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.OK])
def test_how_a_program_ended_is_its_verdict_whatever_it_printed(status: Status) -> None:
    case = SUM_STDIO.hidden[0]
    assert verdicts(SUM_STDIO, "", [case], [Outcome(status, 1, case.expected)]) == (Verdict(status.value),)


def test_a_lost_test_is_never_scored() -> None:
    """UC-098."""
    with pytest.raises(SandboxError, match="no score"):
        share_passed([PASS, Verdict.LOST])
    with pytest.raises(SandboxError):
        _ = Judgement((), (PASS, Verdict.LOST)).passed


class Loses:
    """A sandbox whose cages die."""

    name = "unsafe"
    guarantees: frozenset[str] = frozenset()

    def run(self, programs: Any) -> list[Outcome]:
        return [Outcome(Status.LOST) for _ in programs]

    async def arun(self, programs: Any) -> list[Outcome]:
        return self.run(programs)

    def close(self) -> None:
        """Nothing to stop."""


def test_a_sandbox_that_loses_programs_gives_no_judgement() -> None:
    for problem in (SUM_STDIO, DIVISOR):
        with pytest.raises(SandboxError):
            judge(problem, problem.reference, Loses())
        with pytest.raises(SandboxError):
            asyncio.run(ajudge(problem, problem.reference, Loses()))


def test_no_tests_are_no_pass() -> None:
    """UC-068."""
    with pytest.raises(ValueError, match="at least one"):
        share_passed(())
    with pytest.raises(UsageError, match=r"Problem\.hidden=\(\): must be at least one test"):
        replace(SUM_STDIO, hidden=())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"tolerance": float("nan")}, "tolerance"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"cpu_s": 0.0}, "cpu_s"),
        ({"memory_mb": 0}, "memory_mb"),
        ({"checker": "pass"}, "a checker belongs to the comparison 'checker'"),
        ({"comparison": Comparison.CHECKER}, "a checker belongs to the comparison 'checker'"),
        ({"entry_point": "no name"}, "entry_point"),
        ({"form": ("number",)}, "Problem.form"),
        ({"entry_point": "f"}, "must be JSON"),
    ],
)
def test_a_problem_that_cannot_be_judged_is_refused(changes: dict[str, Any], words: str) -> None:
    """UC-068."""
    with pytest.raises(UsageError, match=words):
        replace(SUM_STDIO, **changes)


def test_deep_recursion_with_a_raised_limit_passes_and_an_endless_one_is_an_error(sandbox: Sandbox) -> None:
    """UC-076."""
    problem = Problem("depth", "Print how deep you went.", (), (Case("50000\n", "50000\n"),), cpu_s=20.0, memory_mb=96)
    down = "import sys\nsys.setrecursionlimit(10**6)\ndef down(n):\n    return n and 1 + down(n - 1)\n"
    assert judge(problem, down + "print(down(int(input())))", sandbox).passed
    endless = "import sys\nsys.setrecursionlimit(10**9)\ndef down(n):\n    return 1 + down(n)\nprint(down(1))"
    assert judge(problem, endless, sandbox).hidden[0] in {Verdict.ERROR, Verdict.MEMORY}


def test_right_programs_do_not_time_out_under_load(sandbox: Sandbox) -> None:
    """UC-073: 16 judgements at once, each of which needs a good part of its CPU time."""
    problem = replace(SUM_STDIO, hidden=SUM_STDIO.hidden[:1], visible=(), cpu_s=2.0)
    busy = "import time\nwhile time.process_time() < 0.1: pass\n" + problem.reference

    async def judge_all() -> list[Judgement]:
        return await asyncio.gather(*(ajudge(problem, f"{busy} # {number}", sandbox) for number in range(16)))

    assert all(judgement.passed for judgement in asyncio.run(judge_all()))


def test_a_failing_functions_error_names_the_authors_own_line(sandbox: Sandbox) -> None:
    (run,) = programs(SUM_FUNCTION, "def total(numbers):\n    return numbers[9]", SUM_FUNCTION.visible[:1])
    (outcome,) = sandbox.run([run])  # type: ignore[list-item]  # without a checker a job is a program
    assert "line 2, in total\n    return numbers[9]" in outcome.stderr
    assert outcome.stderr.splitlines()[-1] == "IndexError: list index out of range"


@pytest.mark.parametrize(
    "code",
    [
        "from __future__ import annotations\ndef total(numbers): return sum(numbers)",
        "def total(numbers):\n    print('adding', numbers)\n    return sum(numbers)\nprint(total([1]))",
        "json = os = __name__ = None\ndef total(numbers): return sum(numbers)",
        "import atexit\natexit.register(print, 'bye')\ndef total(numbers): return sum(numbers)",
        "def total(numbers): return sum(numbers)\nif __name__ == '__main__':\n    print(total([1, 2]))",
        "total = lambda numbers: sum(numbers)  # no line break at the end",
        "import sys, io\nsys.stdout = io.StringIO()\ndef total(numbers): return sum(numbers)",
        "print('x' * 100_000)\ndef total(numbers): return sum(numbers)",
    ],
)
def test_honest_code_is_judged_by_its_results_whatever_else_it_does(code: str, sandbox: Sandbox) -> None:
    assert judge(SUM_FUNCTION, code, sandbox).passed


def test_the_mark_of_a_result_depends_on_the_code() -> None:
    assert with_driver("a", "f").removeprefix("a") != with_driver("b", "f").removeprefix("b")


@pytest.mark.parametrize("comparison", [Comparison.TOKENS, Comparison.UNORDERED])
@pytest.mark.parametrize("depth", [500, 900, 990, 5_000, 100_000])
def test_what_is_nested_too_deeply_to_be_compared_is_no_exception(depth: int, comparison: Comparison) -> None:
    """A tester may expect, and a coder return, what only the two of them understand."""
    deep = "[" * depth + "]" * depth
    problem = replace(SUM_FUNCTION, comparison=comparison)
    printed = Outcome(Status.OK, 0, f"\n{_mark('')} {deep}\n")
    (verdict,) = verdicts(problem, "", [Case("[1]\n", deep)], [printed])
    assert verdict in ({PASS, WRONG} if depth < 1_000 else {WRONG})

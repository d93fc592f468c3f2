"""Programs written by others: all references pass, and a mutant fails exactly where its results differ."""

import asyncio
import json

import pytest

from llm_envs.code.judging import Verdict, ajudge, judge, programs
from llm_envs.code.judging.judge import output_of
from llm_envs.code.problem import Problem
from llm_envs.core.jobs import arun_jobs
from llm_envs.sandbox.base import Sandbox, Status
from tests.llm_envs.code.judging.mutator import mutants
from tests.llm_envs.code.judging.public_tasks import problems, rows
from tests.scale import scaled

EACH = scaled(fast=6, long=1)  # every so many rows
MUTANTS = 3
SEED = "judge"

pytestmark = pytest.mark.needs("data")


@pytest.fixture(scope="module")
def tasks(sandbox: Sandbox) -> list[Problem]:
    return problems(rows()[::EACH], sandbox)


def test_all_references_pass(tasks: list[Problem], sandbox: Sandbox) -> None:
    """UC-061: all of HumanEval and MBPP at full size."""

    async def judge_all() -> list[bool]:
        found = await asyncio.gather(*(ajudge(task, task.reference, sandbox) for task in tasks))
        return [judgement.passed for judgement in found]

    passed = asyncio.run(judge_all())
    assert [task.name for task, right in zip(tasks, passed, strict=True) if not right] == []
    assert len(tasks) == scaled(fast=65, long=389)


def test_references_of_other_tasks_fail(tasks: list[Problem], sandbox: Sandbox) -> None:
    """Negative control: each reference under the name that its neighbour's task asks for."""
    passed = []
    for task, other in zip(tasks, [*tasks[1:], tasks[0]], strict=True):
        renamed = f"{other.reference}\n{task.entry_point} = {other.entry_point}\n"
        passed.append(judge(task, renamed, sandbox).passed)
    assert sum(passed) <= len(tasks) // 20


def test_every_mutant_fails_exactly_the_tests_on_which_its_result_differs(
    tasks: list[Problem], sandbox: Sandbox
) -> None:
    """The results are compared here by Python's own `==` on what JSON gives, not by the judge's rules."""
    pairs = [(task, mutant) for task in tasks for mutant in mutants(task.reference, MUTANTS, f"{SEED}:{task.name}")]
    quick = [(_hurried(task), mutant) for task, mutant in pairs]

    async def outcomes() -> list[tuple[list[bool], tuple[Verdict, ...]]]:
        return await asyncio.gather(*(one(task, mutant) for task, mutant in quick))

    async def one(task: Problem, mutant: str) -> tuple[list[bool], tuple[Verdict, ...]]:
        results = await arun_jobs(programs(task, mutant, task.hidden), lambda: sandbox)
        same = [
            result.status is Status.OK and _equal(output_of(task, mutant, result), case.expected)
            for result, case in zip(results, task.hidden, strict=True)
        ]
        return same, (await ajudge(task, mutant, sandbox)).hidden

    found = asyncio.run(outcomes())
    assert [
        (task.name, mutant)
        for (task, mutant), (same, verdicts) in zip(quick, found, strict=True)
        if same != [verdict is Verdict.PASS for verdict in verdicts]
    ] == []
    killed = sum(not all(same) for same, _ in found)
    assert len(pairs) > 2.5 * len(tasks)
    assert killed > 0.7 * len(pairs), "few mutants differ: the comparison above proves little"


def _hurried(task: Problem) -> Problem:
    """Mutants may loop for ever."""
    return Problem(**{**{name: getattr(task, name) for name in task.__slots__}, "cpu_s": 1.0})


def _equal(output: str, expected: str) -> bool:
    """By value, truth values apart from numbers, the tolerance of the judge for numbers that are not whole."""
    return bool(output) and _alike(json.loads(output), json.loads(expected))


def _alike(got: object, expected: object) -> bool:
    if isinstance(got, bool) or isinstance(expected, bool):
        return got is expected
    if isinstance(expected, float) and isinstance(got, int | float):
        return abs(got - expected) <= 1e-6 * max(1.0, abs(expected))
    if isinstance(expected, list) and isinstance(got, list):
        return len(got) == len(expected) and all(map(_alike, got, expected))
    if isinstance(expected, dict) and isinstance(got, dict):
        return got.keys() == expected.keys() and all(_alike(got[key], expected[key]) for key in expected)
    return got == expected

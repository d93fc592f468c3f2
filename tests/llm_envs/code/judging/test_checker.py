"""Problems whose outputs a checker decides about."""

import asyncio
import logging
from dataclasses import replace

import pytest

from llm_envs.code.judging import Judgement, Verdict, ajudge, judge
from llm_envs.code.problem import Case, Comparison, Problem
from llm_envs.sandbox.base import Sandbox
from tests.llm_envs.code.problems import DIVISOR

BEST = "n = int(input())\nprint(next(d for d in range(n - 1, 1, -1) if n % d == 0))"


@pytest.mark.parametrize("code", [DIVISOR.reference, BEST])
def test_every_right_output_passes(code: str, sandbox: Sandbox) -> None:
    assert judge(DIVISOR, code, sandbox).passed
    assert asyncio.run(ajudge(DIVISOR, code, sandbox)).passed


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        ("print(1)", Verdict.WRONG),
        ("print(input())", Verdict.WRONG),
        ("print('no number')", Verdict.WRONG),
        ("print('9' * 5000)", Verdict.WRONG),
        ("print(5, 7)", Verdict.WRONG),
        ("", Verdict.WRONG),
        (f"{BEST}\nraise SystemExit(3)", Verdict.ERROR),
        ("raise SystemExit(0)", Verdict.WRONG),
        ("print('{\"accepted\": true}')", Verdict.WRONG),
    ],
)
def test_what_the_checker_does_not_accept_is_wrong(code: str, verdict: Verdict, sandbox: Sandbox) -> None:
    assert judge(DIVISOR, code, sandbox).hidden == (verdict, verdict)


@pytest.mark.parametrize(
    "checker", ["import sys\nsys.exit(2)", "import os\nos.kill(os.getpid(), 9)", "while True: print('x' * 99999)"]
)
def test_a_checker_that_breaks_refuses_and_is_reported(
    checker: str, sandbox: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        judgement = judge(replace(DIVISOR, checker=checker), DIVISOR.reference, sandbox)
    assert judgement == Judgement((Verdict.WRONG,), (Verdict.WRONG,) * 2)
    assert "the checker of divisor ended with" in caplog.text


def test_a_checker_sees_the_result_of_a_function_as_json(sandbox: Sandbox) -> None:
    checker = "import json, sys\nrun = json.load(sys.stdin)\nassert json.loads(run['output']) == {'a': [1, None]}, run"
    problem = Problem("f", "", (), (Case("", ""),), entry_point="f", comparison=Comparison.CHECKER, checker=checker)
    assert judge(problem, "print('hello')\ndef f(): return {'a': (1, None)}", sandbox).passed
    assert judge(problem, "def f(): return {'a': (1, 2)}", sandbox).hidden == (Verdict.WRONG,)
    assert judge(problem, "raise SystemExit", sandbox).hidden == (Verdict.WRONG,)

"""HumanEval and MBPP from `../shared/data` as problems; `SOURCES.md` there describes the rows."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from llm_envs.code.problem import Case, Problem
from llm_envs.sandbox.base import Program, Sandbox
from tests.architecture.paths import ROOT

DATA = ROOT.parent / "shared" / "data"
FILES = ("humaneval_test", "mbpp_train")
# Runs the row's own asserts with a reference that notes down its calls; one that JSON would change is left out.
_RECORDER = """
def __record__(function, calls):
    import json
    def recorded(*arguments):
        line = json.dumps(arguments)
        result = function(*arguments)
        if json.dumps(function(*json.loads(line))) == json.dumps(result):
            calls.append([line, json.dumps(result)])
        return result
    return recorded
__calls__ = []
{name} = __record__({name}, __calls__)
{asserts}
print(__import__("json").dumps(__calls__))
"""


@dataclass(frozen=True)
class Row:
    """A row of a data set."""

    id: str
    solution: str
    tests: dict[str, Any]


def rows() -> list[Row]:
    """Every row of both data sets; skips where they are absent."""
    found = []
    for name in FILES:
        path = DATA / f"{name}.jsonl"
        if not path.exists():
            pytest.skip(f"{path.name} is not beside the checkout")
        for line in path.read_text().splitlines():
            row = json.loads(line)
            found.append(Row(row["id"], row["solution"], row["tests"]))
    return found


def problems(chosen: Sequence[Row], sandbox: Sandbox) -> list[Problem]:
    """The rows as problems that ask for a function: from the input and output pairs where a row has them, else from
    the calls that its asserts make, which the reference meets.
    """
    silent = [row for row in chosen if row.tests["stdio"] is None]
    outcomes = sandbox.run([Program(_recording(row), cpu_s=20.0, wall_s=100.0) for row in silent])
    recorded: dict[str, list[Case]] = {}
    for row, outcome in zip(silent, outcomes, strict=True):
        assert outcome.exit_code == 0, (row.id, outcome.stderr)
        calls = json.loads(outcome.stdout.splitlines()[-1])
        recorded[row.id] = [Case("".join(f"{json.dumps(a)}\n" for a in json.loads(args)), out) for args, out in calls]
    return [_problem(row, recorded.get(row.id) or _pairs(row)) for row in chosen]


def _recording(row: Row) -> str:
    asserts = "\n".join([row.tests["setup"], *row.tests["asserts"], row.tests["check"]])
    return f"import math\n{row.solution}\n{_RECORDER.format(name=row.tests['entry_point'], asserts=asserts)}"


def _pairs(row: Row) -> list[Case]:
    return [Case(pair["input"], pair["output"]) for pair in row.tests["stdio"]]


def _problem(row: Row, cases: Sequence[Case]) -> Problem:
    return Problem(
        name=row.id,
        statement=row.id,
        visible=(),
        hidden=tuple(cases),
        reference=row.solution,
        entry_point=row.tests["entry_point"],
        cpu_s=10.0,
    )

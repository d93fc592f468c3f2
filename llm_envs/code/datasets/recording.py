"""Tests that have to be run to know what they ask: loops, random inputs, claims other than equality.

The reference takes them once, in the sandbox, and what it is called with is written down. Each call becomes a case; the
checker lets the row's own tests decide on the result. Nothing of a data set ever runs outside of the sandbox.
"""

import json
from collections.abc import Callable
from typing import Any

from llm_envs.code.problem import Case
from llm_envs.data.errors import RowError
from llm_envs.data.fields import parse_json
from llm_envs.sandbox.base import Program, Sandbox, Status

MOST_CASES = 10  # the first different calls
_CPU_S, _WALL_S = 20.0, 100.0

# In both programs the function asked for gives way to one that sees each call from outside, not the recursive ones.
_WATCHED = """
def __watched__(function, see):
    inside = False
    def watched(*arguments):
        nonlocal inside
        if inside:
            return function(*arguments)
        inside = True
        try:
            return see(function, arguments)
        finally:
            inside = False
    return watched
"""
_RECORDER = """
def __record__():
    import json
    calls = []
    def see(function, arguments):
        try:
            line = json.dumps(arguments)  # before the call, which may change them
        except (TypeError, ValueError):
            return function(*arguments)
        result = function(*arguments)
        try:
            if json.dumps(function(*json.loads(line))) == json.dumps(result):
                calls.append([line, json.dumps(result)])
        except Exception:
            pass  # it takes no arguments that went through JSON, or gives what is no JSON
        return result
    return calls, see
__calls__, __see__ = __record__()
{name} = __watched__({name}, __see__)
import random
random.seed(0)
{tests}
import json, sys
sys.stdout.write("\\n" + json.dumps(__calls__))
"""
_CHECKER = """
def __judge__(function):
    import json, math, sys
    run = json.load(sys.stdin)
    given = [json.loads(line) for line in run["stdin"].split("\\n") if line]
    output = json.loads(run["output"])
    def alike(one, other):
        if isinstance(one, float) and isinstance(other, (int, float)) and not isinstance(other, bool):
            return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-6)
        if isinstance(one, list) and isinstance(other, list):
            return len(one) == len(other) and all(map(alike, one, other))
        if isinstance(one, dict) and isinstance(other, dict):
            return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
        return type(one) is type(other) and one == other
    expected = json.loads(run["expected"])
    if alike(expected, output):
        sys.exit(0)
    if not alike(json.loads(json.dumps(function(*given))), expected):
        sys.exit(1)  # a case that somebody made up, with a wrong result
    asked = []
    def see(function, arguments):
        if json.loads(json.dumps(arguments)) != given:
            return function(*arguments)
        asked.append(arguments)
        return output
    return asked, see
__asked__, __see__ = __judge__({name})
{name} = __watched__({name}, __see__)
import random
random.seed(0)
{tests}
import sys
sys.exit(0 if __asked__ else 1)
"""


def record(reference: str, name: str, tests: str, sandbox: Callable[[], Sandbox]) -> tuple[Case, ...]:
    """The calls that the tests make, with the results of the reference.

    Args:
        reference: a program that defines the function.
        name: of the function.
        tests: statements that raise unless it is right.
        sandbox: starts it; called once.

    Raises:
        RowError: the reference does not pass the tests, or none of the calls can be written as JSON.
        SandboxError: the sandbox failed.
    """
    program = _with(_RECORDER, reference, name, tests)
    (outcome,) = sandbox().run([Program(program, cpu_s=_CPU_S, wall_s=_WALL_S, memory_mb=512)])
    if outcome.status is not Status.OK:
        last = outcome.stderr.strip().rpartition("\n")[2]
        raise RowError(f"the reference does not pass the tests of the row ({outcome.status}: {last[:200]})")
    calls: list[tuple[str, str]] = parse_json(outcome.stdout.rpartition("\n")[2], "what the recorder wrote")
    cases = dict.fromkeys(Case(_as_lines(arguments), result) for arguments, result in calls)
    if not cases:
        raise RowError("no call in its tests has arguments and a result that JSON can hold")
    return tuple(cases)[:MOST_CASES]


def checker(reference: str, name: str, tests: str) -> str:
    """A checker (see `Problem`) that takes a result which the tests take, however it differs from the reference's."""
    return _with(_CHECKER, reference, name, tests)


def _with(template: str, reference: str, name: str, tests: str) -> str:
    return f"import math\n{reference}\n{_WATCHED}{template.replace('{name}', name).replace('{tests}', tests)}"


def _as_lines(arguments: str) -> str:
    values: list[Any] = json.loads(arguments)
    return "".join(f"{json.dumps(value)}\n" for value in values)

"""How the tests of data sets are read: packs, assertions, and those that have to run."""

import ast
import base64
import json
import os
import pickle
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.code.datasets import payload
from llm_envs.code.datasets.asserts import read_asserts
from llm_envs.code.datasets.functions import read_mbpp
from llm_envs.code.datasets.payload import decode_tests
from llm_envs.code.datasets.recording import MOST_CASES, checker, record
from llm_envs.code.datasets.sources import first_function, first_program, signature_of
from llm_envs.code.judging import judge, programs, verdicts
from llm_envs.code.problem import Case, Comparison, Problem
from llm_envs.core.jobs import run_jobs
from llm_envs.data.errors import RowError
from llm_envs.sandbox.base import Sandbox
from tests.llm_envs.code.rows import MBPP_FULL, packed

# ---- packs


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists), st.sampled_from(range(6)))
def test_packed_tests_come_back_as_they_were(value: object, protocol: int) -> None:
    assert decode_tests(packed(json.dumps(value), protocol)) == value


class Malicious:
    """Makes a file when it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, (f"touch {self.path}",)


def test_a_pickle_that_would_run_something_is_refused_and_does_not_run(tmp_path: Path) -> None:
    """UC-068. The negative control: loaded, it does run."""
    path = tmp_path / "made"
    for value in (Malicious(path), ["[]", Malicious(path)]):
        with pytest.raises(RowError, match="does more than state a text"):
            decode_tests(packed(value))
    assert not path.exists()
    pickle.loads(pickle.dumps(Malicious(path)))
    assert path.exists()


@pytest.mark.parametrize(
    ("pack", "words"),
    [
        (packed(["[]"]), "does more than state a text"),
        (packed(b"[]"), "does more than state a text"),
        (packed("not JSON"), "is no JSON"),
        (base64.b64encode(zlib.compress(b"no pickle")).decode(), "is no pickle|more than state a text"),
        (base64.b64encode(zlib.compress(pickle.dumps("[]"))[:-4]).decode(), "is cut off"),
        (base64.b64encode(zlib.compress(pickle.dumps("[]")[:-1])).decode(), "is no pickle"),
        (base64.b64encode(pickle.dumps("[]")).decode(), "can't be unpacked"),
        ("=", "can't be unpacked"),
        ("", "is cut off"),
        ("[1", "is no JSON"),
    ],
)
def test_packs_that_cannot_be_unpacked_are_refused(pack: str, words: str) -> None:
    """UC-068."""
    with pytest.raises(RowError, match=words):
        decode_tests(pack)


def test_a_pack_that_would_fill_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(payload, "MOST_BYTES", 1000)
    with pytest.raises(RowError, match="more than 1000 bytes"):
        decode_tests(packed("[" + " " * 10_000 + "]"))


# ---- assertions


@pytest.mark.parametrize(
    ("source", "stdin", "expected", "comparison"),
    [
        ("assert f(1, [2]) == 3", "1\n[2]\n", "3", Comparison.TOKENS),
        ("assert 3 == f(1)", "1\n", "3", Comparison.TOKENS),
        ("assert f('a') == ('b', None), 'message'", '"a"\n', '["b", null]', Comparison.TOKENS),
        ("assert f() is True", "", "true", Comparison.TOKENS),
        ("assert f(-1)", "-1\n", "true", Comparison.TOKENS),
        ("assert not f(1)", "1\n", "false", Comparison.TOKENS),
        ("import math\nassert f(1) == {1: 2}\nassert True", "1\n", '{"1": 2}', Comparison.TOKENS),
        ("assert tuple(f(1)) == tuple([1, 2])", "1\n", "[1, 2]", Comparison.TOKENS),
        ("assert set(f(1)) == set([2, 1])", "1\n", "[2, 1]", Comparison.UNORDERED),
        ("assert set(f(1)) == {2, 1, 2}", "1\n", "[1, 2]", Comparison.UNORDERED),
        ("assert sorted(f(1)) == [1, 2, 2]", "1\n", "[1, 2, 2]", Comparison.UNORDERED),
        ("assert abs(f(1) - 2) < 1e-3", "1\n", "2.0", Comparison.TOKENS),
        ("assert math.isclose(f(1), 2, abs_tol=1e-3)", "1\n", "2.0", Comparison.TOKENS),
    ],
)
def test_an_assertion_is_read_as_a_call_and_its_result(
    source: str, stdin: str, expected: str, comparison: Comparison
) -> None:
    reading = read_asserts(ast.parse(source).body, frozenset({"f"}))
    assert reading is not None
    assert (reading.cases, reading.comparison) == ((Case(stdin, expected),), comparison)
    assert reading.tolerance == (1e-3 if "1e-3" in source else 1e-6)


@pytest.mark.parametrize(
    "source",
    [
        "assert g(1) == 2",
        "assert f(x) == 2",
        "assert f(1) == f(2)",
        "assert f(1) != 2",
        "assert f(1) > 2",
        "assert f(1) == 2 == 2",
        "assert f(1) == 3 * 19",
        "assert f(a=1) == 2",
        "assert f(*[1]) == 2",
        "assert f(1)[0] == 2",
        "assert f({1, 2}) == 2",
        "assert f(1) == {1, 2}",
        "assert f(1) == 2 and f(2) == 3",
        "assert abs(f(1) + 2) < 1e-3",
        "x = 1\nassert f(1) == 2",
        "for i in range(3):\n    assert f(i) == i",
        "assert f(1) == 2\nassert sorted(f(2)) == [1]",
        "assert True",
        "",
    ],
)
def test_whatever_takes_more_than_reading_is_not_guessed(source: str) -> None:
    assert read_asserts(ast.parse(source).body, frozenset({"f"})) is None


def test_arguments_that_json_changes_are_noticed() -> None:
    for source, plain in (("f([1, 'a'])", True), ("f((1, 2))", False), ("f([(1,)])", False), ("f({5: 1})", False)):
        reading = read_asserts(ast.parse(f"assert {source} == 1").body, frozenset({"f"}))
        assert reading is not None
        assert reading.plain is plain


def test_a_function_that_takes_lists_for_tuples_is_asked_with_lists_and_one_that_does_not_is_left_out(
    sandbox: Sandbox,
) -> None:
    row = {**MBPP_FULL, "challenge_test_list": [], "test_list": ["assert add((1, 2), (3,)) == (1, 2, 3)"]}
    problem = read_mbpp("own", row, lambda: sandbox)
    assert problem.hidden == (Case("[1, 2]\n[3]\n", "[1, 2, 3]"),)
    hashing = {**row, "code": "def add(a, b):\n    return a + b if {a, b} else a"}
    with pytest.raises(RowError, match="no call in its tests has arguments and a result that JSON can hold"):
        read_mbpp("own", hashing, lambda: sandbox)


# ---- tests that have to run

ROOT = """
def value(coefficients, x):
    return sum(c * x**k for k, c in enumerate(coefficients))

def root(coefficients):
    low, high = -100.0, 100.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if value(coefficients, low) * value(coefficients, middle) > 0 else (low, middle)
    return low
"""
ROOT_TESTS = """
import random
for _ in range(30):
    coefficients = [random.randint(-9, 9) for _ in range(3)] + [1]
    assert abs(value(coefficients, root(coefficients))) < 1e-3
"""
# The same with its own way, which finds another root where there are several.
OTHER_ROOT = ROOT.replace("-100.0, 100.0", "100.0, -100.0").replace("high - low > 1e-9", "low - high > 1e-9")


def recorded(reference: str, name: str, tests: str, sandbox: Sandbox) -> Problem:
    return Problem(
        name=name,
        statement="",
        visible=(),
        hidden=record(reference, name, tests, lambda: sandbox),
        reference=reference,
        entry_point=name,
        comparison=Comparison.CHECKER,
        checker=checker(reference, name, tests),
    )


def test_the_tests_of_a_row_decide_and_not_the_way_of_its_reference(sandbox: Sandbox) -> None:
    problem = recorded(ROOT, "root", ROOT_TESTS, sandbox)
    assert len(problem.hidden) == MOST_CASES
    assert judge(problem, ROOT, sandbox).passed
    assert judge(problem, OTHER_ROOT, sandbox).passed
    for wrong in ("def root(c):\n    return 0.0", "def root(c):\n    return None", ROOT.replace("1e-9", "1.0")):
        assert not judge(problem, wrong, sandbox).passed


def test_a_made_up_case_counts_with_the_result_of_the_reference_only(sandbox: Sandbox) -> None:
    """Else a tester's wrong case, which no test of the row knows, would be passed by every program."""
    problem = recorded(
        "def twice(n):\n    return 2 * n", "twice", "for n in range(4):\n    assert twice(n) == n + n", sandbox
    )
    cases = [Case("3\n", "6"), Case("3\n", "7"), Case("50\n", "100"), Case("50\n", "6"), Case("50\n", "100.5")]
    for code, passed in (
        ("def twice(n):\n    return n + n", [True, False, True, False, False]),
        ("def twice(n):\n    return 6", [True, False, False, True, False]),
        ("def twice(n):\n    return 7", [False, True, False, False, False]),
    ):
        found = verdicts(problem, code, cases, run_jobs(programs(problem, code, cases), lambda: sandbox))
        assert [str(verdict) == "pass" for verdict in found] == passed


def test_recursive_calls_are_none_of_the_tests(sandbox: Sandbox) -> None:
    cases = record(
        "def f(n):\n    return n and f(n - 1) + 1", "f", "for n in (3, 2):\n    assert f(n) == n", lambda: sandbox
    )
    assert cases == (Case("3\n", "3"), Case("2\n", "2"))


@pytest.mark.parametrize(
    ("code", "tests", "words"),
    [
        ("def f(n):\n    return n + 1", "for n in range(3):\n    assert f(n) == n", "does not pass the tests"),
        ("def f(n):\n    return {n}", "for n in range(3):\n    assert f(n) == {n}", "that JSON can hold"),
        ("def f(n):\n    return 1", "for n in range(3):\n    assert f({n}) == 1", "that JSON can hold"),
        ("def f(n):\n    return 1", "assert 1 + 1 == 2", "that JSON can hold"),
        ("import sys\ndef f(n):\n    sys.exit(0)", "for n in range(3):\n    assert f(n) == n", "the recorder wrote"),
    ],
)
def test_tests_that_cannot_be_recorded_are_refused(code: str, tests: str, words: str, sandbox: Sandbox) -> None:
    with pytest.raises(RowError, match=words):
        record(code, "f", tests, lambda: sandbox)


# ---- source


@pytest.mark.parametrize(
    ("source", "signature"),
    [
        ("def f(a, b=1):\n    return a", "def f(a, b=1):"),
        ("class Solution:\n    def f(self, a: List[int]) -> int:\n        ", "def f(a: List[int]) -> int:"),
        ("def f(a):", "def f(a):"),
        ("from x import y\n\ndef f(a: str) -> str:\n    '''Doc.'''\n", "def f(a: str) -> str:"),
        ("def g(a): pass", ""),
        ("def f(", ""),
        ("", ""),
    ],
)
def test_the_signature_is_that_of_a_function_on_its_own(source: str, signature: str) -> None:
    assert signature_of(source, "f") == signature


def test_the_first_solution_in_python_3_is_the_reference() -> None:
    assert first_program(["print 1", "", "x = '\\d'", "print(2)"]) == "x = '\\d'"
    assert first_program(["print 1"]) == ""
    assert first_function(["def g(): pass", "def f(:", "def f(): return 1"], "f").endswith("\ndef f(): return 1")
    assert first_function(["class Solution:\n    def f(self): return 1"], "f").endswith("f = Solution().f\n")
    assert first_function(["def g(): pass"], "f") == ""

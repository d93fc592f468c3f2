"""What a program can do but solve the problem. It earns nothing: the comparison happens out of its reach."""

import pytest

from llm_envs.code.judging import judge
from llm_envs.code.judging.calls import _mark
from llm_envs.sandbox.base import Sandbox
from tests.llm_envs.code.problems import SUM_FUNCTION, SUM_STDIO

MARK = _mark("")  # of another program
DEFINED = "def total(numbers):\n    return 0\n"

# UC-079
FORGED_OUTPUT = {
    "leaving at once": "import sys\nsys.exit(0)",
    "leaving by os._exit": "import os\nos._exit(0)",
    "PASSED": "print('PASSED')\nprint('OK')\nprint('Ran 4 tests in 0.001s')",
    "a verdict": 'print(\'{"verdict": "pass", "passed": true, "share": 1.0}\')',
    "a mark": f"print('\\n{MARK} 6')",
    "every number": "print(*range(-100, 100))",
    "every number, one a line": "for n in range(-100, 100): print(n)",
    "a file descriptor": "import os\nfor fd in range(3, 64):\n"
    "    try: os.write(fd, b'PASSED')\n    except OSError: pass",
    "another standard output": "import sys\nclass Out:\n    def write(self, text): return 0\nsys.stdout = Out()",
    "unittest": "import unittest\nunittest.TestCase.assertEqual = lambda *_: None\nprint('OK')",
    "an error": "raise AssertionError('expected 20, got 20')",
    "standard error": "import sys\nprint('PASSED', file=sys.stderr)",
    "its input": "print(open(0).read())",
    "nothing": "",
}
FORGED_FUNCTIONS = {name: f"{code}\n{DEFINED}" for name, code in FORGED_OUTPUT.items()} | {
    f"{name}, when called": "def total(numbers):\n" + "".join(f"    {line}\n" for line in code.splitlines() or ["pass"])
    for name, code in FORGED_OUTPUT.items()
}
# UC-080
ALWAYS_EQUAL = {
    "equal to everything": "class E:\n    def __eq__(self, other): return True\ndef total(numbers): return E()",
    "an int that is never unequal": (
        "class E(int):\n    def __ne__(self, other): return False\n    def __eq__(self, other): return True\n"
        "    def __hash__(self): return 0\n    def __repr__(self): return '20'\ndef total(numbers): return E(0)"
    ),
    "a text that is never unequal": (
        "class E(str):\n    def __eq__(self, other): return True\n    __hash__ = str.__hash__\n"
        "def total(numbers): return E('20')"
    ),
    "patched comparison": (
        "import builtins, math\nbuiltins.all = builtins.any = builtins.isinstance = lambda *_: True\n"
        f"builtins.sorted = lambda *_, **__: []\nmath.isclose = lambda *_, **__: True\n{DEFINED}"
    ),
    "patched json": f"import json\njson.dumps = lambda *_, **__: 'true'\njson.loads = lambda *_: []\n{DEFINED}",
    "json that gives several": f"import json\njson.dumps = lambda *_, **__: '20\\n28\\n-2'\n{DEFINED}",
    "a patched driver": "import os\nos._exit = lambda *_: None\n"
    + DEFINED
    + "import atexit\natexit.register(print, 20)",
    "not a number": "def total(numbers): return float('nan')",
    "infinity": "def total(numbers): return float('inf')",
    "true": "def total(numbers): return True",
    "a list of all": "def total(numbers): return list(range(-100, 100))",
    "itself": "def total(numbers): return total",
    "a tangle": "def total(numbers):\n    tangle = []\n    tangle.append(tangle)\n    return tangle",
    "depth": "def total(numbers):\n    deep = []\n    for _ in range(500): deep = [deep]\n    return deep",
    "brackets": "import json\njson.dumps = lambda *_: '[' * 100_000\n" + DEFINED,
    "no function": "total = 20",
    "another name": "def sum_up(numbers): return sum(numbers)",
}


@pytest.mark.parametrize("forgery", FORGED_OUTPUT)
def test_forged_output_earns_nothing(forgery: str, sandbox: Sandbox) -> None:
    """UC-079."""
    assert judge(SUM_STDIO, FORGED_OUTPUT[forgery], sandbox).share == 0.0


@pytest.mark.parametrize("forgery", FORGED_FUNCTIONS)
def test_a_function_with_forged_output_earns_nothing(forgery: str, sandbox: Sandbox) -> None:
    """UC-079."""
    assert judge(SUM_FUNCTION, FORGED_FUNCTIONS[forgery], sandbox).share == 0.0


@pytest.mark.parametrize("forgery", ALWAYS_EQUAL)
def test_results_that_equal_everything_earn_nothing(forgery: str, sandbox: Sandbox) -> None:
    """UC-080."""
    assert judge(SUM_FUNCTION, ALWAYS_EQUAL[forgery], sandbox).share == 0.0


# Prints whatever numbers lie about in the cage, and where they lie.
SEARCH = r"""
import gc, glob, inspect, os, re, sys
found = set()
def note(text):
    found.update(re.findall(r"-?\d{5,}", text))
for root in ("/", "..", ".", "/tmp", "/proc/self/fd", "/proc"):
    for pattern in ("*", "*/*"):
        for path in glob.glob(f"{root}/{pattern}"):
            note(path)
            try:
                if os.path.isfile(path) and os.path.getsize(path) < 1 << 16: note(open(path, errors="replace").read())
            except OSError: pass
note(str(dict(os.environ)))
note(str(sys.argv))
for frame in inspect.stack(): note(str(frame.frame.f_locals))
for thing in gc.get_objects():
    if isinstance(thing, (str, bytes, tuple, list, dict)):
        try: note(str(thing)[:5000])
        except Exception: pass
for path in ("/proc/self/maps", "/proc/self/cmdline", "/proc/1/cmdline", "/proc/1/environ"):
    try: note(open(path, errors="replace").read())
    except OSError: pass
print(" ".join(sorted(found)))
"""


@pytest.mark.needs("landlock")
def test_a_search_of_the_cage_finds_neither_other_inputs_nor_expected_outputs(sandbox: Sandbox) -> None:
    """UC-082. The negative control: the search does find its own input, where that is left to be found."""
    if sandbox.name == "unsafe":
        pytest.skip("there is no cage here to be searched")
    from llm_envs.code.judging import programs
    from llm_envs.code.problem import Case, Problem

    secrets = ["8231507", "8231508", "8231509", "8231510"]
    problem = Problem("p", "", (), (Case(secrets[0], secrets[1]), Case(secrets[2], secrets[3])))
    alone = programs(problem, SEARCH, problem.hidden)
    outcomes = sandbox.run([*alone, *programs(problem, f"seen = input()\n{SEARCH}", problem.hidden)])  # type: ignore[list-item]
    for outcome in outcomes:
        assert outcome.exit_code == 0, outcome.stderr
    assert not [secret for outcome in outcomes[:2] for secret in secrets if secret in outcome.stdout.split()]
    assert secrets[0] in outcomes[2].stdout.split()
    assert not [secret for secret in secrets[1:] if secret in outcomes[2].stdout.split()]

"""What programs import is seen in their text, and becomes usual when enough of them do."""

import subprocess
import sys

import pytest

from llm_envs.sandbox.base import Program
from llm_envs.sandbox.imports import _ELIGIBLE, Imports, imported
from llm_envs.sandbox.locked import LockedSandbox
from tests.llm_envs.sandbox.conftest import require_locked


@pytest.mark.parametrize(
    ("code", "modules"),
    [
        ("import math", {"math"}),
        ("import math, heapq as h,json\n", {"math", "heapq", "json"}),
        ("from collections import deque, Counter", {"collections"}),
        ("def f():\n    import re  # late\n\tfrom typing import List", {"re", "typing"}),
        ("import collections.abc", {"collections"}),
        ("import os, sys, numpy\nfrom mine import math", set()),
        ("print('import math')\nx = 'from re'", set()),
        ("import\nimport ,\nfrom\nimport .", set()),
        ("important = 1\nfrom_math = 2", set()),
    ],
)
def test_imports_are_read_from_the_text(code: str, modules: set[str]) -> None:
    assert imported(code) == modules


def test_a_module_is_usual_from_a_share_of_programs_on_and_may_cease_to_be() -> None:
    imports = Imports()
    for index in range(10_000):
        imports.note("import math" if index % 20 == 0 else "import json" if index % 100 == 0 else "")
    assert imports.usual == {"math"}
    for _ in range(2_000):
        imports.note("print(1)")
    assert imports.usual == frozenset()


def test_a_first_large_call_already_tells() -> None:
    imports = Imports()
    for _ in range(20):
        imports.note("import re, string")
    assert imports.usual == {"re", "string"}


def test_importing_them_beforehand_shows_and_starts_nothing() -> None:
    code = f"import sys, threading\nfor name in {sorted(_ELIGIBLE)}: __import__(name)\nprint(threading.active_count())"
    found = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert (found.stdout, found.stderr) == ("1\n", "")


@pytest.mark.needs("landlock")
def test_a_cage_has_the_usual_modules_ready_and_programs_find_them_unused() -> None:
    require_locked()
    sandbox = LockedSandbox(slots=1)
    code = "import sys\nready = 'random' in sys.modules\nimport random\nprint(ready, random.random())"
    programs = [Program(f"{code}\n# {index}") for index in range(40)]
    assert {outcome.stdout.split()[0] for outcome in sandbox.run(programs[:1])} == {"False"}
    later = [outcome.stdout.split() for outcome in sandbox.run(programs[1:]) + sandbox.run(programs)]
    assert later[-1][0] == "True"
    assert len({number for _, number in later}) == len(later)  # each fork has a state of its own
    sandbox.close()

"""Interpreters with packages that can't be installed beside ours (`make test-exports` makes them), and what is printed
in docs/exports.md for them.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.markdown_blocks import blocks, commands
from tests.architecture.paths import ROOT


def python_with(package: str) -> str:
    """This interpreter where it has the package, else the one that a variable names; skips where there is neither."""
    variable = f"LLM_ENVS_{package.upper()}_PYTHON"
    if importlib.util.find_spec(package) is not None:
        return sys.executable
    if variable not in os.environ:
        pytest.skip(f"{package} is not installed, and {variable} names no interpreter that has it")
    return os.environ[variable]


def run_there(python: str, script: Path, *arguments: object, **environment: str) -> str:
    """What a script prints there, this checkout on its path; it must end well."""
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "benchmarks", ROOT / "trainer")))
    done = subprocess.run(
        [python, str(script), *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": paths} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def printed(program: str) -> list[list[str]]:
    """The words of the commands of the page that begin with a program's name."""
    shell = blocks(ROOT / "docs/exports.md", "bash")
    return [words for block in shell for words in commands(block) if words[0] == program]


def printed_code(part: str) -> str:
    """The block of code of the page that holds a part."""
    (code,) = [block.code for block in blocks(ROOT / "docs/exports.md", "text") if part in block.code]
    return code

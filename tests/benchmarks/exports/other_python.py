"""Interpreters with packages that can't be installed beside ours (`make test-exports` makes them)."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

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

"""What an import may load, and what the packages may depend on."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.architecture.paths import PACKAGES, ROOT, game_shims

HEAVY = {
    "torch",
    "transformers",
    "trl",
    "peft",
    "vllm",
    "openai",
    "datasets",
    "docker",
    "pygame",
    "sympy",
    "matplotlib",
}
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def heavy_after(statement: str) -> set[str]:
    """The heavy libraries that a fresh interpreter has loaded after `statement`."""
    program = f"import sys; {statement}; print(*sorted({HEAVY!r} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("module", ["llm_envs", "llm_envs.cli", *(f"llm_envs.{shim}" for shim in game_shims())])
def test_importing_the_environments_loads_nothing_heavy(module: str) -> None:
    """UC-028, UC-181."""
    assert heavy_after(f"import {module}") == set()


def test_a_heavy_import_would_be_seen() -> None:
    """Negative control of the test above."""
    assert heavy_after("import sympy") == {"sympy"}


def imported_roots(file: Path) -> set[str]:
    """First components of all absolute imports of a file, those inside functions included."""
    roots: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            roots |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            roots.add(node.module.split(".")[0])
    return roots


def distribution_name(requirement: str) -> str:
    """`Foo_Bar[extra]>=1` -> `foo-bar` (the normalised name of PEP 503)."""
    return re.sub(r"[-_.]+", "-", re.split(r"[\[<>=!~ ;]", requirement)[0]).lower()


def undeclared(roots: set[str], declared: set[str]) -> set[str]:
    """Imports that are neither standard library, nor ours, nor in a declared distribution."""
    foreign = roots - sys.stdlib_module_names - PACKAGES.keys()
    installed = packages_distributions()
    names = {root: {distribution_name(name) for name in installed.get(root, [root])} for root in foreign}
    return {root for root, distributions in names.items() if not distributions & declared}


def test_every_import_is_declared_in_the_project_file() -> None:
    """A library that comes only with another one vanishes when that one drops it."""
    extras = PYPROJECT["project"]["optional-dependencies"]
    optional = [requirement for name in extras if name != "dev" for requirement in extras[name]]
    requirements = PYPROJECT["project"]["dependencies"] + optional
    declared = {distribution_name(requirement) for requirement in requirements}
    roots = {root for folder in PACKAGES.values() for file in folder.rglob("*.py") for root in imported_roots(file)}
    assert undeclared(roots, declared) == set()
    assert undeclared({"hypothesis", "yaml", "json"}, declared) == {"hypothesis"}


@pytest.mark.parametrize("shim", game_shims())
def test_the_import_contracts_name_every_game(shim: str) -> None:
    """A game that no contract names could be imported from anywhere."""
    contracts = PYPROJECT["tool"]["importlinter"]["contracts"]
    guards = [contract for contract in contracts if f"llm_envs.{shim}" in contract["forbidden_modules"]]
    assert len(guards) == 2, f"llm_envs.{shim} must be forbidden to the trainer and to the rest of llm_envs"

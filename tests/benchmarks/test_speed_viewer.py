"""The script that times the replay page opens it."""

import os
import subprocess
import sys

import pytest

from tests.architecture.paths import ROOT


@pytest.mark.needs("chromium")
def test_the_opening_of_a_page_is_timed_beside_an_empty_one() -> None:
    script = ROOT / "benchmarks/speed/viewer.py"
    command = [sys.executable, str(script), "--markdown", "--rounds", "1", "--episodes", "30"]
    paths = os.pathsep.join(str(ROOT / part) for part in (".", "trainer", "benchmarks"))
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "| open 30 episodes (" in done.stdout
    assert "seconds to the first episode" in done.stdout

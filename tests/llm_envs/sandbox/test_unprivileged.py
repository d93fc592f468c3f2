"""The same guarantees for a user without any privilege, whose programs run under the user's own uid."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.llm_envs.sandbox.attacks import ATTACKS
from tests.llm_envs.sandbox.conftest import require_locked, require_native
from tests.scale import scaled

CHECKOUT = Path(__file__).parents[3]
NOBODY = 65534
SCRIPT = """
import json, os, sys, tempfile, types
from pathlib import Path
place = sys.argv[1]
sys.path.insert(0, place)
for package in ("llm_envs", "tests"):  # without what they import on their own
    sys.modules[package] = types.ModuleType(package)
    sys.modules[package].__path__ = [f"{place}/{package}"]
from llm_envs.sandbox.base import Program
from llm_envs.sandbox.locked import LockedSandbox
from llm_envs.sandbox.native import NativeSandbox
from tests.llm_envs.sandbox.attacks import ATTACKS
from tests.llm_envs.sandbox.target import target
from tests.llm_envs.sandbox.processes import children
sandbox = globals()[sys.argv[2]](slots=2, newest_abi=int(sys.argv[3]))
own = sandbox.run([Program("import os\\nprint(os.getuid())")])[0].stdout.strip()
with tempfile.TemporaryDirectory() as folder, target(Path(folder)) as aim:
    outcomes = sandbox.run([attack.program(aim) for attack in ATTACKS])
threads = "from concurrent.futures import ThreadPoolExecutor\\nprint(sum(ThreadPoolExecutor(4).map(abs, [-1, 2])))"
honest = sandbox.run([Program(threads)])
threads = honest[0].stdout.strip()
sandbox.close()
print(json.dumps({
    "uid": own,
    "threads": threads,
    "breached": {a.name: repr(o) for a, o in zip(ATTACKS, outcomes) if not a.held(o)},
    "children": list(children()),
    "folders": [path.name for path in Path(tempfile.gettempdir()).iterdir()],
}))
"""


def python_for_everybody() -> str:
    """A Python that an unprivileged user can reach; the one that runs this may lie below a closed home."""
    for path in (getattr(sys, "_base_executable", sys.executable), "/usr/bin/python3", "/usr/local/bin/python3"):
        command = [path, "-I", "-S", "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
        try:
            subprocess.run(command, user=NOBODY, group=NOBODY, extra_groups=[], capture_output=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            continue
        return path
    pytest.skip("no Python 3.11 or newer that an unprivileged user can reach")


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """The sandbox alone, where everybody can read it, and a folder for temporary files."""
    if os.geteuid() != 0:
        pytest.skip("this whole run is unprivileged")
    with tempfile.TemporaryDirectory(prefix="llm-envs-nobody-") as folder:
        Path(folder).chmod(0o755)
        ignore = shutil.ignore_patterns("__pycache__", "test_*", "conftest.py")
        for part in ("llm_envs/sandbox", "tests/llm_envs/sandbox"):
            shutil.copytree(CHECKOUT / part, Path(folder, part), ignore=ignore)
        Path(folder, "tmp").mkdir()
        Path(folder, "tmp").chmod(0o777)
        yield Path(folder)


@pytest.mark.needs("landlock")
@pytest.mark.parametrize("newest_abi", scaled(fast=[6, 1], long=[6, 5, 4, 3, 2, 1]))
def test_an_unprivileged_user_gets_the_same_cage(place: Path, newest_abi: int) -> None:
    """Landlock from ABI 6 on scopes signals; before, a program may signal itself only."""
    require_locked()
    _attack(place, "LockedSandbox", newest_abi)


@pytest.mark.needs("namespaces")
def test_an_unprivileged_user_gets_namespaces_too(place: Path) -> None:
    """A user namespace for each slot; nothing is left of its cgroup, since there is none, nor of its processes."""
    require_native()
    _attack(place, "NativeSandbox", newest_abi=6)


def _attack(place: Path, cage: str, newest_abi: int) -> None:
    found = subprocess.run(
        [python_for_everybody(), "-s", "-c", SCRIPT, str(place), cage, str(newest_abi)],
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "TMPDIR": str(place / "tmp"), "HOME": "/"},
        cwd="/",
        check=False,
    )
    assert found.returncode == 0, found.stderr
    report = json.loads(found.stdout)
    assert report == {"uid": str(NOBODY), "threads": "3", "breached": {}, "children": [], "folders": []}
    assert len(ATTACKS) >= 25

"""Of namespaces and cgroups nothing is left: not by programs, not by our own end, whichever process is killed first."""

import os
import secrets
import signal
import subprocess
import tempfile
import textwrap
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from llm_envs.sandbox import native
from llm_envs.sandbox.base import Outcome, Program, SandboxError, Status
from llm_envs.sandbox.cage import CageLostError, RunnerProcess
from llm_envs.sandbox.imports import Imports
from llm_envs.sandbox.native import NativeSandbox
from llm_envs.sandbox.runner import cgroup
from tests.llm_envs.sandbox.conftest import require_native
from tests.llm_envs.sandbox.processes import alive, children, eventually
from tests.llm_envs.sandbox.test_leftovers import HOSTILE, TRACES
from tests.llm_envs.sandbox.test_leftovers import owner as unmarked_owner
from tests.scale import scaled

pytestmark = pytest.mark.needs("namespaces")


@dataclass(frozen=True)
class Traces:
    """All that a cage puts on the machine."""

    processes: frozenset[int]
    descriptors: int
    threads: int
    mounts: frozenset[str]
    groups: frozenset[str]
    folders: frozenset[str]


MARK = f"test{os.getpid()}x"  # in the names of our slots: other tests, and other people, have some of theirs
NAMES = f"import secrets\nsecrets.token_hex = lambda size: '{MARK}' + os.urandom(size).hex()\n"


def marked(place: Path) -> frozenset[str]:
    return frozenset(str(path) for path in place.glob(f"llm-envs-sandbox-{MARK}*"))


def groups() -> frozenset[str]:
    place = cgroup.find()
    return frozenset() if place is None else marked(Path(place.folder))


def traces(folder: Path) -> Traces:
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    return Traces(
        frozenset(children()),
        len(list(Path("/proc/self/fd").iterdir())),
        threading.active_count(),
        frozenset(line for line in mounts if MARK in line or " /proc" in line or "subset=pid" in line),
        groups(),
        marked(folder) | marked(Path("/tmp")),
    )


def owner(script: str, folder: Path) -> subprocess.Popen[str]:
    """A process of its own that uses the cage and prints what it has started."""
    imports = "from llm_envs.sandbox.native import NativeSandbox\n"
    return unmarked_owner(NAMES + imports + textwrap.dedent(script), folder)


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where a cage would put folders if it made any."""
    require_native()
    monkeypatch.setattr(secrets, "token_hex", lambda size: MARK + os.urandom(size).hex())
    with tempfile.TemporaryDirectory(prefix="llm-envs-cages-") as place:
        monkeypatch.setattr(tempfile, "tempdir", place)
        yield Path(place)


def test_hostile_programs_leave_nothing_and_harm_no_honest_one(folder: Path) -> None:
    """UC-070, UC-083, UC-088, UC-094: one program in ten is hostile; then all is as it was before."""
    before = traces(folder)
    sandbox = NativeSandbox(slots=2)
    for turn in range(scaled(fast=7, long=50)):
        programs = [Program(f"print({turn * 10 + index})", wall_s=120) for index in range(9)]
        hostile = Program(HOSTILE[turn % len(HOSTILE)], cpu_s=0.3, wall_s=0.5, memory_mb=64)
        outcomes = sandbox.run([*programs[:4], hostile, *programs[4:]])
        honest = outcomes[:4] + outcomes[5:]
        assert [o.stdout for o in honest] == [f"{turn * 10 + index}\n" for index in range(9)]
    during = traces(folder)
    assert (during.mounts, during.folders) == (before.mounts, before.folders)  # not even now
    assert len(during.processes - before.processes) <= 4  # two for a slot
    assert eventually(lambda: "Z" not in children().values())
    sandbox.close()
    assert traces(folder) == before


def test_the_next_program_finds_no_trace() -> None:
    """UC-089: one slot, so that it is the very next."""
    require_native()
    sandbox = NativeSandbox(slots=1)
    for name, (leave, look, expected) in TRACES.items():
        sandbox.run([Program(leave, stdin="a\nb\n")])
        assert sandbox.run([Program(look)])[0].stdout == expected, name
    sandbox.close()


def test_a_start_that_fails_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """UC-100: before the new namespaces are there, inside them, and when the runner finds its cage open."""
    before = traces(folder)
    inside = {"uid": native._own_uid(), "shown": ("/usr/lib",)}
    with pytest.raises(SandboxError, match="File exists"):  # a folder in its way
        RunnerProcess({"namespaces": {**inside, "shown": ("/dev/null",)}, "confinement": None}, "/dev/null")
    with pytest.raises(CageLostError, match="TypeError"):
        RunnerProcess({"namespaces": {"unknown": 1}, "confinement": None})
    with pytest.raises(CageLostError):
        RunnerProcess({"namespaces": inside, "confinement": {"unknown": 1}})
    assert eventually(lambda: traces(folder) == before), (traces(folder), before)


@pytest.mark.parametrize("killed", ["runner", "attendant"])
def test_a_slot_that_is_killed_is_replaced_and_its_program_run_again(folder: Path, killed: str) -> None:
    """The runner by its death ends its programs; the process that attends it, by its own, ends the runner."""
    before = traces(folder)
    sandbox = NativeSandbox(slots=1)
    sandbox.run([Program("print(1)")])
    (attendant,) = set(children()) - before.processes - set(_grandchildren(before))
    (runner,) = children(attendant)
    outcomes: list[Outcome] = []
    programs = [Program("import time\ntime.sleep(0.6)\nprint(2)"), Program("print(3)")]
    thread = threading.Thread(target=lambda: outcomes.extend(sandbox.run(programs)))
    thread.start()
    assert eventually(lambda: len(children(runner)) == 1)
    os.kill({"runner": runner, "attendant": attendant}[killed], signal.SIGKILL)
    thread.join()
    assert [o.stdout for o in outcomes] == ["2\n", "3\n"]
    assert not alive(runner)
    sandbox.close()
    if killed == "attendant":  # nobody was left to remove its cgroup: the next start does
        native._start(6, Imports()).close()
    assert traces(folder) == before


def _grandchildren(before: Traces) -> list[int]:
    return [pid for child in set(children()) - before.processes for pid in children(child)]


def test_a_sandbox_that_is_closed_ends_what_runs(folder: Path) -> None:
    before = traces(folder)
    sandbox = NativeSandbox(slots=1)
    failures: list[str] = []

    def run() -> None:
        try:
            sandbox.run([Program("import os\nos.fork()\nwhile True: pass", cpu_s=100, wall_s=100)])
        except SandboxError as error:
            failures.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    assert eventually(lambda: len(set(children()) - before.processes) == 4)
    sandbox.close()
    thread.join()
    assert "closed" in failures[0]
    assert traces(folder) == before


HEIRS = ["", "ctypes.CDLL(None).fork() or time.sleep(1000)"]


@pytest.mark.parametrize("heir", HEIRS)
def test_when_the_owner_is_killed_everything_ends(folder: Path, heir: str) -> None:
    """Also in the midst of a program, and where a child of the owner holds its ends of the pipes open."""
    before = traces(folder)
    process = owner(
        f"""
        sandbox = NativeSandbox(slots=2)
        sandbox.run([Program(f"print({{index}})") for index in range(10)])
        spin = "import os\\nopen('x', 'w')\\nos.fork()\\nos.setsid() if os.fork() == 0 else 0\\nwhile True: pass"
        for index in range(2):
            threading.Thread(target=sandbox.run, args=([Program(spin, str(index), cpu_s=100, wall_s=100)],)).start()
        while len(children()) < 12:
            time.sleep(0.01)
        print(*children(), flush=True)
        {heir}
        time.sleep(1000)
        """,
        folder,
    )
    assert process.stdout is not None
    started = [int(pid) for pid in process.stdout.readline().split()]
    heirs = set()
    if heir:
        assert eventually(lambda: len(children(process.pid)) > len(started))
        heirs = children(process.pid).keys() - set(started)
    _kill(process)
    try:
        assert eventually(lambda: not any(map(alive, started))), [pid for pid in started if alive(pid)]
        assert eventually(lambda: traces(folder) == before), (traces(folder), before)
    finally:
        for pid in heirs:
            os.kill(pid, signal.SIGKILL)


def test_what_is_left_when_all_are_killed_at_once_goes_with_the_next_start(folder: Path) -> None:
    """The owner and the process that would remove the cgroup; a cgroup in use is not touched."""
    before = traces(folder)
    process = owner(
        """
        sandbox = NativeSandbox(slots=2)
        sandbox.run([Program(f"import time\\ntime.sleep(0.2)\\nprint({index})") for index in range(4)])
        print(*children(), flush=True)
        time.sleep(1000)
        """,
        folder,
    )
    assert process.stdout is not None
    started = [int(pid) for pid in process.stdout.readline().split()]
    assert len(started) == 4
    for pid in (*started, process.pid):
        os.kill(pid, signal.SIGSTOP)  # so that none can tidy up after another
    for pid in (*started, process.pid):
        os.kill(pid, signal.SIGKILL)
    _kill(process)
    assert eventually(lambda: not any(map(alive, started)))
    sandbox = NativeSandbox(slots=1)
    assert sandbox.run([Program("print(1)")])[0].status is Status.OK
    kept = groups() - before.groups
    NativeSandbox(slots=1).run([Program("print(2)")])
    assert groups() - before.groups == kept
    assert sandbox.run([Program("print(3)")])[0].stdout == "3\n"
    sandbox.close()
    assert eventually(lambda: traces(folder) == before), (traces(folder), before)


@pytest.mark.parametrize("delay_s", scaled(fast=[0.02, 0.05, 0.08], long=[step / 200 for step in range(40)]))
def test_an_owner_killed_while_its_cages_start_leaves_nothing(folder: Path, delay_s: float) -> None:
    before = traces(folder)
    process = owner(
        "print(flush=True)\nNativeSandbox(slots=2).run([Program(f'print({index})') for index in range(500)])",
        folder,
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(delay_s)
    started = set(children(process.pid))
    _kill(process)
    assert eventually(lambda: not any(map(alive, started)))
    native._start(6, Imports()).close()
    assert eventually(lambda: traces(folder) == before), (traces(folder), before)


def _kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()

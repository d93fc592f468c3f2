"""Nothing is left behind: not for the next program, not by a time-out, not by our own end."""

import asyncio
import builtins
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from llm_envs.sandbox.base import Outcome, Program, SandboxError, Status
from llm_envs.sandbox.cage import CageLostError, RunnerProcess
from llm_envs.sandbox.encoding import worth_compiling_once
from llm_envs.sandbox.locked import LockedSandbox
from tests.llm_envs.sandbox.conftest import require_locked
from tests.llm_envs.sandbox.processes import alive, children, eventually
from tests.scale import scaled

pytestmark = pytest.mark.needs("landlock")

CHECKOUT = Path(__file__).parents[3]
HOSTILE = (
    "while True: pass",
    "import os\nfor _ in range(5):\n    if os.fork() == 0:\n        os.setsid()\n        while True: pass",
    "import os\nfor _ in range(5): os.fork() or os._exit(0)\nopen('left', 'w').write('x')\nos.kill(os.getpid(), 11)",
    "x = []\nwhile True: x.append(bytearray(10 << 20))",
    "while True: print('x' * 1000)",
    "import os\npath = '.'\nfor _ in range(200):\n    path += '/d'\n    os.mkdir(path)\nos.close(1)\nos.close(2)",
    "import time, signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(1e6)",
)


@pytest.fixture
def folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where cages put their folders, to be found empty."""
    require_locked()
    with tempfile.TemporaryDirectory(prefix="llm-envs-cages-") as place:
        Path(place).chmod(0o711)
        monkeypatch.setattr(tempfile, "tempdir", place)
        yield Path(place)


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_hostile_programs_leave_nothing_and_harm_no_honest_one(folders: Path) -> None:
    """UC-070, UC-083, UC-088: one program in ten is hostile; then all is as it was before."""
    before = (set(children()), descriptors(), threading.active_count(), dict(vars(builtins)), vars(os).copy())
    sandbox = LockedSandbox(slots=2)
    rounds = scaled(fast=10, long=50)
    for turn in range(rounds):
        programs = [Program(f"print({turn * 10 + index})", wall_s=120) for index in range(9)]
        hostile = Program(HOSTILE[turn % len(HOSTILE)], cpu_s=0.3, wall_s=0.5, memory_mb=64)
        outcomes = sandbox.run([*programs[:4], hostile, *programs[4:]])
        honest = outcomes[:4] + outcomes[5:]
        assert [o.stdout for o in honest] == [f"{turn * 10 + index}\n" for index in range(9)]
    runners = set(children()) - before[0]
    assert len(runners) <= 2, children()
    assert "Z" not in children().values()
    assert eventually(lambda: len(list(folders.iterdir())) == len(set(children()) - before[0]))
    sandbox.close()
    assert (set(children()), descriptors(), threading.active_count()) == before[:3]
    assert (dict(vars(builtins)), vars(os)) == before[3:]
    assert list(folders.iterdir()) == []


def test_a_time_out_ends_the_program_and_disturbs_no_other(folders: Path) -> None:
    """UC-088, UC-089: nothing of it runs on; what runs beside it and after it is right, and sees none of its files."""
    before = set(children())
    sandbox = LockedSandbox(slots=2)
    late = Program("open('mine', 'w').write('x')\nimport os\nos.fork()\nwhile True: pass", cpu_s=0.2, wall_s=0.5)
    beside = Program("import time\ntime.sleep(0.3)\nprint('beside')", wall_s=120)
    outcomes = sandbox.run([late, beside])
    assert [o.status for o in outcomes] == [Status.TIMEOUT, Status.OK]
    assert len(set(children()) - before) <= 2
    after = sandbox.run([Program(f"import os\nprint(os.listdir('.'), {index})") for index in range(4)])
    assert [o.stdout for o in after] == [f"[] {index}\n" for index in range(4)]
    sandbox.close()


TRACES = {
    "file": ("open('left', 'w').write('x')", "import os\nprint(os.listdir('.'))", "[]\n"),
    "folders": (
        "import os\nos.makedirs('a/b/c')\nos.symlink('/', 'root')",
        "import os\nprint(os.listdir('.'))",
        "[]\n",
    ),
    "module": ("import math\nmath.pi = 4", "import math\nprint(math.pi > 3.5)", "False\n"),
    "builtin": ("import builtins\nbuiltins.len = None", "print(len('abc'))", "3\n"),
    "environment": ("import os\nos.environ['X'] = '1'", "import os\nprint('X' in os.environ)", "False\n"),
    "folder": ("import os\nos.chdir('/')", "import os\nprint(os.getcwd() == os.environ['HOME'])", "True\n"),
    "daemon": (
        "import os\nif not os.fork():\n os.setsid()\n while not os.fork(): open('late', 'w')\n os._exit(0)\nos.wait()",
        "import os, time\ntime.sleep(0.1)\nprint(os.listdir('.'))",
        "[]\n",
    ),
    "stdin": ("import sys\nsys.stdin.readline()", "import sys\nprint(repr(sys.stdin.read()))", "''\n"),
}


def test_the_next_program_finds_no_trace() -> None:
    """UC-089, issue: traces left for the next run. One slot, so that it is the very next."""
    require_locked()
    sandbox = LockedSandbox(slots=1)
    for name, (leave, look, expected) in TRACES.items():
        sandbox.run([Program(leave, stdin="a\nb\n")])
        assert sandbox.run([Program(look)])[0].stdout == expected, name
    sandbox.close()


SEARCH = """
import re
secret = bytes(reversed({reversed!r}))
found = 0
for line in open("/proc/self/maps"):
    start, end = (int(number, 16) for number in line.split()[0].split("-"))
    if " r" in line and "[v" not in line:
        with open("/proc/self/mem", "rb", 0) as memory:
            try:
                memory.seek(start)
                found += memory.read(end - start).count(secret)
            except OSError:
                pass
print(found)
"""


def test_no_byte_of_another_program_is_in_a_programs_memory() -> None:
    """UC-082: code, input and output of the programs before it, and of those that wait behind it.

    Without confinement, since a confined program cannot even read its own /proc/self/mem. It finds what it searches
    for itself, once. The control finds it in its own code, too.
    """
    secret = b"expected-output-4711"
    text = secret.decode()
    search = SEARCH.format(reversed=bytes(reversed(secret)))
    owner = Program(f"import sys\nx = {text!r}\nprint(x, sys.stdin.read())\nprint(x, file=sys.stderr)", f"{text}\n")
    kept = [Program(f"{'#' * 5000}\nx = {text!r}\nprint(1)", str(index)) for index in range(3)]
    cage = RunnerProcess({"confinement": None})
    try:
        outcomes = list(cage.run([Program(search), owner, Program(search, "2"), Program(search, "3"), owner]))
        assert text in outcomes[1].stdout
        assert [outcomes[index].stdout for index in (0, 2, 3)] == ["1\n"] * 3
        assert [o.stdout for o in cage.run([*kept, Program(search, "4")], worth_compiling_once(kept))] == ["1\n"] * 4
        (own,) = cage.run([Program(f"x = {text!r}\n{search}")])
        assert int(own.stdout) > 1
    finally:
        cage.close()


def test_it_works_from_any_thread_and_any_event_loop(locked: LockedSandbox) -> None:
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append(locked.run([Program("print(1)")])[0].stdout))
    thread.start()
    thread.join()

    async def many() -> list[str]:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        ticking = asyncio.create_task(tick())
        calls = [locked.arun([Program(f"print({index})")]) for index in range(50)]
        outcomes = [outcome for (outcome,) in await asyncio.gather(*calls)]
        ticking.cancel()
        assert ticks > 50  # the loop went on meanwhile
        return [outcome.stdout for outcome in outcomes]

    for _ in range(2):
        assert asyncio.run(many()) == [f"{index}\n" for index in range(50)]
    assert found == ["1\n"]


def test_many_calls_at_once_lose_and_mix_nothing(locked: LockedSandbox) -> None:
    """The issue's 2,000 programs in flight, fewer in the fast tier."""
    count = scaled(fast=300, long=2000)

    async def all_of_them() -> list[str]:
        calls = [locked.arun([Program(f"print({index})")]) for index in range(count)]
        return [outcome.stdout for (outcome,) in await asyncio.gather(*calls)]

    assert asyncio.run(all_of_them()) == [f"{index}\n" for index in range(count)]


def test_a_runner_that_is_killed_is_replaced_and_its_program_run_again(folders: Path) -> None:
    before = set(children())
    sandbox = LockedSandbox(slots=1)
    sandbox.run([Program("print(1)")])
    (runner,) = set(children()) - before
    outcomes: list[Outcome] = []
    programs = [Program("import time\ntime.sleep(0.6)\nprint(2)"), Program("print(3)")]
    thread = threading.Thread(target=lambda: outcomes.extend(sandbox.run(programs)))
    thread.start()
    assert eventually(lambda: len(set(children()) - before) == 2)
    os.kill(runner, signal.SIGKILL)
    thread.join()
    assert [o.stdout for o in outcomes] == ["2\n", "3\n"]
    (fresh,) = set(children()) - before
    assert fresh != runner
    assert len(list(folders.iterdir())) == 1
    sandbox.close()
    assert list(folders.iterdir()) == []


def test_a_start_that_fails_leaves_nothing(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """UC-100: whether the runner refuses, dies or cannot be started at all."""
    before = (set(children()), descriptors())
    with pytest.raises(SandboxError, match="Landlock is missing"):
        RunnerProcess({"confinement": {"readable": (), "writable": (), "uid": None, "newest_abi": 0}})
    with pytest.raises(CageLostError, match="TypeError"):
        RunnerProcess({"confinement": {"unknown": 1}})
    monkeypatch.setattr(sys, "_base_executable", "/no/such/python")
    with pytest.raises(FileNotFoundError):
        RunnerProcess({"confinement": None})
    assert (set(children()), descriptors()) == before
    assert list(folders.iterdir()) == []


def test_a_call_cancelled_while_its_cage_starts_leaves_nothing(folders: Path) -> None:
    """UC-100."""
    before = (set(children()), descriptors())
    sandbox = LockedSandbox(slots=2)

    async def cancelled() -> None:
        call = asyncio.ensure_future(sandbox.arun([Program("print(1)"), Program("print(2)")]))
        await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(cancelled())
    sandbox.close()
    assert (set(children()), descriptors()) == before
    assert list(folders.iterdir()) == []


def owner(script: str, folders: Path, stdin: int | None = None) -> subprocess.Popen[str]:
    """A process of its own that uses a sandbox and prints what it has started."""
    header = f"""
import ctypes, os, sys, threading, time, types
for package in ("llm_envs", "tests"):  # without what they import on their own
    sys.modules[package] = types.ModuleType(package)
    sys.modules[package].__path__ = [f"{CHECKOUT}/{{package}}"]
from llm_envs.sandbox.base import Program
from llm_envs.sandbox.encoding import worth_compiling_once
from llm_envs.sandbox.locked import LockedSandbox
from tests.llm_envs.sandbox.processes import children
"""
    return subprocess.Popen(
        [sys.executable, "-c", header + textwrap.dedent(script)],
        stdin=stdin,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(folders)},
    )


@pytest.mark.parametrize("heir", ["", "ctypes.CDLL(None).fork() or time.sleep(1000)"])
def test_when_the_owner_is_killed_everything_ends(folders: Path, heir: str) -> None:
    """Also in the midst of a program, and where a child of the owner holds its ends of the pipes open."""
    process = owner(
        f"""
        sandbox = LockedSandbox(slots=2)
        sandbox.run([Program(f"print({{index}})") for index in range(10)])
        spin = "import os\\nopen('x', 'w')\\nos.fork()\\nos.setsid() if os.fork() == 0 else 0\\nwhile True: pass"
        for index in range(2):
            threading.Thread(target=sandbox.run, args=([Program(spin, str(index), cpu_s=100, wall_s=100)],)).start()
        while len(children()) < 8:
            time.sleep(0.01)
        print(*children(), flush=True)
        {heir}
        time.sleep(1000)
        """,
        folders,
    )
    assert process.stdout is not None
    started = [int(pid) for pid in process.stdout.readline().split()]
    heirs = set()
    if heir:
        assert eventually(lambda: len(children(process.pid)) > len(started))
        heirs = children(process.pid).keys() - set(started)
    assert len(list(folders.iterdir())) == 2
    process.kill()
    process.wait()
    process.stdout.close()
    try:
        assert eventually(lambda: not any(map(alive, started))), [pid for pid in started if alive(pid)]
        assert eventually(lambda: list(folders.iterdir()) == [])
    finally:
        for pid in heirs:
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("delay_s", scaled(fast=[0.005, 0.03, 0.06], long=[step / 200 for step in range(40)]))
def test_an_owner_killed_while_its_cages_start_leaves_nothing(folders: Path, delay_s: float) -> None:
    process = owner(
        "print(flush=True)\nLockedSandbox(slots=2).run([Program(f'print({index})') for index in range(500)])", folders
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(delay_s)
    started = set(children(process.pid))
    process.kill()
    process.wait()
    process.stdout.close()
    assert eventually(lambda: not any(map(alive, started)))
    # by name: `tempfile` itself leaves a file when it is killed while it tries whether it can write
    assert eventually(lambda: list(folders.glob("llm-envs-*")) == [])


def test_a_process_that_ends_without_closing_leaves_nothing(folders: Path) -> None:
    process = owner(
        "LockedSandbox(slots=2).run([Program('1')])\nx = LockedSandbox(slots=1)\nx.run([Program('2')])", folders
    )
    assert process.wait(60) == 0
    assert eventually(lambda: list(folders.iterdir()) == [])


def test_a_forked_process_gets_cages_of_its_own(folders: Path) -> None:
    """And the parent's are untouched by the child's use, its close and its end."""
    process = owner(
        """
        sandbox = LockedSandbox(slots=2)
        sandbox.run([Program(f"print({index})") for index in range(10)])
        mine = sorted(children())
        pid = os.fork()
        if pid == 0:
            assert sandbox.run([Program("print('child')")])[0].stdout == "child\\n"
            assert not set(children()) & set(mine)
            sandbox.close()
            assert not children()
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        assert sandbox.run([Program("print('parent')")])[0].stdout == "parent\\n"
        assert sorted(children()) == mine
        sandbox.close()
        print("done")
        """,
        folders,
    )
    assert process.communicate(timeout=60)[0] == "done\n"
    assert list(folders.iterdir()) == []


def test_the_host_can_still_delete_and_signal(folders: Path, locked: LockedSandbox) -> None:
    """UC-083: no guard of a program's is put on the process that judges it."""
    locked.run([Program("import os, shutil, builtins\nos.unlink = os.kill = shutil.rmtree = builtins.open = None")])
    (folders / "a").mkdir()
    (folders / "a" / "b").write_text("x")
    shutil.rmtree(folders / "a")
    os.kill(os.getpid(), 0)

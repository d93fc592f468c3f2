"""What namespaces and a memory cgroup hold beyond the attacks that every cage is put before."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from llm_envs.sandbox import native
from llm_envs.sandbox.base import Outcome, Program, SandboxError, Status
from llm_envs.sandbox.cage import Cage, CageLostError, RunnerProcess
from llm_envs.sandbox.imports import Imports
from llm_envs.sandbox.locked import LockedSandbox
from llm_envs.sandbox.native import NativeSandbox
from llm_envs.sandbox.runner import cgroup, watch
from tests.llm_envs.sandbox.attacks import ATTACKS
from tests.llm_envs.sandbox.conftest import require_locked, require_native
from tests.llm_envs.sandbox.target import Target

pytestmark = pytest.mark.needs("namespaces")

# what a program may read of its own processes in /proc, where no Landlock closes it
OWN_PROCESSES = {"list folders", "read environments and command lines"}


@pytest.fixture
def cage() -> Iterator[Cage]:
    """One slot, whose runner must outlive what it runs: no pool would notice that it was replaced."""
    require_native()
    started = native._start(6, Imports())
    yield started
    started.close()


@pytest.fixture
def group() -> None:
    """Skip where the memory of a whole tree is only sampled."""
    if cgroup.find() is None:
        pytest.skip("no memory cgroup can be made here")


def run(cage: Cage, code: str, **fields: object) -> Outcome:
    (outcome,) = cage.run([Program(code, **{"cpu_s": 30.0, "wall_s": 120.0, **fields})])  # type: ignore[arg-type]
    return outcome


TREE = """
import os
def hold():
    block = bytearray({mib} << 20)
    os.write(w, b"x")
    os.read(r2, 1)
    os._exit(0)
r, w = os.pipe()
r2, w2 = os.pipe()
for _ in range(3):
    os.fork() or hold()
os.close(w)
n = 0
while n < 3 and os.read(r, 1):
    n += 1
os.close(w2)
print(n)
"""


def test_a_tree_of_processes_is_bounded_however_short_it_lives(cage: Cage, group: None) -> None:
    """UC-097: 3 x 60 MiB of 100, faster than any sample; the same tree with 3 x 20 MiB is the control."""
    assert run(cage, TREE.format(mib=60), memory_mb=100).status is Status.MEMORY
    within = run(cage, TREE.format(mib=20), memory_mb=100)
    assert (within.status, within.stdout) == (Status.OK, "3\n")


def test_a_lack_of_memory_ends_the_program_and_never_the_runner(cage: Cage, group: None) -> None:
    """UC-097: also where all of it lies in files, which no death of a process frees."""
    hogs = {
        "files": "for n in range(10):\n    open(str(n), 'wb').write(bytes(6 << 20))",
        "files and a child": (
            "import os\nos.fork()\nfor n in range(10):\n    open(f'{n} {os.getpid()}', 'wb').write(bytes(6 << 20))"
        ),
        "children only": (
            "import os, time\nfor n in range(6):\n    if os.fork() == 0:\n        block = bytearray(20 << 20)\n"
            "        time.sleep(9)\n        os._exit(0)\ntime.sleep(9)"
        ),
    }
    for name, code in hogs.items():
        assert run(cage, code, memory_mb=24).status is Status.MEMORY, name
        assert run(cage, "import os\nprint(os.listdir('.'))").stdout == "[]\n", name


def test_files_that_a_program_is_given_cost_it_no_memory(cage: Cage, group: None) -> None:
    files = (("given", "x" * (50 << 20)),)
    outcome = run(cage, "import os\nprint(os.path.getsize('given'))", files=files, memory_mb=24)
    assert (outcome.status, outcome.stdout) == (Status.OK, f"{50 << 20}\n")


def test_a_full_folder_is_told_as_such_and_is_empty_afterwards(cage: Cage) -> None:
    """By bytes and by names, also where the program takes no notice; files deleted while open count, too."""
    fillers = {
        "bytes": "for n in range(40): open(f'{n}', 'wb').write(bytes(10 << 20))",
        "names": "for n in range(9999): open(f'{n}', 'w')",
    }
    for name, code in fillers.items():
        assert run(cage, code).status is Status.OUTPUT, name
        assert run(cage, "import os\nprint(os.listdir('.'))").stdout == "[]\n", name
    hidden = (
        "import os, errno\nfiles = []\ntry:\n    for n in range(40):\n        files.append(open('x', 'wb', 0))\n"
        "        os.unlink('x')\n        files[-1].write(bytes(10 << 20)) == 10 << 20 or files[-1].write(b'x')\n"
        "except OSError as error:\n    print(len(files) * 10 << 20 < {most}, errno.errorcode[error.errno])"
    )
    assert run(cage, hidden.format(most=watch.FOLDER_BYTES + (20 << 20))).stdout == "True ENOSPC\n"


def test_no_signal_of_a_program_reaches_the_runner(cage: Cage) -> None:
    code = (
        "import os\nfor number in range(1, 65):\n    for pid in 1, os.getppid():\n        try:\n"
        "            os.kill(pid, number)\n            print('sent', number)\n"
        "        except PermissionError:\n            pass\n"
        "try:\n    os.kill(-1, 9)\nexcept ProcessLookupError:\n    print('tried')"
    )
    assert run(cage, code).stdout == "tried\n"
    assert run(cage, "print(1)").stdout == "1\n"


def test_the_owners_umask_closes_nothing() -> None:
    """And programs keep it, as they would without a cage."""
    require_native()
    before = os.umask(0o077)
    try:
        cage = native._start(0, Imports())
        try:
            code = "import os, json\nopen('x', 'w')\nprint(oct(os.stat('x').st_mode))"
            assert run(cage, code).stdout == "0o100600\n"
        finally:
            cage.close()
    finally:
        os.umask(before)


def test_processes_are_counted_exactly(cage: Cage) -> None:
    """Threads, too; the one in excess is refused at once, not at the next sample."""
    code = (
        "import os\nn = 1\ntry:\n    while True:\n        if os.fork() == 0:\n            os.read(0, 1)\n"
        "            os._exit(0)\n        n += 1\nexcept BlockingIOError:\n    print(n)"
    )
    for processes in (1, 2, 7):
        assert run(cage, code, processes=processes).stdout == f"{processes}\n"


@pytest.mark.needs("landlock")
def test_what_is_not_shown_does_not_exist() -> None:
    """Not even for `stat`, which tells it in the cage that has no root of its own (the control)."""
    require_native()
    require_locked()
    hidden = [str(Path(__file__)), "/etc/passwd", "/usr/bin/env", "/home", "/sys", "/dev/shm", "/run", sys.executable]
    there = [path for path in hidden if Path(path).exists()]
    assert len(there) >= 4
    look = Program(f"import os\nprint(*[path for path in {there} if os.path.lexists(path)])")
    seen = {}
    for make in (NativeSandbox, LockedSandbox):
        sandbox = make(slots=1)
        seen[make] = sandbox.run([look])[0].stdout.split()
        sandbox.close()
    assert seen[NativeSandbox] == []
    assert {"/etc/passwd", "/usr/bin/env"} <= set(
        seen[LockedSandbox]
    )  # not all of them: folders may be closed to its uid


STATUS = """
import os
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(*(int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb", "NoNewPrivs", "Seccomp")))
print(os.getuid() == os.geteuid() != 0, os.getgid() != 0, os.uname().nodename)
print(*(line.rstrip() for line in open("/proc/self/cgroup")))
print(*(os.readlink(f"/proc/self/ns/{name}") for name in ("cgroup", "ipc", "mnt", "net", "pid", "uts")))
"""


def test_programs_have_namespaces_of_their_own_and_no_privilege() -> None:
    """UC-101: without Landlock, so that a program can read what the kernel says of it."""
    require_native()
    sandbox = NativeSandbox(slots=1, newest_abi=0)
    privileges, identity, groups, namespaces = sandbox.run([Program(STATUS)])[0].stdout.splitlines()
    sandbox.close()
    assert privileges == "0 0 0 0 1 2"
    assert identity == "True True sandbox"
    paths = {line.split(":", 2)[2].removeprefix("/..") for line in groups.split()}
    assert all(path == "/" or path.startswith(f"/{cgroup.PREFIX}") for path in paths), paths  # not where it lies
    ours = {str(Path(f"/proc/self/ns/{name}").readlink()) for name in ("cgroup", "ipc", "mnt", "net", "pid", "uts")}
    assert not set(namespaces.split()) & ours


def test_without_landlock_it_holds_the_same(aim: Target) -> None:
    """A program reads what /proc says of its own processes, and nothing else."""
    require_native()
    sandbox = NativeSandbox(slots=2, newest_abi=0)
    attacks = [attack for attack in ATTACKS if attack.name not in OWN_PROCESSES]
    outcomes = sandbox.run([attack.program(aim) for attack in attacks])
    own = (
        "import os\nprint(*sorted(os.listdir('/proc')))\n"
        "try:\n    open('/proc/1/environ')\nexcept PermissionError:\n    print('refused')"
    )
    (seen,) = sandbox.run([Program(own)])
    sandbox.close()
    assert len(attacks) == len(ATTACKS) - 2
    assert {a.name: o for a, o in zip(attacks, outcomes, strict=True) if not a.held(o)} == {}
    listed, environment = seen.stdout.splitlines()
    *pids, last, name = listed.split()
    assert (last, name, environment) == ("self", "thread-self", "refused")
    assert len(pids) == 2  # the runner and the program


def test_an_interpreter_works_wherever_it_lies_and_however_it_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    """Below the folder that the cage hides first, and over a symbolic link to its own home."""
    require_native()
    home = Path(os.__file__).resolve().parents[2]
    library = Path(os.__file__).resolve().parent
    with tempfile.TemporaryDirectory(prefix="llm-envs-python-") as place:
        real = Path(place, "real")
        ignore = shutil.ignore_patterns("site-packages", "dist-packages", "test", "idlelib", "tkinter", "config-*")
        (real / "bin").mkdir(parents=True)
        shutil.copytree(library, real / "lib" / library.name, ignore=ignore, copy_function=_link)
        for path in (home / "lib").glob("libpython3*"):
            _link(str(path), str(real / "lib" / path.name))
        _link(os.path.realpath(sys._base_executable), str(real / "bin" / "python3"))  # type: ignore[attr-defined]
        Path(place, "called").symlink_to("real")
        monkeypatch.setattr(sys, "_base_executable", f"{place}/called/bin/python3")
        monkeypatch.setattr(os, "__file__", f"{place}/called/lib/{library.name}/os.py")
        monkeypatch.setattr(sys, "base_prefix", f"{place}/called")
        cage = native._start(6, Imports())
        try:
            outcome = run(cage, "import sys, json, decimal\nprint(json.__file__, sys.prefix)")
        finally:
            cage.close()
        assert outcome.stdout == f"{place}/called/lib/{library.name}/json/__init__.py {place}/called\n", outcome


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


@pytest.mark.parametrize(
    ("platform", "machine", "reason"),
    [("darwin", "arm64", "needs Linux and this is darwin"), ("linux", "aarch64", "knows x86_64 only")],
)
def test_it_fails_closed_elsewhere(monkeypatch: pytest.MonkeyPatch, platform: str, machine: str, reason: str) -> None:
    monkeypatch.setattr(native.sys, "platform", platform)
    monkeypatch.setattr(native.os, "uname", lambda: type("Uname", (), {"machine": machine}))
    with pytest.raises(SandboxError, match=rf"'native' is not available.*{reason}"):
        NativeSandbox()


REFUSED = """
import sys, types
sys.modules["llm_envs"] = types.ModuleType("llm_envs")  # without what it imports on its own
sys.modules["llm_envs"].__path__ = [sys.argv[1] + "/llm_envs"]
from llm_envs.sandbox import locked, native
from llm_envs.sandbox.base import Program
from llm_envs.sandbox.runner import libc, seccomp
libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)()
seccomp._Filter(seccomp._segments({272: seccomp._NO}, unlisted=seccomp._YES, unknown=seccomp._YES)).install()
print(native.unavailable())
sandbox = locked.LockedSandbox(slots=1)
print(sandbox.run([Program("print('locked works')")])[0].stdout.strip())
sandbox.close()
"""


@pytest.mark.needs("landlock")
def test_a_container_that_forbids_namespaces_is_told_apart() -> None:
    """UC-098: by the same means as an ordinary container, a filter that refuses `unshare` with EPERM."""
    require_native()
    require_locked()
    command = [sys.executable, "-c", REFUSED, str(Path(__file__).parents[3])]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert found[0].startswith("[Errno 1] unshare: Operation not permitted: containers usually forbid namespaces")
    assert found[1:] == ["locked works"]


def test_a_refusal_comes_with_what_would_help(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """UC-098: the switch that is off, where one is; else the usual reason. A start that failed may not fail again."""

    def start(error: Exception) -> object:
        def refuse(*_: object) -> RunnerProcess:
            raise error

        return refuse

    (tmp_path / "switch").write_text("0\n")
    monkeypatch.setattr(native, "_SWITCHES", ((str(tmp_path / "switch"), "0", "set the sysctl x to 1"),))
    monkeypatch.setattr(native, "_start", start(SandboxError("unshare: Operation not permitted")))
    try:
        native._refusal.cache_clear()
        reason = native.unavailable()
        assert reason == (
            "unshare: Operation not permitted: "
            "set the sysctl x to 1, or name the sandbox `locked`, which needs no such right, or `docker`"
        )
        native._refusal.cache_clear()
        (tmp_path / "switch").write_text("1\n")
        assert "containers usually forbid namespaces" in str(native.unavailable())
        native._refusal.cache_clear()
        monkeypatch.setattr(native, "_start", start(CageLostError("no memory")))
        assert native.unavailable() == "it does not start: no memory"
    finally:
        native._refusal.cache_clear()
    monkeypatch.undo()
    if native.unavailable() is None:
        assert "sampled" in native.remark() or "cgroup of version" in native.remark()

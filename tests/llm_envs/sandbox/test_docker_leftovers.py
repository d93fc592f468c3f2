"""On a real engine: no container is left, whoever is killed and whenever, and no outcome is lost or mixed up."""

import asyncio
import os
import signal
import subprocess
import textwrap
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip("docker", reason="the extra `docker`")

from docker.errors import NotFound

from llm_envs.sandbox.base import Outcome, Program, SandboxError, Status
from llm_envs.sandbox.docker import DockerSandbox, owner, settings
from llm_envs.sandbox.docker.container import reap
from llm_envs.sandbox.docker.engine import Engine
from tests.llm_envs.sandbox.processes import eventually
from tests.llm_envs.sandbox.test_leftovers import HOSTILE, TRACES
from tests.llm_envs.sandbox.test_leftovers import owner as started_owner
from tests.scale import scaled

pytestmark = [pytest.mark.system, pytest.mark.needs("docker")]


# on whatever this module starts: other tests, and other people, have containers of theirs
MARK = f"test-{os.getpid()}"
MARKED = f"""
from llm_envs.sandbox.docker import DockerSandbox, owner, settings
settings._BOOT += "# {MARK}"
host = owner._host()
owner._host = lambda: host + "/{MARK}"
"""


@dataclass(frozen=True)
class Traces:
    """All that the cage puts on this machine, and on its engine, on behalf of this module."""

    containers: frozenset[str]
    processes: frozenset[int]
    descriptors: int
    threads: int
    mounts: frozenset[str]
    folders: frozenset[str]


seen_mounts: set[str] = set()


def containers() -> frozenset[str]:
    """Their names. Remembers where the engine has mounted them."""
    engine = Engine()
    found = frozenset(name for name, _ in engine.labelled(f"{owner.HOST}={owner.current().host}"))
    for name in found:
        with suppress(NotFound):  # gone meanwhile
            driver = engine._client.inspect_container(name)["GraphDriver"]
            seen_mounts.update(filter(None, [(driver["Data"] or {}).get("MergedDir")]))
    engine.close()
    return found


def runners() -> frozenset[int]:
    """Processes that run inside a container, on this machine; none where the engine is on another one."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            arguments = path.read_bytes().split(b"\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if arguments[:2] == [b"python3", b"-s"] and MARK.encode() in arguments[-2]:
            found.add(int(path.parent.name))
    return frozenset(found)


def traces(folder: Path) -> Traces:
    mounted = {line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()}
    return Traces(
        containers(),
        runners(),
        len(list(Path("/proc/self/fd").iterdir())),
        threading.active_count(),
        frozenset(seen_mounts & mounted),
        frozenset(path.name for path in folder.iterdir()),
    )


@pytest.fixture
def folder(docker_image: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a cage would put folders if it made any; the image is named to all that are started."""
    monkeypatch.setenv("LLM_ENVS_SANDBOX_IMAGE", docker_image)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    host = owner._host()
    monkeypatch.setattr(owner, "_host", lambda: f"{host}/{MARK}")
    monkeypatch.setattr(settings, "_BOOT", f"{settings._BOOT}# {MARK}")
    return tmp_path


def after_reaping(folder: Path) -> Traces:
    """What is left when another sandbox has started."""
    engine = Engine()
    reap(engine)
    engine.close()
    return traces(folder)


def start_owner(script: str, folder: Path, stdin: int | None = None) -> subprocess.Popen[str]:
    """A process of its own that uses the cage."""
    return started_owner(MARKED + textwrap.dedent(script), folder, stdin)


PART = """
sandbox = DockerSandbox(slots=2)
hostile = {hostile!r}
for turn in range({first}, {last}):
    programs = [Program(f"print({{turn * 10 + index}})", wall_s=120) for index in range(9)]
    bad = Program(hostile[turn % len(hostile)], cpu_s=0.3, wall_s=0.5, memory_mb=64)
    outcomes = sandbox.run([*programs[:4], bad, *programs[4:]])
    print(*[outcome.stdout.strip() for outcome in outcomes[:4] + outcomes[5:]], flush=True)
if {killed}:
    spin = "import os\\nos.fork()\\nwhile True: pass"
    threading.Thread(target=sandbox.run, args=([Program(spin, cpu_s=100, wall_s=100)],)).start()
    time.sleep(1000)
sandbox.close()
"""


def test_hostile_programs_and_killed_owners_leave_nothing_and_harm_no_honest_one(folder: Path) -> None:
    """UC-070, UC-083, UC-088, UC-094: one program in ten is hostile, and the owner is killed twice in the midst."""
    before = traces(folder)
    turns = scaled(fast=6, system=10, long=50)
    bounds = [0, turns // 3, 2 * turns // 3, turns]
    for part, (first, last) in enumerate(pairwise(bounds)):
        killed = part < 2
        process = start_owner(PART.format(hostile=HOSTILE, first=first, last=last, killed=killed), folder)
        assert process.stdout is not None
        for turn in range(first, last):
            honest = [turn * 10 + index for index in range(9)]
            assert process.stdout.readline() == " ".join(map(str, honest)) + "\n"
        if killed:
            assert eventually(lambda: len(runners()) >= 2)
            assert containers()
            process.kill()
        assert process.wait(60) == (-signal.SIGKILL if killed else 0)
        process.stdout.close()
        assert eventually(lambda: not runners())
        assert eventually(lambda: after_reaping(folder) == before), (traces(folder), before)


@pytest.mark.parametrize("delay_s", scaled(fast=[0.02, 0.1, 0.2, 0.3], long=[step / 50 for step in range(40)]))
def test_an_owner_killed_while_its_containers_start_leaves_nothing_that_the_next_does_not_remove(
    folder: Path, delay_s: float
) -> None:
    """UC-100: a container that was made and not yet started has no end of its own."""
    before = traces(folder)
    process = start_owner(
        """
        sandbox = DockerSandbox(slots=2)
        print(flush=True)
        sandbox.run([Program(f"print({index})") for index in range(500)])
        time.sleep(1000)
        """,
        folder,
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(delay_s)
    process.kill()
    process.wait()
    process.stdout.close()
    assert eventually(lambda: not runners())
    assert eventually(lambda: after_reaping(folder) == before), (traces(folder), before)


def test_containers_of_a_living_owner_stay_when_others_start_and_those_of_a_dead_one_go(folder: Path) -> None:
    """Also where a child that the dead one forked behind Python's back holds its connection open."""
    process = start_owner(
        """
        sandbox = DockerSandbox(slots=1)
        sandbox.run([Program("print(1)")])
        heir = ctypes.CDLL(None).fork()
        if heir == 0:
            time.sleep(1000)
        print(heir, flush=True)
        for line in sys.stdin:
            print(sandbox.run([Program("print(2)")])[0].stdout, end="", flush=True)
        """,
        folder,
        stdin=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdin is not None
    heir = int(process.stdout.readline())
    try:
        held = containers()
        assert len(held) == 1
        DockerSandbox(slots=1).close()
        assert containers() >= held
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "2\n"
        process.kill()
        process.wait()
        assert containers() >= held  # the heir holds on to it
        DockerSandbox(slots=1).close()
        assert not containers()
    finally:
        os.kill(heir, signal.SIGKILL)
        process.stdin.close()
        process.stdout.close()


def test_a_process_that_ends_without_closing_leaves_nothing(folder: Path) -> None:
    process = start_owner(
        "DockerSandbox(slots=2).run([Program('1')])\nx = DockerSandbox(slots=1)\nx.run([Program('2')])", folder
    )
    assert process.wait(60) == 0
    assert not containers()


def test_a_call_cancelled_while_its_container_starts_leaves_nothing(folder: Path) -> None:
    """UC-100."""
    before = traces(folder)
    sandbox = DockerSandbox(slots=2)

    async def cancelled() -> None:
        call = asyncio.ensure_future(sandbox.arun([Program("print(1)"), Program("print(2)")]))
        await asyncio.sleep(0.05)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(cancelled())
    sandbox.close()
    assert traces(folder) == before


def test_a_sandbox_that_is_closed_ends_what_runs_and_what_floods(folder: Path) -> None:
    """Where nobody reads what a container writes, the engine could not remove it."""
    before = traces(folder)
    sandbox = DockerSandbox(slots=2)
    failures: list[str] = []

    def run(code: str) -> None:
        try:
            sandbox.run([Program(code, cpu_s=100, wall_s=100, output_bytes=1 << 28)])
        except SandboxError as error:
            failures.append(str(error))

    codes = ("import os\nos.fork()\nwhile True: pass", "print('x' * (100 << 20))")
    threads = [threading.Thread(target=run, args=(code,)) for code in codes]
    for thread in threads:
        thread.start()
    assert eventually(lambda: len(runners()) >= 4)
    sandbox.close()
    for thread in threads:
        thread.join()
    assert all("closed" in failure for failure in failures)
    assert traces(folder) == before


def test_a_forked_process_gets_containers_of_its_own(folder: Path) -> None:
    """And the parent's are untouched by the child's use, its close and its end."""
    process = start_owner(
        """
        sandbox = DockerSandbox(slots=2)
        sandbox.run([Program(f"print({index})") for index in range(10)])
        pid = os.fork()
        if pid == 0:
            assert sandbox.run([Program("print('child')")])[0].stdout == "child\\n"
            sandbox.close()
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        assert sandbox.run([Program("print('parent')")])[0].stdout == "parent\\n"
        sandbox.close()
        print("done")
        """,
        folder,
    )
    assert process.communicate(timeout=60)[0] == "done\n"
    assert not containers()


def test_a_container_that_is_killed_is_replaced_and_its_program_run_again(folder: Path) -> None:
    sandbox = DockerSandbox(slots=1)
    sandbox.run([Program("print(1)")])
    (held,) = containers()
    outcomes: list[Outcome] = []
    programs = [Program("import time\ntime.sleep(1)\nprint(2)"), Program("print(3)")]
    thread = threading.Thread(target=lambda: outcomes.extend(sandbox.run(programs)))
    thread.start()
    time.sleep(0.3)
    engine = Engine()
    engine.remove(held)
    engine.close()
    thread.join()
    assert [o.stdout for o in outcomes] == ["2\n", "3\n"]
    assert held not in containers()
    sandbox.close()
    assert not containers()


def test_the_next_program_finds_no_trace(docker_image: str) -> None:
    """UC-089, issue: traces left for the next run. One slot, so that it is the very next."""
    sandbox = DockerSandbox(image=docker_image, slots=1)
    for name, (leave, look, expected) in TRACES.items():
        sandbox.run([Program(leave, stdin="a\nb\n")])
        assert sandbox.run([Program(look)])[0].stdout == expected, name
    sandbox.close()


def test_a_time_out_ends_the_program_and_disturbs_no_other(folder: Path) -> None:
    """UC-088, UC-089: nothing of it runs on; what runs beside it and after it is right, and sees none of its files."""
    sandbox = DockerSandbox(slots=2)
    late = Program("open('mine', 'w').write('x')\nimport os\nos.fork()\nwhile True: pass", cpu_s=0.2, wall_s=0.5)
    beside = Program("import time\ntime.sleep(0.3)\nprint('beside')", wall_s=120)
    outcomes = sandbox.run([late, beside])
    assert [o.status for o in outcomes] == [Status.TIMEOUT, Status.OK]
    after = sandbox.run([Program(f"import os\nprint(os.listdir('.'), {index})") for index in range(4)])
    assert [o.stdout for o in after] == [f"[] {index}\n" for index in range(4)]
    assert eventually(lambda: len(runners()) <= 3)  # one for a slot, and one in reserve
    sandbox.close()
    assert not runners()


def test_many_calls_at_once_lose_and_mix_nothing(docker_image: str) -> None:
    """The issue's 2,000 programs in flight."""
    sandbox = DockerSandbox(image=docker_image, slots=2)
    count = scaled(fast=300, system=1000, long=2000)

    async def all_of_them() -> list[str]:
        calls = [sandbox.arun([Program(f"print({index})")]) for index in range(count)]
        return [outcome.stdout for (outcome,) in await asyncio.gather(*calls)]

    assert asyncio.run(all_of_them()) == [f"{index}\n" for index in range(count)]
    sandbox.close()

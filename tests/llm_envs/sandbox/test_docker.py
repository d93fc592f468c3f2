"""What containers hold beyond the attacks that every cage is put before, on a real engine."""

import os
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from llm_envs.sandbox import get_sandbox, registry
from llm_envs.sandbox.base import Outcome, Program, SandboxError, Status
from llm_envs.sandbox.docker import GUARANTEES, DockerSandbox, engine
from llm_envs.sandbox.docker.cage import DockerCage, Room
from llm_envs.sandbox.docker.settings import Settings
from llm_envs.sandbox.imports import Imports
from llm_envs.sandbox.pool import PooledSandbox
from tests.llm_envs.sandbox.attacks import ATTACKS
from tests.llm_envs.sandbox.target import Target
from tests.scale import scaled

pytestmark = [pytest.mark.system, pytest.mark.needs("docker")]

# what the engine's wider filter lets a program do, since it reaches nobody: start programs of the image, make sockets
# on a network of its own, and send the runner signals that the kernel drops
HARMLESS_INSIDE = {
    "start another program", "send a datagram", "open other kinds of sockets", "point a connected pair elsewhere",
    "signal its parent and everybody", "have the kernel signal its parent", "leave memory to the next program",
    "reach more of the kernel",
}  # fmt: skip


@pytest.fixture
def cage(docker_image: str) -> Iterator[DockerCage]:
    """One container, whose runner must outlive what it runs: no pool would notice that it was replaced."""
    started = DockerCage(Settings(docker_image), Room(), Imports())
    yield started
    started.close()


def run(cage: DockerCage, code: str, **fields: object) -> Outcome:
    (outcome,) = cage.run([Program(code, **{"cpu_s": 30.0, "wall_s": 120.0, **fields})])  # type: ignore[arg-type]
    return outcome


@pytest.mark.parametrize("filtered", [True, False])
@pytest.mark.parametrize("newest_abi", scaled(fast=[0], long=[0, 1, 6]))
def test_other_engines_hold_the_same(docker_image: str, aim: Target, *, filtered: bool, newest_abi: int) -> None:
    """Kernels without Landlock, and processors for which the runner has no system-call filter.

    Nothing is lost on the way: no attack ends or harms the runner.
    """
    settings = Settings(docker_image, filtered=filtered, newest_abi=newest_abi)
    attacks = [attack for attack in ATTACKS if filtered or attack.name not in HARMLESS_INSIDE]
    sandbox = PooledSandbox("docker", GUARANTEES, partial(DockerCage, settings, Room()), slots=2)
    try:
        outcomes = sandbox.run([attack.program(aim) for attack in attacks])
        breached = {a.name: o for a, o in zip(attacks, outcomes, strict=True) if not a.held(o)}
        assert not breached
    finally:
        sandbox.close()


HARM = {
    "limits": "import resource\nfor n in range(16): resource.prlimit(1, n, (0, 0))",
    "priority": "import os\nos.setpriority(os.PRIO_PROCESS, 1, 19)",
    "processors": "import os\nos.sched_setaffinity(1, {0})",
    "signals": "import os\nfor n in range(1, 65): os.kill(1, n)",
    "signals by the kernel": (
        "import fcntl, os, socket\na, b = socket.socketpair()\n"
        "fcntl.fcntl(a, fcntl.F_SETOWN, 1)\nfcntl.fcntl(a, fcntl.F_SETSIG, 9)\n"
        "fcntl.fcntl(a, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)\nb.send(b'x')"
    ),
    "signals to all": "import os\nos.kill(-1, 9)",
    "memory of the kernel": (
        "import fcntl, os\nfor n in range(8):\n    if os.fork() == 0: break\n"
        "while True:\n    r, w = os.pipe()\n    fcntl.fcntl(w, 1031, 1 << 20)\n    os.write(w, bytes(1 << 20))"
    ),
    "queues": "import os\nopen('/dev/mqueue/x', 'w')",
    "folder": "import os\nos.rename('/program', '/elsewhere')",
    "folder's rights": "import os\nos.chmod('/program', 0)",
    "a folder's rights": "import os\nos.makedirs('a/b')\nos.chmod('a/b', 0)\nos.chmod('a', 0)",
    "more folders' rights": (
        "import os\nos.makedirs('a/b/c')\nopen('a/x', 'w')\nfor name in 'a/b/c', 'a/b', 'a': os.chmod(name, 0o500)"
    ),
}


@pytest.mark.parametrize("filtered", [True, False])
def test_no_program_harms_the_runner_that_runs_the_next(docker_image: str, *, filtered: bool) -> None:
    """Also where it may call on more of the kernel, under the runner's own uid."""
    cage = DockerCage(Settings(docker_image, filtered=filtered, newest_abi=0), Room(), Imports())
    look = (
        "import os, resource\nprint(os.sched_getaffinity(1) == os.sched_getaffinity(0), os.getpriority(0, 1),"
        " os.listdir('.'), open('x', 'w').write('x'))"
    )
    try:
        for name, code in HARM.items():
            run(cage, code, memory_mb=64, wall_s=5.0)
            after = run(cage, f"{look}\n# {name}")
            assert (after.status, after.stdout) == (Status.OK, "True 0 [] 1\n"), (name, after)
    finally:
        cage.close()


def test_a_lack_of_memory_ends_the_program_and_never_the_runner(cage: DockerCage) -> None:
    """UC-097: in one process, in a tree faster than any sample, and where most of it lies in files."""
    tree = "import os\nfor _ in range(7): os.fork()\nblock = bytearray(b'x') * (60 << 20)\nimport time\ntime.sleep(1)"
    files = (
        "for n in range(10): open(str(n), 'wb').write(bytes(6 << 20))\n"
        "import os\nfor _ in range(3): os.fork()\nx = bytearray(b'x') * (60 << 20)"
    )
    for index in range(scaled(fast=2, long=10)):
        assert run(cage, f"x = bytearray(b'x') * (200 << 20)\n# {index}", memory_mb=64).status is Status.MEMORY
        assert run(cage, f"{tree}\n# {index}", memory_mb=64).status in {Status.MEMORY, Status.ERROR}
        assert run(cage, f"{files}\n# {index}", memory_mb=64).status in {Status.MEMORY, Status.ERROR}
        assert run(cage, f"print({index})").stdout == f"{index}\n"


def test_a_program_that_needs_more_gets_a_larger_container(cage: DockerCage) -> None:
    """And those after it keep to their own limits."""
    large = run(cage, "x = bytearray(b'x') * (600 << 20)\nprint(len(x))", memory_mb=800)
    assert large.stdout == f"{600 << 20}\n"
    many = "import os, time\nfor _ in range(40): os.fork() or time.sleep(1) or os._exit(0)\ntime.sleep(1)\nprint(40)"
    assert run(cage, many, processes=50).stdout == "40\n"
    assert run(cage, many, processes=8).status is Status.ERROR
    assert run(cage, "x = bytearray(b'x') * (600 << 20)", memory_mb=200).status is Status.MEMORY
    long = run(cage, "print('x' * (40 << 20))", output_bytes=64 << 20, stdin="y" * (10 << 20))
    assert len(long.stdout) == (40 << 20) + 1


def test_a_container_is_replaced_after_its_number_of_programs(docker_image: str) -> None:
    sandbox = DockerSandbox(image=docker_image, slots=1, recycle_after=3)
    started = "import os\nprint(os.stat('/proc/1').st_ctime_ns)\n#"
    found = [sandbox.run([Program(f"{started}{index}")])[0].stdout for index in range(6)]
    assert len(set(found)) == 2
    assert found[0] == found[2] != found[3] == found[5]
    sandbox.close()


def test_an_image_that_will_not_do_is_told_as_such(docker_image: str) -> None:
    """UC-098: no verdict comes of it."""
    from docker import from_env

    client = from_env()
    empty = client.api.import_image_from_data(_empty_archive(), repository="llm-envs-test-empty", tag="1")
    assert empty
    sandbox = DockerSandbox(image="llm-envs-test-empty:1", slots=1)
    with pytest.raises(SandboxError, match="python3"):
        sandbox.run([Program("print(1)")])
    sandbox.close()
    client.images.remove("llm-envs-test-empty:1")
    client.close()


def _empty_archive() -> bytes:
    import io
    import tarfile

    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("empty"))
    return buffer.getvalue()


def test_the_shared_instance_is_of_docker_where_an_engine_answers(
    docker_image: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """And one line says what is held and what is not."""
    monkeypatch.setattr(registry._shared, "instances", {})
    monkeypatch.setenv("LLM_ENVS_SANDBOX_IMAGE", docker_image)
    with caplog.at_level("INFO", "llm_envs.sandbox.registry"):
        sandbox = get_sandbox()
    assert sandbox.name == "docker"
    (line,) = [record.message for record in caplog.records]
    assert line.startswith(f"sandbox docker: works here ({docker_image} at {engine.address()}); holds files, network")
    assert line.endswith("does not hold kernel")
    assert sandbox.run([Program("print(1)")])[0].stdout == "1\n"
    sandbox.close()


@pytest.fixture(params=["tcp", "tls"])
def remote(request: pytest.FixtureRequest, docker_image: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine as one on another machine is reached: by TCP, plain or with certificates on both sides."""
    path = engine.address().removeprefix("unix://")
    if not Path(path).is_socket():
        pytest.skip("the engine is reached over the network already")
    context = None
    if request.param == "tls":
        _make_certificate(tmp_path)
        monkeypatch.setenv("DOCKER_CERT_PATH", str(tmp_path))
        monkeypatch.setenv("DOCKER_TLS_VERIFY", "1")
        for variable in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):  # which `requests` would trust instead
            monkeypatch.delenv(variable, raising=False)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(tmp_path / "ca.pem"))
        context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
        context.verify_mode = ssl.CERT_REQUIRED
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=_forward_all, args=(listener, path, context), daemon=True).start()
    monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{listener.getsockname()[1]}")
    yield
    listener.close()


def _make_certificate(folder: Path) -> None:
    request = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -keyout key.pem -out cert.pem"
    command = [*request.split(), "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    (folder / "ca.pem").write_bytes((folder / "cert.pem").read_bytes())


def _forward_all(listener: socket.socket, path: str, context: ssl.SSLContext | None) -> None:
    while True:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=_forward, args=(client, path, context), daemon=True).start()


def _forward(client: socket.socket, path: str, context: ssl.SSLContext | None) -> None:
    if context is not None:
        client = context.wrap_socket(client, server_side=True)
    engine_side = socket.socket(socket.AF_UNIX)
    engine_side.connect(path)
    back = threading.Thread(target=_copy, args=(engine_side, client), daemon=True)
    back.start()
    _copy(client, engine_side)
    back.join()
    client.close()
    engine_side.close()


def _copy(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(1 << 16):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def test_an_engine_on_another_machine_serves_as_well(remote: None, docker_image: str) -> None:
    """Nothing is mounted, and all goes through one connection a container; large messages included."""
    sandbox = DockerSandbox(image=docker_image, slots=2)
    programs = [Program(f"print(input()[:3], {index})", stdin="x" * 3_000_000) for index in range(6)]
    programs.append(Program("print('y' * 3_000_000)", output_bytes=1 << 22))
    programs.append(Program("while True: print('z' * 1000)"))
    outcomes = sandbox.run(programs)
    assert [o.stdout for o in outcomes[:6]] == [f"xxx {index}\n" for index in range(6)]
    assert len(outcomes[6].stdout) == 3_000_001
    assert outcomes[7].status is Status.OUTPUT
    sandbox.close()
    assert os.environ["DOCKER_HOST"].startswith("tcp://")

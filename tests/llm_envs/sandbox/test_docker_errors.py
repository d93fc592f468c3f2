"""Whatever an engine answers or fails to answer: never a verdict, never a container left. Without an engine."""

import logging
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("docker", reason="the extra `docker`")

import docker as sdk

from llm_envs.sandbox import docker, get_sandbox, registry
from llm_envs.sandbox.base import Program, SandboxError
from llm_envs.sandbox.docker import DockerSandbox, engine, owner
from llm_envs.sandbox.docker.container import reap
from llm_envs.sandbox.docker.engine import Engine
from tests.llm_envs.sandbox.fake_engine import ERRORS, FakeEngine, api_error


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    """An engine of our own behind the SDK, and nobody's environment."""
    found = FakeEngine()
    monkeypatch.setattr(sdk, "APIClient", found.connect)
    monkeypatch.setattr(engine, "_ORPHAN_S", 0.3)
    monkeypatch.setattr(engine, "_PAUSE_S", 0.01)
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    monkeypatch.delenv(docker.IMAGE_VARIABLE, raising=False)
    return found


def run(*codes: str, **options: object) -> list[str]:
    sandbox = DockerSandbox(slots=1, **options)  # type: ignore[arg-type]
    try:
        return [outcome.stdout for outcome in sandbox.run([Program(code) for code in codes])]
    finally:
        sandbox.close()


def test_programs_run_and_nothing_is_left(fake: FakeEngine) -> None:
    """The control of what follows: the same without any error."""
    assert run("a", "b") == ["a", "b"]
    assert fake.held == {}
    assert fake.calls["create_container"] == fake.calls["remove_container"] == 1


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("method", ["create_container", "attach_socket", "start"])
def test_an_error_that_stays_is_told_and_one_that_passes_is_not_seen(fake: FakeEngine, method: str, error: str) -> None:
    """UC-091: at each call of a start. A refusal to create is final, all else is tried once more."""
    final = method == "create_container" and error == "404"
    fake.fail(method, ERRORS[error](), times=1)
    if final:
        with pytest.raises(SandboxError, match="the engine does not make a container"):
            run("a")
    else:
        assert run("a") == ["a"]
    assert fake.held == {}
    fake.fail(method, ERRORS[error]())
    with pytest.raises(SandboxError, match="the engine does not" if final else "was lost 2 times: the engine does not"):
        run("a")
    assert fake.held == {}


@pytest.mark.parametrize(
    ("method", "error"),
    # with a 404 the engine says that it has no such image: see below
    [(method, error) for method in ("connect", "info", "inspect_image") for error in ERRORS if error != "404"],
)
def test_an_engine_that_fails_when_it_is_asked_what_it_has_is_no_engine(
    fake: FakeEngine, method: str, error: str
) -> None:
    """UC-091, UC-098: said when the sandbox is made, before any program."""
    fake.fail(method, ERRORS[error]())
    assert str(docker.unavailable()).startswith("the engine does not")
    with pytest.raises(SandboxError, match="the sandbox 'docker' is not available: the engine does not"):
        DockerSandbox()


@pytest.mark.parametrize("error", [name for name in ERRORS if name != "404"])
def test_a_container_that_cannot_be_removed_harms_no_outcome_and_goes_later(
    fake: FakeEngine, error: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """UC-091: the next sandbox removes it, of this process or of another."""
    monkeypatch.setattr(engine, "_GONE_S", 0.05)
    fake.fail("remove_container", ERRORS[error](), times=1)
    assert run("a") == ["a"]
    assert "stays for now" in caplog.text
    assert len(fake.held) == 1
    assert run("b") == ["b"]
    assert fake.held == {}


def test_a_removal_that_is_under_way_is_waited_for(fake: FakeEngine) -> None:
    """The engine removes a container whose runner has ended; asked to, it says 409 meanwhile."""
    name = fake.add({})
    fake.fail("remove_container", api_error(409))
    looks = 0

    def inspect(container: str) -> None:
        nonlocal looks
        looks += 1
        if looks == 3:
            del fake.held[container]
        FakeEngine.inspect_container(fake, container)

    fake.inspect_container = inspect  # type: ignore[method-assign]
    Engine().remove(name)
    assert looks == 3


@pytest.mark.parametrize("looks", [1, 4])
def test_a_container_that_is_made_after_the_client_gave_up_is_found_and_removed(
    fake: FakeEngine, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """UC-092: by its label, also where it takes some looks until it is there."""
    monkeypatch.setattr(engine, "_ORPHAN_S", 60.0)
    fake.late = looks
    fake.fail("create_container", ERRORS["ReadTimeout"](), times=1)
    assert run("a") == ["a"]
    assert fake.held == {}
    assert fake.calls["containers"] == 1 + looks
    assert fake.calls["create_container"] == fake.calls["remove_container"] == 2


def test_one_that_appears_later_still_goes_with_the_next_sandbox(
    fake: FakeEngine, caplog: pytest.LogCaptureFixture
) -> None:
    """UC-092: though its owner, this process, lives."""
    fake.fail("create_container", ERRORS["ReadTimeout"](), times=1)
    assert run("a") == ["a"]
    assert "may still make the container" in caplog.text
    fake.add(fake.requests[0]["labels"])  # type: ignore[arg-type]
    DockerSandbox().close()
    assert fake.held == {}


def test_a_container_that_dies_is_replaced_once_and_its_program_is_not_blamed(fake: FakeEngine) -> None:
    fake.deadly["b"] = 1
    assert run("a", "b", "c") == ["a", "b", "c"]
    assert fake.calls["create_container"] >= 2  # one more where the next was made ready already
    assert fake.held == {}
    fake.deadly["b"] = 2
    with pytest.raises(SandboxError, match="was lost 2 times: the runner ended"):
        run("a", "b", "c")
    assert fake.held == {}


def test_only_containers_of_dead_owners_are_reaped(fake: FakeEngine) -> None:
    """Not those of a living one, of another host, of another boot, or of somebody else."""
    own = owner.current()
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as living:
        started = owner._started(living.pid)
        dead = {
            "ended": replace(own, pid=ended.pid, started="1"),
            "number used again": replace(own, pid=living.pid, started=f"{started}0"),
            "lost by us": own,
        }
        alive = {
            "living": replace(own, pid=living.pid, started=started),
            "other host": replace(own, host="elsewhere", pid=ended.pid),
        }
        for name, whose in {**dead, **alive}.items():
            fake.add(whose.labels(name))
        fake.add({"unrelated": "1"})
        reap(Engine())
        assert {labels.get(owner.CAGE, "unrelated") for labels in fake.held.values()} == {*alive, "unrelated"}
        living.communicate()


def test_reaping_that_fails_stops_nobody(fake: FakeEngine, caplog: pytest.LogCaptureFixture) -> None:
    fake.fail("containers", ERRORS["500"](), times=1)
    assert run("a") == ["a"]
    assert "left over stay for now" in caplog.text


def test_a_missing_image_is_downloaded_by_name_only(fake: FakeEngine, caplog: pytest.LogCaptureFixture) -> None:
    """UC-098: to look whether the cage works downloads nothing."""
    fake.images.clear()
    assert docker.unavailable() == (
        "the engine has no image 'python:3.11-slim': "
        "docker pull python:3.11-slim, or name one that it has in LLM_ENVS_SANDBOX_IMAGE"
    )
    assert fake.calls["pull"] == 0
    DockerSandbox().close()
    assert fake.calls["pull"] == 1
    assert "downloading the image 'python:3.11-slim'" in caplog.text


@pytest.mark.parametrize("error", ERRORS)
def test_an_image_that_cannot_be_had_is_told_with_the_remedy(fake: FakeEngine, error: str) -> None:
    """UC-098: when the sandbox is made, so before any model is loaded."""
    fake.images.clear()
    fake.fail("pull", ERRORS[error]())
    with pytest.raises(SandboxError, match=r"has no image 'mine:1': docker pull mine:1, .*does not download the image"):
        DockerSandbox(image="mine:1")


def test_the_environment_names_the_image_of_the_shared_instance(
    fake: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry._shared, "instances", {})
    monkeypatch.setenv(docker.IMAGE_VARIABLE, "mine:1")
    fake.images = {"mine:1"}
    sandbox = get_sandbox("docker")
    assert sandbox.run([Program("a")])[0].stdout == "a"
    assert fake.requests[0]["image"] == "mine:1"
    assert docker.remark() == "mine:1 at tcp://127.0.0.1:1"
    sandbox.close()


@pytest.mark.parametrize(
    ("changed", "reason"),
    [({"OSType": "windows"}, "runs windows containers"), ({"PidsLimit": False}, "cannot limit memory and processes")],
)
def test_an_engine_that_cannot_hold_the_guarantees_is_refused(
    fake: FakeEngine, changed: dict[str, object], reason: str
) -> None:
    fake.info_given.update(changed)
    assert reason in str(docker.unavailable())
    with pytest.raises(SandboxError, match=reason):
        DockerSandbox()


def test_a_runtime_that_the_engine_lacks_is_told_what_there_is(fake: FakeEngine) -> None:
    with pytest.raises(SandboxError, match="runtime='runsc': the engine has runc"):
        DockerSandbox(runtime="runsc")
    fake.info_given["Runtimes"] = {"runc": {}, "runsc": {}}
    sandbox = DockerSandbox(runtime="runsc")
    assert sandbox.guarantees == docker.GUARANTEES | {"kernel"}
    sandbox.close()


def test_where_there_is_no_engine_it_is_said_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """UC-098: no socket, one that nobody serves, no SDK, a port that nobody serves."""
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none")
    assert docker.unavailable() == f"no engine at unix://{tmp_path}/none: start one, or name one in DOCKER_HOST"
    with socket.socket(socket.AF_UNIX) as deserted:
        deserted.bind(str(tmp_path / "deserted"))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/deserted")
    assert "does not answer" in str(docker.unavailable())
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{port}")
    assert "does not answer" in str(docker.unavailable())
    monkeypatch.setattr(engine, "find_spec", lambda name: None)
    assert docker.unavailable() == "the Docker SDK is missing: pip install 'llm-envs[docker]'"
    with pytest.raises(SandboxError, match="pip install"):
        get_sandbox("docker")


def test_to_look_for_an_engine_is_quiet(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none")
    with caplog.at_level(logging.INFO):
        docker.unavailable()
    assert caplog.text == ""

"""Server processes: who starts them, when they are started again, and that none of them outlives its run."""

import asyncio
import functools
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from at_grpo.inference import server as watching
from at_grpo.inference import vitals
from at_grpo.inference.base import SamplerError
from at_grpo.inference.endpoint import UNIX, Endpoint
from at_grpo.inference.plan import ServerPlan
from at_grpo.inference.publishing import load_adapter
from at_grpo.inference.server import Server
from tests.architecture.paths import ROOT
from tests.scale import scaled
from tests.trainer.inference import listener, processes

LIMIT_S = 60.0  # a watchdog


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "POLL_S", 0.02)


@pytest.fixture
def plan(tmp_path: Path) -> ServerPlan:
    """Starts `listener` where vLLM would be."""
    return ServerPlan("model", "float32", 64, policies=2, max_rank=8, python=str(listener.stand_in(tmp_path)))


@pytest.fixture
def start(plan: ServerPlan, tmp_path: Path) -> Iterator[Callable[..., Server]]:
    servers: list[Server] = []

    def start(
        restarts: int = 3,
        hang_s: float = 120.0,
        timeout_s: float = 600.0,
        start_timeout_s: float = 600.0,
        **options: object,
    ) -> Server:
        server = Server(
            replace(plan, options=options),
            tmp_path / "log",
            make_endpoint=functools.partial(Endpoint, timeout_s=timeout_s),
            start_timeout_s=start_timeout_s,
            restarts=restarts,
            hang_s=hang_s,
        )
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.close()


def folder_of(server: Server) -> Path:
    return Path(server.endpoint.url.removeprefix(UNIX)).parent


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline, "watchdog"
        time.sleep(0.02)


def kill(server: Server) -> None:
    """SIGKILL to the server's own process, when it is there; its worker is left to us."""
    wait_for(lambda: processes.leaders(folder_of(server)))
    (leader,) = processes.leaders(folder_of(server))
    os.kill(leader, signal.SIGKILL)
    wait_for(lambda: not processes.members(leader))


def loaded(endpoint: Endpoint) -> set[str]:
    models = asyncio.run(endpoint.get("/v1/models"))["data"]
    return {entry["id"] for entry in models} - {"base"}


def test_a_server_ends_with_its_workers_and_its_folder_when_it_is_closed(start: Callable[..., Server]) -> None:
    server = start()
    server.wait_ready()
    folder = folder_of(server)
    (leader,) = processes.leaders(folder)
    assert len(processes.members(leader)) == 2, "the server and its worker"
    server.close()
    server.close()
    assert not processes.members(leader)
    assert not folder.exists()


def test_a_server_that_dies_is_started_again_and_prepared_before_it_takes_requests(
    start: Callable[..., Server], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """UC-143."""
    server = start()
    server.wait_ready()

    def prepare(endpoint: Endpoint) -> None:
        time.sleep(0.3)  # requests that came before the adapter would be answered without it
        asyncio.run(load_adapter(endpoint, "tool-v1", tmp_path, gated=False))

    server.prepare = prepare
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            kill(server)
            assert loaded(server.endpoint) == {"tool-v1"}
    assert caplog.text.count("was ended by SIGKILL") == 2


def test_a_server_that_runs_on_and_refuses_is_started_again(
    start: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    """vLLM's front process may hang when its engine has died."""
    monkeypatch.setattr(vitals, "HEALTH_S", 0.1)
    server = start()
    server.wait_ready()
    before = processes.leaders(folder_of(server))
    asyncio.run(server.endpoint.post("/break", {}))
    wait_for(lambda: processes.leaders(folder_of(server)) not in ([], before))
    assert loaded(server.endpoint) == set()


def test_a_server_that_hangs_is_started_again_and_those_who_wait_are_answered(
    start: Callable[..., Server], caplog: pytest.LogCaptureFixture
) -> None:
    """UC-143: a process that is stopped accepts connections and answers none."""
    server = start(hang_s=0.4, restarts=1)
    server.wait_ready()
    (leader,) = processes.leaders(folder_of(server))
    asyncio.run(server.endpoint.post("/hang", {}))
    with caplog.at_level(logging.WARNING):
        assert loaded(server.endpoint) == set()
    assert "the vLLM server ran and answered nothing for 0.4 s (inference.hang_s), and was ended" in caplog.text
    assert not processes.members(leader)
    asyncio.run(server.endpoint.post("/hang", {}))
    with pytest.raises(SamplerError, match=r"answered nothing for 0\.4 s.*its log is .*inference\.restarts"):
        asyncio.run(server.endpoint.get("/v1/models"))


@pytest.mark.system  # for the seconds that it takes
def test_a_server_that_is_well_and_lets_requests_wait_is_started_again(start: Callable[..., Server]) -> None:
    """UC-143: vLLM's front process says that it is well while its engine hangs."""
    server = start(timeout_s=0.5, restarts=1)
    server.wait_ready()
    before = processes.leaders(folder_of(server))
    with pytest.raises(SamplerError, match=r"let a request wait for inference\.timeout_s.*inference\.restarts"):
        asyncio.run(server.endpoint.post("/stall", {}))
    assert processes.leaders(folder_of(server)) != before


@pytest.mark.parametrize("hang_s", [120.0, pytest.param(0.4, marks=pytest.mark.system)])
def test_a_server_that_is_busy_is_left_alone(
    hang_s: float, start: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It misses health checks; it answers others, or is not silent for long enough."""
    monkeypatch.setattr(vitals, "HEALTH_S", 0.05)
    server = start(hang_s=hang_s)
    server.wait_ready()
    before = processes.leaders(folder_of(server))
    asyncio.run(server.endpoint.post("/hang", {}))
    for _ in range(10 if hang_s > 1 else 30):
        time.sleep(0.05)
        asyncio.run(server.endpoint.post("/hang", {}))
    assert processes.leaders(folder_of(server)) == before


@pytest.mark.system
def test_a_server_that_accepts_and_never_answers_is_not_ready(start: Callable[..., Server]) -> None:
    server = start(hung=True, start_timeout_s=1.0)
    with pytest.raises(SamplerError, match=r"did not answer within 1 s \(inference\.start_timeout_s\)"):
        server.wait_ready()


def test_when_the_restarts_are_used_up_requests_fail_with_the_reason_and_the_remedy(
    start: Callable[..., Server],
) -> None:
    """UC-143."""
    server = start(restarts=1)
    server.wait_ready()
    kill(server)
    assert loaded(server.endpoint) == set()
    kill(server)
    with pytest.raises(SamplerError, match=r"ended by SIGKILL; its log is .*inference\.restarts"):
        asyncio.run(server.endpoint.get("/v1/models"))


def test_whatever_goes_wrong_while_a_server_is_prepared_reaches_those_who_wait(start: Callable[..., Server]) -> None:
    server = start()
    server.wait_ready()

    def prepare(endpoint: Endpoint) -> None:
        raise ZeroDivisionError("no adapter to load")

    server.prepare = prepare
    kill(server)
    with pytest.raises(SamplerError, match="no adapter to load"):
        asyncio.run(server.endpoint.get("/v1/models"))


def test_a_server_that_does_not_start_is_not_tried_again_and_its_reason_is_told(start: Callable[..., Server]) -> None:
    server = start(ValueError=True)
    with pytest.raises(SamplerError, match=r"ended with status 1 \(ValueError: an option that vLLM does not know\)"):
        server.wait_ready()
    assert not processes.of(folder_of(server))


def test_what_an_earlier_server_said_is_not_told_of_a_later_one(start: Callable[..., Server], tmp_path: Path) -> None:
    """UC-172: one that was killed from outside says nothing; what is likely then is said for it."""
    (tmp_path / "log").write_text("ValueError: of another day\n")
    server = start(restarts=0)
    server.wait_ready()
    kill(server)
    with pytest.raises(
        SamplerError, match=r"ended by SIGKILL; its log is .*log\. If nobody has killed it, memory ran out"
    ):
        asyncio.run(server.endpoint.get("/v1/models"))


def test_several_servers_at_once_do_not_get_into_each_others_way(start: Callable[..., Server]) -> None:
    """UC-145: no port is chosen, so none can be taken."""
    for _ in range(scaled(fast=1, long=20)):
        servers = [start() for _ in range(4)]
        for server in servers:
            server.wait_ready()
        assert len({server.endpoint.url for server in servers}) == 4
        for server in servers:
            server.close()


def test_a_server_closed_while_it_is_restarted_leaves_nothing(start: Callable[..., Server]) -> None:
    for pause_s in scaled(fast=(0.0, 0.3), long=(0.0, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0)):
        server = start()
        server.wait_ready()
        folder = folder_of(server)
        kill(server)
        time.sleep(pause_s)
        server.close()
        assert not processes.of(folder)
        assert not folder.exists()


# ---- the end of a run that ends nothing itself

RUN = """
import sys, time
from pathlib import Path
from at_grpo.inference.plan import ServerPlan
from at_grpo.inference.server import Server
server = Server(ServerPlan("model", "float32", 64, 2, 8, python=sys.argv[1]), Path(sys.argv[2]))
server.wait_ready()
print(server.endpoint.url, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_a_run_that_is_killed_leaves_no_server_no_worker_and_no_folder(
    plan: ServerPlan, tmp_path: Path, number: int
) -> None:
    paths = os.pathsep.join(str(ROOT / part) for part in (".", "trainer"))
    run = subprocess.Popen(
        [sys.executable, "-c", RUN, plan.python, str(tmp_path / "log")],
        env=os.environ | {"PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert run.stdout is not None
    folder = Path(run.stdout.readline().strip().removeprefix(UNIX)).parent
    (leader,) = processes.leaders(folder)
    assert len(processes.members(leader)) == 2
    run.send_signal(number)
    run.wait()
    run.stdout.close()
    wait_for(lambda: not processes.members(leader) and not folder.exists())


def test_workers_that_have_left_the_server_end_with_it(start: Callable[..., Server]) -> None:
    """In sessions of their own, with and without a parent."""
    server = start(scattered=True)
    server.wait_ready()
    assert len(processes.naming(folder_of(server))) == 4, "keeper, server and two workers"
    server.close()
    assert not processes.naming(folder_of(server))


def test_a_server_whose_keeper_hangs_is_ended_whole(
    start: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is left but what has been asked about: no zombie either."""
    monkeypatch.setattr(watching, "STOP_S", 0.5)
    server = start(scattered=True)
    server.wait_ready()
    (keeper,) = processes.keepers(folder_of(server))
    os.kill(keeper.pid, signal.SIGSTOP)
    server.close()
    assert not processes.naming(folder_of(server))
    assert not Path(f"/proc/{keeper.pid}").exists()


def test_a_server_whose_keeper_is_killed_is_ended_and_started_again(
    start: Callable[..., Server], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A stopped process takes no SIGTERM, so that nobody but us could end it."""
    monkeypatch.setattr(watching.keeper, "GRACE_S", 0.5)
    server = start(scattered=True)
    server.wait_ready()
    folder = folder_of(server)
    (keeper,) = processes.keepers(folder)
    before = processes.naming(folder)
    for process in set(before) - {keeper.pid}:
        os.kill(process, signal.SIGSTOP)
    os.kill(keeper.pid, signal.SIGKILL)
    with caplog.at_level(logging.WARNING):
        assert loaded(server.endpoint) == set()
    assert "was ended with its keeper by SIGKILL" in caplog.text
    assert not set(before) & set(processes.naming(folder))


def test_a_server_does_not_outlive_its_keeper(start: Callable[..., Server]) -> None:
    server = start(restarts=0)
    server.wait_ready()
    folder = folder_of(server)
    (leader,), (keeper,) = processes.leaders(folder), processes.keepers(folder)
    os.kill(keeper.pid, signal.SIGKILL)
    wait_for(lambda: leader not in processes.leaders(folder))


@pytest.mark.system  # for the seconds that it takes
def test_a_server_that_ignores_the_request_to_end_is_killed(start: Callable[..., Server]) -> None:
    """A stopped process takes no SIGTERM."""
    server = start()
    server.wait_ready()
    folder = folder_of(server)
    for process in processes.of(folder):
        os.kill(process, signal.SIGSTOP)
    closing = threading.Thread(target=server.close)
    closing.start()
    closing.join(LIMIT_S)
    assert not closing.is_alive()
    assert not processes.of(folder)

"""One server: what is tried again and what is not, and that every wait ends."""

import asyncio
import gc
import socket
import threading
import time
import warnings
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest
from aiohttp import web

from at_grpo.inference import endpoint as endpoint_module
from at_grpo.inference.base import SamplerError
from at_grpo.inference.endpoint import Endpoint, EndpointError, SilentError
from tests.trainer.inference.http_server import Handler, serving


def answering(*statuses: int) -> tuple[Handler, Counter[str]]:
    """Answers with these statuses one after another, and with 200 from then on; 0 cuts the connection."""
    left, seen = list(statuses), Counter[str]()

    async def handle(request: web.Request) -> web.StreamResponse:
        seen[request.path] += 1
        status = left.pop(0) if left else 200
        if status == 0:
            request.transport.close()  # type: ignore[union-attr]
        return web.json_response(
            {"error": {"message": "no"}} if status >= 400 else {"fine": True}, status=status or 200
        )

    return handle, seen


@pytest.mark.parametrize("status", [500, 503, 429, 0])
def test_server_errors_and_lost_connections_are_tried_again(status: int) -> None:
    handler, seen = answering(status, status)
    with serving(handler) as url:
        assert asyncio.run(Endpoint(url).post("/x", {})) == {"fine": True}
    assert seen["/x"] == 3


@pytest.mark.parametrize("status", [400, 404, 422])
def test_what_is_our_fault_is_not_tried_again(status: int) -> None:
    handler, seen = answering(status)
    with serving(handler) as url, pytest.raises(EndpointError, match=f"{status}: no") as caught:
        asyncio.run(Endpoint(url).post("/x", {}))
    assert (caught.value.status, seen["/x"]) == (status, 1)


def test_an_answer_that_is_cut_in_the_middle_is_asked_for_again() -> None:
    left = [1]

    async def handle(request: web.Request) -> web.StreamResponse:
        if left:
            left.pop()
            response = web.StreamResponse(headers={"Content-Length": "1000"})
            await response.prepare(request)
            await response.write(b'{"fine": ')
            request.transport.close()  # type: ignore[union-attr]
            return response
        return web.json_response({"fine": True})

    with serving(handle) as url:
        assert asyncio.run(Endpoint(url).post("/x", {})) == {"fine": True}


def test_a_server_that_says_when_to_come_again_is_not_asked_before() -> None:
    """What hosted servers do to those who ask too much; where the wait is longer than our patience, we say so."""
    at: list[float] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        at.append(time.monotonic())
        return web.json_response({}, status=200 if len(at) == 2 else 429, headers={"Retry-After": "1"})

    with serving(handle) as url:
        assert asyncio.run(Endpoint(url).post("/x", {})) == {}
        assert at[1] - at[0] >= 1
        with pytest.raises(EndpointError, match=r"inference\.patience_s.*lower inference\.max_in_flight") as caught:
            asyncio.run(Endpoint(url, patience_s=0.9).post("/x", {}))
    assert (caught.value.status, len(at)) == (429, 3)


def test_a_server_that_is_not_there_is_given_up_with_its_name() -> None:
    """UC-143: no nested retries, and an end."""
    with pytest.raises(SamplerError, match=r"http://127\.0\.0\.1:9/x: .*inference\.patience_s"):
        asyncio.run(Endpoint("http://127.0.0.1:9", patience_s=0.3).post("/x", {}))


def test_a_server_that_accepts_and_never_answers_is_given_up_with_its_name() -> None:
    """UC-143."""

    async def silent(request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(60)
        return web.Response()

    with serving(silent) as url, pytest.raises(SamplerError, match=rf"{url}/x: no answer within 0\.3 s"):
        asyncio.run(Endpoint(url, timeout_s=0.3, patience_s=60).post("/x", {}))


def test_a_server_that_does_not_even_accept_is_tried_again_like_one_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """UC-146: as one may be that is being restarted; nothing was sent, so nothing was left unanswered."""
    monkeypatch.setattr(endpoint_module, "CONNECT_S", 0.2)
    with socket.socket() as full, ExitStack() as others:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(4):  # more than wait to be accepted
            other = others.enter_context(socket.socket())
            other.setblocking(False)
            other.connect_ex(full.getsockname())
        url = f"http://127.0.0.1:{full.getsockname()[1]}"
        with pytest.raises(SamplerError, match=r"tried for 0\.5 s \(inference\.patience_s\)") as caught:
            asyncio.run(Endpoint(url, patience_s=0.5).post("/x", {}))
        assert not isinstance(caught.value, SilentError)


def test_requests_that_queue_do_not_time_out() -> None:
    """UC-146: the clock of a request starts when it is sent."""
    at_once = most = 0

    async def slow(request: web.Request) -> web.StreamResponse:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0.05)
        at_once -= 1
        return web.json_response({})

    async def many(endpoint: Endpoint) -> None:
        await asyncio.gather(*(endpoint.post("/x", {}) for _ in range(60)))

    with serving(slow) as url:
        asyncio.run(many(Endpoint(url, timeout_s=1.0, max_in_flight=2)))
    assert most == 2


def test_time_in_the_queue_takes_no_patience_from_a_request() -> None:
    """UC-146: a request that has queued for longer than its patience is tried again as any other is, and for no longer:
    the negative control.
    """
    failures = [1, 1000]

    async def handle(request: web.Request) -> web.StreamResponse:
        if request.path == "/slow":
            await asyncio.sleep(0.8)
            return web.json_response({})
        failures[0] -= 1
        return web.json_response({}, status=503 if failures[0] >= 0 else 200)

    async def behind_a_slow_one(endpoint: Endpoint) -> object:
        slow = asyncio.ensure_future(endpoint.post("/slow", {}))
        await asyncio.sleep(0.1)
        answer = (await asyncio.gather(endpoint.post("/quick", {}), return_exceptions=True))[0]
        await slow
        return answer

    with serving(handle) as url:
        endpoint = Endpoint(url, max_in_flight=1, patience_s=0.4)
        assert asyncio.run(behind_a_slow_one(endpoint)) == {}
        failures.pop(0)
        assert isinstance(asyncio.run(behind_a_slow_one(endpoint)), EndpointError)


def test_a_request_that_is_cancelled_ends_its_connection_and_leaves_its_place_to_the_next_one() -> None:
    cut: list[bool] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        if request.path == "/forever":
            while request.transport is not None:
                await asyncio.sleep(0.02)
            cut.append(True)
        return web.json_response({"fine": True})

    async def cancel(endpoint: Endpoint) -> object:
        for _ in range(2):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(endpoint.post("/forever", {}), 0.1)
        return await endpoint.post("/x", {})

    with serving(handle) as url:
        assert asyncio.run(cancel(Endpoint(url, max_in_flight=1))) == {"fine": True}
        deadline = time.monotonic() + 30
        while len(cut) < 2:
            assert time.monotonic() < deadline, "watchdog"
            time.sleep(0.02)


@pytest.mark.parametrize("others", [False, True], ids=["answers nobody", "answers others"])
def test_a_request_without_an_answer_tells_who_could_restart_the_server_only_where_that_would_help(
    others: bool,
) -> None:
    told = threading.Event()

    async def handle(request: web.Request) -> web.StreamResponse:
        if request.path == "/stuck" and not told.is_set():
            await asyncio.sleep(60)
        return web.json_response({"fine": True})

    async def ask(endpoint: Endpoint) -> object:
        stuck = asyncio.ensure_future(endpoint.post("/stuck", {}))
        for _ in range(2 if others else 0):
            await asyncio.sleep(0.1)
            await endpoint.get("/other")
        return await stuck

    def restart() -> None:
        threading.Timer(0.2, endpoint.resume).start()
        told.set()

    with serving(handle) as url:
        endpoint = Endpoint(url, timeout_s=0.4, patience_s=0.0)
        endpoint.on_silence = restart
        if others:
            with pytest.raises(SilentError, match=r"no answer within 0\.4 s"):
                asyncio.run(ask(endpoint))
        else:
            assert asyncio.run(ask(endpoint)) == {"fine": True}
    assert told.is_set() is not others


def test_one_endpoint_serves_several_event_loops_and_threads_and_leaves_no_session_open() -> None:
    """UC-148."""
    handler, seen = answering()
    with serving(handler) as url, warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        endpoint = Endpoint(url)
        for _ in range(3):
            assert asyncio.run(endpoint.get("/x")) == {"fine": True}
        threads = [threading.Thread(target=lambda: asyncio.run(endpoint.get("/x"))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        gc.collect()
    assert seen["/x"] == 6


def test_a_socket_of_the_file_system_serves_as_well(tmp_path: Path) -> None:
    async def both() -> object:
        async def fine(request: web.Request) -> web.StreamResponse:
            return web.json_response({"path": request.path})

        app = web.Application()
        app.router.add_route("*", "/{path:.*}", fine)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.UnixSite(runner, str(tmp_path / "s")).start()
        answer = await Endpoint(f"unix:{tmp_path / 's'}").get("/health")
        await runner.cleanup()
        return answer

    assert asyncio.run(both()) == {"path": "/health"}


def test_requests_wait_while_a_server_is_restarted_but_not_those_that_prepare_it() -> None:
    handler, seen = answering()
    with serving(handler) as url:
        endpoint = Endpoint(url)
        endpoint.pause()
        waiting = threading.Thread(target=lambda: asyncio.run(endpoint.post("/later", {})))
        waiting.start()
        asyncio.run(endpoint.post("/prepare", {}, gated=False))
        time.sleep(0.3)
        assert seen == {"/prepare": 1}
        endpoint.resume()
        waiting.join(10)
    assert seen == {"/prepare": 1, "/later": 1}


def test_requests_that_wait_for_a_server_that_is_given_up_fail_with_the_reason() -> None:
    endpoint = Endpoint("http://127.0.0.1:9")
    endpoint.pause()
    threading.Timer(0.2, endpoint.fail, ["it died of old age"]).start()
    with pytest.raises(SamplerError, match="it died of old age"):
        asyncio.run(endpoint.post("/x", {}))

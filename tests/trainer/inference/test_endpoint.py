"""One server: what is tried again and what is not, and that every wait ends."""

import asyncio
import gc
import threading
import time
import warnings
from collections import Counter
from pathlib import Path

import pytest
from aiohttp import web

from at_grpo.inference.base import SamplerError
from at_grpo.inference.endpoint import Endpoint, EndpointError
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


@pytest.mark.parametrize("status", [500, 503, 0])
def test_server_errors_and_lost_connections_are_tried_again(status: int) -> None:
    handler, seen = answering(status, status)
    with serving(handler) as url:
        assert asyncio.run(Endpoint(url).post("/x", {})) == {"fine": True}
    assert seen["/x"] == 3


@pytest.mark.parametrize("status", [400, 404, 422, 429])
def test_what_is_our_fault_is_not_tried_again(status: int) -> None:
    handler, seen = answering(status)
    with serving(handler) as url, pytest.raises(EndpointError, match=f"{status}: no") as caught:
        asyncio.run(Endpoint(url).post("/x", {}))
    assert (caught.value.status, seen["/x"]) == (status, 1)


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

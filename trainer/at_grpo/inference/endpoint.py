"""One server's address and the way to talk to it: JSON over HTTP, from any event loop, with an end to every wait.

There is one layer of retries, here: a connection that is lost and an answer 5xx are tried again until `patience_s` is
over, since a server that is restarted is back by then; anything else is not.
"""

import asyncio
import json
import threading
import time
from collections.abc import AsyncGenerator
from typing import Any
from weakref import WeakKeyDictionary

import aiohttp

from at_grpo.inference.base import SamplerError

UNIX = "unix:"
CONNECT_S = 10.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 2.0
_RETRIED = (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError, ConnectionError)


class EndpointError(SamplerError):
    """An answer that is an error, by its `status` ours (4xx) or the server's (5xx); the message is the server's own."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class SilentError(SamplerError):
    """A server that accepts a request and does not answer in time."""


class Endpoint:
    """A server, reached by `http://host:port` or `unix:/path/of/its/socket`.

    Calls may come from several event loops, one after another or at once; each has a session of its own, which ends
    with the loop.

    Attributes:
        url: as given.
        outstanding: tokens that requests in flight may still cost; a router's measure of load.
    """

    def __init__(
        self, url: str, *, timeout_s: float = 600.0, patience_s: float = 120.0, max_in_flight: int = 256
    ) -> None:
        """Nothing is sent yet.

        Args:
            url: where the server is.
            timeout_s: seconds that one answer may take, from when the request is sent.
            patience_s: seconds for which a lost connection is tried again.
            max_in_flight: requests at once; further ones wait here, where no timeout runs.
        """
        self.url = url
        self.outstanding = 0
        self._root = "http://localhost" if url.startswith(UNIX) else url.rstrip("/")
        self._timeout = aiohttp.ClientTimeout(total=timeout_s, sock_connect=CONNECT_S)
        self._patience_s = patience_s
        self._max_in_flight = max_in_flight
        self._sessions: WeakKeyDictionary[asyncio.AbstractEventLoop, _Session] = WeakKeyDictionary()
        self._open = threading.Event()
        self._open.set()
        self._failure = ""

    # ---- what a watcher of the server tells

    def pause(self) -> None:
        """Let requests wait: the server is being restarted."""
        self._open.clear()

    def resume(self) -> None:
        """Let requests through again."""
        self._open.set()

    def fail(self, reason: str) -> None:
        """Let all requests fail, those that wait too: the server will not come back."""
        self._failure = reason
        self._open.set()

    # ---- requests

    async def post(self, path: str, body: Any, *, gated: bool = True) -> Any:
        """The answer to a request, decoded; text where it is no JSON.

        `gated`: wait while the endpoint is paused. What prepares a restarted server goes past that.

        Raises:
            EndpointError: an answer that says the request is wrong (4xx), or for `patience_s` that the server is (5xx).
            SilentError: no answer in time.
            SamplerError: none at all for `patience_s`, or a server that will not come back.
        """
        return await self._ask("POST", path, json.dumps(body).encode(), gated=gated)

    async def get(self, path: str, *, gated: bool = True) -> Any:
        """See `post`."""
        return await self._ask("GET", path, None, gated=gated)

    async def _ask(self, method: str, path: str, data: bytes | None, *, gated: bool) -> Any:
        session = await self._session()
        deadline, pause = time.monotonic() + self._patience_s, FIRST_PAUSE_S
        async with session.room:
            while True:
                if gated and await self._gate(path):
                    deadline = time.monotonic() + self._patience_s  # patience is for what nobody knows the reason of
                try:
                    status, answer = await self._send(session.client, method, path, data)
                except TimeoutError as error:
                    raise SilentError(
                        f"{self.url}{path}: no answer within {self._timeout.total:g} s (inference.timeout_s); the "
                        "server accepts and does not answer. Look at its log, or restart it."
                    ) from error
                except _RETRIED as error:
                    status, answer = 0, f"{type(error).__name__}: {error}"
                if 0 < status < 500:
                    return self._checked(path, status, answer)
                if time.monotonic() + pause > deadline:
                    raise self._given_up(path, status, answer)
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE_S)

    async def _gate(self, path: str) -> bool:
        """Wait while the server is restarted; its watcher lets us go or fails us. Returns whether there was a wait."""
        waited = not self._open.is_set()
        while not self._open.is_set():
            await asyncio.sleep(FIRST_PAUSE_S)
        if self._failure:
            raise SamplerError(f"{self.url}{path}: {self._failure}")
        return waited

    async def _send(self, client: aiohttp.ClientSession, method: str, path: str, data: bytes | None) -> tuple[int, Any]:
        headers = {"Content-Type": "application/json"}
        async with client.request(method, f"{self._root}{path}", data=data, headers=headers) as response:
            raw = await response.read()
            return response.status, _decoded(raw)

    def _given_up(self, path: str, status: int, answer: Any) -> SamplerError:
        tried = f"{self.url}{path}: {_words(answer)}; tried for {self._patience_s:g} s (inference.patience_s)."
        if status:
            return EndpointError(f"{tried} Look at the server's log.", status)
        return SamplerError(f"{tried} Is the server running? Look at its log.")

    def _checked(self, path: str, status: int, answer: Any) -> Any:
        if status >= 400:
            raise EndpointError(f"{self.url}{path}: {status}: {_words(answer)}", status)
        return answer

    async def _session(self) -> "_Session":
        loop = asyncio.get_running_loop()
        session = self._sessions.get(loop)
        if session is None:
            socket = self.url.removeprefix(UNIX) if self.url.startswith(UNIX) else None
            connector = aiohttp.UnixConnector(socket, limit=0) if socket else aiohttp.TCPConnector(limit=0)
            client = aiohttp.ClientSession(connector=connector, timeout=self._timeout)
            session = self._sessions[loop] = _Session(client, self._max_in_flight)
            await anext(session.lifetime)
        return session


class _Session:
    """A client session on one event loop. An asynchronous generator that the loop's end finalises closes it."""

    def __init__(self, client: aiohttp.ClientSession, max_in_flight: int) -> None:
        self.client = client
        self.room = asyncio.Semaphore(max_in_flight)
        self.lifetime = self._lifetime()

    async def _lifetime(self) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            await self.client.close()


def _decoded(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return raw.decode(errors="replace")


def _words(answer: Any) -> str:
    """The message in an error answer of an OpenAI-compatible server, else the answer's start."""
    if isinstance(answer, dict) and isinstance(answer.get("error"), dict):
        return str(answer["error"].get("message", answer))
    return str(answer)[:300]

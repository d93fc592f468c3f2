"""One server's address and the way to talk to it: JSON over HTTP, from any event loop, with an end to every wait.

There is one layer of retries, here: a connection that is lost and an answer 5xx (or 429, too many requests) are tried
again until `patience_s` is over, since a server that is restarted is back by then; anything else is not. A server that
says when to come again (`Retry-After`) is not asked before.
"""

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import aiohttp
import msgspec

from at_grpo.inference.base import SamplerError

UNIX = "unix:"
CONNECT_S = 10.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 2.0
TOO_MANY = 429  # of hosted servers: not now, ask again
_RETRIED = (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError, ConnectionError)


class EndpointError(SamplerError):
    """An answer that is an error, by its `status` ours (4xx) or the server's (5xx); the message is the server's own."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class SilentError(SamplerError):
    """A server that accepts a request and does not answer in time."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What came back: a status, 0 where the connection was lost; the body; how long the server asks us to wait."""

    status: int
    body: bytes
    wait_s: float = 0.0

    @property
    def is_final(self) -> bool:
        return 0 < self.status < 500 and self.status != TOO_MANY


class Endpoint:
    """A server, reached by `http://host:port` or `unix:/path/of/its/socket`.

    Calls may come from several event loops, one after another or at once; each has a session of its own, which ends
    with the loop.

    Attributes:
        url: as given.
        outstanding: tokens that requests in flight may still cost; a router's measure of load.
        answered: when an answer came for the last time, by the monotonic clock; a sign of life for who watches.
        on_silence: told by a request that has run out of time at a server that answers nobody; it then waits for the
            server to be restarted instead of failing. None where nobody could restart it.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout_s: float = 600.0,
        patience_s: float = 120.0,
        max_in_flight: int = 256,
        api_key: str = "",
    ) -> None:
        """Nothing is sent yet.

        Args:
            url: where the server is.
            timeout_s: seconds that one answer may take, from when the request is sent.
            patience_s: seconds for which a lost connection is tried again, from when the request is first sent.
            max_in_flight: requests at once; further ones wait here, where no timeout runs.
            api_key: sent as a bearer token; no message of ours shows it.
        """
        self.url = url
        self.outstanding = 0
        self.answered = time.monotonic()
        self.on_silence: Callable[[], None] | None = None
        self._root = "http://localhost" if url.startswith(UNIX) else url.rstrip("/")
        self._timeout = aiohttp.ClientTimeout(total=timeout_s, sock_connect=CONNECT_S)
        self._patience_s = patience_s
        self._max_in_flight = max_in_flight
        self._api_key = api_key
        self._headers = {
            "Content-Type": "application/json",
            **({"Authorization": f"Bearer {api_key}"} if api_key else {}),
        }
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
        return _decoded(await self._ask("POST", path, msgspec.json.encode(body), gated=gated))

    async def post_for_bytes(self, path: str, body: Any) -> bytes:
        """See `post`; the answer as it came, for who knows what is in it."""
        return await self._ask("POST", path, msgspec.json.encode(body), gated=True)

    async def get(self, path: str, *, gated: bool = True) -> Any:
        """See `post`."""
        return _decoded(await self._ask("GET", path, None, gated=gated))

    async def _ask(self, method: str, path: str, data: bytes | None, *, gated: bool) -> bytes:
        session = await self._session()
        async with session.room:  # patience begins when there is room, since the queue is of our own making
            answer = await self._final_answer(session.client, method, path, data, gated=gated)
        if answer.status >= 400:
            raise EndpointError(f"{self.url}{path}: {answer.status}: {self._words(answer)}", answer.status)
        return answer.body

    async def _final_answer(
        self, client: aiohttp.ClientSession, method: str, path: str, data: bytes | None, *, gated: bool
    ) -> _Answer:
        deadline, pause = time.monotonic() + self._patience_s, FIRST_PAUSE_S
        while True:
            if gated and await self._gate(path):
                deadline = time.monotonic() + self._patience_s  # patience is for what nobody knows the reason of
            sent = time.monotonic()
            try:
                answer = await self._send(client, method, path, data)
            except aiohttp.ConnectionTimeoutError as error:  # a TimeoutError, too, but nothing was sent
                answer = _lost(error)
            except TimeoutError as error:
                if gated and self._told_of_silence(sent):
                    continue
                raise SilentError(
                    f"{self.url}{path}: no answer within {self._timeout.total:g} s (inference.timeout_s); the "
                    "server accepts and does not answer. Look at its log, or restart it."
                ) from error
            except _RETRIED as error:
                answer = _lost(error)
            if answer.is_final:
                return answer
            wait = max(pause, answer.wait_s)
            if time.monotonic() + wait > deadline:
                raise self._given_up(path, answer)
            await asyncio.sleep(wait)
            pause = min(2 * pause, LONGEST_PAUSE_S)

    def _told_of_silence(self, sent: float) -> bool:
        """Whether somebody restarts the server now, since it has answered nobody after this moment."""
        if self.on_silence is None or self.answered > sent:
            return False
        self.pause()
        self.on_silence()
        return True

    async def _gate(self, path: str) -> bool:
        """Wait while the server is restarted; its watcher lets us go or fails us. Returns whether there was a wait."""
        waited = not self._open.is_set()
        while not self._open.is_set() and not self._failure:
            await asyncio.sleep(FIRST_PAUSE_S)
        if self._failure:
            raise SamplerError(f"{self.url}{path}: {self._failure}")
        return waited

    async def _send(self, client: aiohttp.ClientSession, method: str, path: str, data: bytes | None) -> _Answer:
        async with client.request(method, f"{self._root}{path}", data=data, headers=self._headers) as response:
            body = await response.read()
            self.answered = time.monotonic()
            return _Answer(response.status, body, _seconds(response.headers.get("Retry-After", "")))

    def _given_up(self, path: str, answer: _Answer) -> SamplerError:
        tried = f"{self.url}{path}: {self._words(answer)}; tried for {self._patience_s:g} s (inference.patience_s)."
        if answer.status == TOO_MANY:
            return EndpointError(f"{tried} It wants fewer requests at once: lower inference.max_in_flight.", TOO_MANY)
        if answer.status:
            return EndpointError(f"{tried} Look at the server's log.", answer.status)
        return SamplerError(f"{tried} Is the server running? Look at its log.")

    def _words(self, answer: _Answer) -> str:
        """What an answer says, without the key, which some servers repeat."""
        words = _words(_decoded(answer.body))
        return words.replace(self._api_key, "[key]") if self._api_key else words

    async def _session(self) -> "_Session":
        loop = asyncio.get_running_loop()
        session = self._sessions.get(loop)
        if session is None:
            socket = self.url.removeprefix(UNIX) if self.url.startswith(UNIX) else None
            connector = aiohttp.UnixConnector(socket, limit=0) if socket else aiohttp.TCPConnector(limit=0)
            # No server of ours sets cookies; a jar would be searched for each request.
            client = aiohttp.ClientSession(
                connector=connector, timeout=self._timeout, cookie_jar=aiohttp.DummyCookieJar()
            )
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


def _lost(error: Exception) -> _Answer:
    return _Answer(0, f"{type(error).__name__}: {error}".encode())


def _decoded(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except ValueError:
        return body.decode(errors="replace")


def _seconds(words: str) -> float:
    """A wait in seconds; the other form of `Retry-After`, a date, is left to our own pauses."""
    return float(words) if words.isdecimal() else 0.0


def _words(answer: Any) -> str:
    """The message in an error answer of an OpenAI-compatible server, else the answer's start."""
    if isinstance(answer, dict) and isinstance(answer.get("error"), dict):
        return str(answer["error"].get("message", answer))
    return str(answer)[:300]

"""A scripted OpenAI-compatible endpoint on loopback that can misbehave."""

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

RESET = "reset"  # instead of a body: the connection is torn down


@dataclass(frozen=True)
class Reply:
    """What the endpoint does with one request.

    Attributes:
        lost: bytes of the body that are announced and never sent.
        pause: seconds before each of the body's bytes.
    """

    body: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    lost: int = 0
    pause: float = 0.0


def completion(
    content: str | None, usage: tuple[int, int] | None = (10, 2), finish: str = "stop", **message: Any
) -> dict[str, Any]:
    """A chat completion with one choice; `usage` is what prompt and reply took."""
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
    body = {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    if usage is not None:
        names = ("prompt_tokens", "completion_tokens", "total_tokens")
        body["usage"] = dict(zip(names, (*usage, sum(usage)), strict=True))
    return body


Script = Callable[[int, dict[str, Any]], Reply]


@dataclass
class Endpoint:
    """The running endpoint: its base URL and the requests that it got."""

    url: str
    requests: list[dict[str, Any]]


class _Server(ThreadingHTTPServer):
    """Knows what to answer and keeps what it was asked."""

    request_queue_size = 1024  # with the library's 5, the kernel resets some of many connections that come at once

    def __init__(self, script: Script) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = script
        self.requests: list[dict[str, Any]] = []
        self.lock = threading.Lock()


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            number = len(self.server.requests)
            self.server.requests.append(request | {"path": self.path, "key": self.headers["Authorization"]})
        reply = self.server.script(number, request)
        if reply.body == RESET:
            self._reset()
        else:
            self._answer(reply)

    def _reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def _answer(self, reply: Reply) -> None:
        body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        try:
            self.send_response(reply.status)
            for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            for part in _parts(body[: len(body) - reply.lost], reply.pause):
                self.wfile.write(part)
                self.wfile.flush()
        except OSError:  # whoever asked has gone
            self.close_connection = True
        if reply.lost:
            self.close_connection = True

    def finish(self) -> None:
        if not self.connection._closed:  # type: ignore[attr-defined]  # a connection that was reset has nothing to flush
            super().finish()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the name is the base class's
        """Keep requests out of the test output."""


def _parts(body: bytes, pause: float) -> Iterator[bytes]:
    """The body at once, or byte by byte."""
    if not pause:
        yield body
        return
    for byte in body:
        time.sleep(pause)
        yield bytes([byte])


@contextmanager
def endpoint(script: Script) -> Iterator[Endpoint]:
    """Serve until the block ends; `script` gets the number of the request (from 0) and its body."""
    server = _Server(script)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield Endpoint(f"http://127.0.0.1:{server.server_port}/v1", server.requests)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

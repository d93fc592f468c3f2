"""A scripted OpenAI-compatible endpoint on loopback that can misbehave."""

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

RESET = "reset"  # instead of a body: the connection is torn down


@dataclass(frozen=True)
class Reply:
    """What the endpoint does with one request."""

    body: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


def completion(content: str | None, **message: Any) -> dict[str, Any]:
    """A chat completion with one choice."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content, **message}}
    return {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}


@dataclass
class Endpoint:
    """The running endpoint: its base URL and the requests that it got."""

    url: str
    requests: list[dict[str, Any]]


@contextmanager
def endpoint(script: Callable[[int, dict[str, Any]], Reply]) -> Iterator[Endpoint]:
    """Serve until the block ends; `script` gets the number of the request (from 0) and its body."""
    requests: list[dict[str, Any]] = []
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                number = len(requests)
                requests.append(request | {"path": self.path, "key": self.headers["Authorization"]})
            reply = script(number, request)
            if reply.body == RESET:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.close_connection = True
                self.connection.close()
                return
            body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def finish(self) -> None:
            if not self.connection._closed:  # type: ignore[attr-defined]  # a connection that was reset has nothing to flush
                super().finish()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the name is the base class's
            """Keep requests out of the test output."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield Endpoint(f"http://127.0.0.1:{server.server_port}/v1", requests)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

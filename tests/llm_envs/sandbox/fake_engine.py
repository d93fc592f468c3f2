"""A Docker engine in memory behind the SDK's client: it fails as it is told, and its containers echo their programs."""

import marshal
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from types import SimpleNamespace

import docker.errors
import requests

from llm_envs.sandbox.runner import wire

INFO = {
    "Architecture": "x86_64",
    "MemoryLimit": True,
    "NCPU": 2,
    "OSType": "linux",
    "PidsLimit": True,
    "Runtimes": {"runc": {}},
}


def api_error(status: int) -> docker.errors.APIError:
    """What the SDK raises for an answer with this status."""
    response = requests.Response()
    response.status_code = status
    kind = docker.errors.NotFound if status == 404 else docker.errors.APIError
    return kind(f"{status} of the engine", response, f"explained {status}")  # type: ignore[no-any-return]


ERRORS: dict[str, Callable[[], Exception]] = {
    "ReadTimeout": lambda: requests.exceptions.ReadTimeout("no answer"),
    "ConnectionError": lambda: requests.exceptions.ConnectionError("gone"),
    **{str(status): lambda status=status: api_error(status) for status in (404, 409, 500)},
}


class FakeEngine:
    """Its `containers` are what is there; `fail` makes the next calls of a method raise."""

    def __init__(self) -> None:
        self.held: dict[str, dict[str, str]] = {}  # id -> labels
        self.images = {"python:3.11-slim"}
        self.info_given = dict(INFO)
        self.requests: list[Mapping[str, object]] = []
        self.calls: Counter[str] = Counter()
        self.late: int | None = None  # looks until there is a container that nobody was told of; None for never
        self.deadly: Counter[str] = Counter()  # code -> how often its container dies of it
        self._failures: dict[str, tuple[Exception, int]] = {}
        self._streams: dict[str, socket.socket] = {}
        self._untold: list[tuple[int, dict[str, str]]] = []
        self._lock = threading.Lock()

    def fail(self, method: str, error: Exception, times: int = 1000) -> None:
        """Let the next calls of a method raise."""
        self._failures[method] = (error, times)

    def connect(self, **settings: object) -> "FakeEngine":
        """Stands for `docker.APIClient`."""
        self._called("connect")
        return self

    def close(self) -> None:
        pass

    def info(self) -> dict[str, object]:
        self._called("info")
        return self.info_given

    def inspect_image(self, image: str) -> None:
        self._called("inspect_image")
        if image not in self.images:
            raise api_error(404)

    def pull(self, image: str, **settings: object) -> list[dict[str, str]]:
        self._called("pull")
        self.images.add(image)
        return [{"status": "done"}]

    def create_host_config(self, **host: object) -> Mapping[str, object]:
        return host

    def create_container(self, image: str, **settings: object) -> dict[str, str]:
        self.requests.append({"image": image, **settings})
        labels: dict[str, str] = settings["labels"]  # type: ignore[assignment]
        try:
            self._called("create_container")
        except Exception:
            if self.late is not None:
                self._untold.append((self.calls["containers"] + self.late, labels))
            raise
        return {"Id": self.add(labels)}

    def add(self, labels: Mapping[str, str]) -> str:
        """A container that is there from now on."""
        name = f"{len(self.requests)}-{len(self.held)}-{id(labels):x}"
        self.held[name] = dict(labels)
        return name

    def attach_socket(self, container: str, streams: object) -> SimpleNamespace:
        self._called("attach_socket")
        ours, theirs = socket.socketpair()
        self._streams[container] = theirs
        return SimpleNamespace(_sock=ours, _response=SimpleNamespace(close=ours.close))

    def start(self, container: str) -> None:
        self._called("start")
        threading.Thread(target=self._run, args=(self._streams[container],), daemon=True).start()

    def remove_container(self, container: str, **how: object) -> None:
        self._called("remove_container")
        if self.held.pop(container, None) is None:
            raise api_error(404)

    def inspect_container(self, container: str) -> None:
        if container not in self.held:
            raise api_error(404)

    def containers(self, *, all: bool, filters: Mapping[str, list[str]]) -> list[dict[str, object]]:  # noqa: A002
        self._called("containers")
        while self._untold and self.calls["containers"] >= self._untold[0][0]:
            self.add(self._untold.pop(0)[1])
        (wanted,) = filters["label"]
        name, _, value = wanted.partition("=")
        return [{"Id": key, "Labels": labels} for key, labels in self.held.items() if labels.get(name) == value]

    def _called(self, method: str) -> None:
        with self._lock:
            self.calls[method] += 1
            error, times = self._failures.get(method, (None, 0))
            if error is None or times == 0:
                return
            self._failures[method] = (error, times - 1)
        raise error

    def _run(self, stream: socket.socket) -> None:
        """A runner that takes every program's code for its output."""
        with stream, stream.makefile("rb") as received:
            for _ in ("modules", "configuration"):
                wire.read_framed(received.read)
            _say(stream, wire.framed(b"+"))
            while header := received.read(wire.REQUEST.size):
                _, body_bytes, stdin_bytes, *_ = wire.REQUEST.unpack(header)
                code = marshal.loads(received.read(body_bytes))[0]
                received.read(stdin_bytes)
                with self._lock:
                    self.deadly[code] -= 1
                    if self.deadly[code] >= 0:
                        return
                reply = wire.REPLY.pack(wire.OK, False, 0, 0.001, 0.001, len(code), 0)
                _say(stream, reply + code.encode())


def _say(stream: socket.socket, data: bytes) -> None:
    stream.sendall(struct.pack(">BxxxI", 1, len(data)) + data)

"""What is asked of a Docker engine, through its SDK, with the SDK's many errors told apart (see `errors`)."""

import logging
import os
import socket
import time
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from llm_envs.sandbox.base import SandboxError
from llm_envs.sandbox.cage import CageLostError
from llm_envs.sandbox.docker.errors import engine_errors

logger = logging.getLogger(__name__)

_DEFAULT = "unix:///var/run/docker.sock"
_PROBE_S = 3.0
_CALL_S = 60.0  # an engine that is asked for many containers at once takes its time
_GONE_S = 20.0
_ORPHAN_S = 10.0
_PAUSE_S = 0.2
_CONFLICT = 409


def address() -> str:
    """Where the engine is: DOCKER_HOST, else the socket of this machine."""
    return os.environ.get("DOCKER_HOST") or _DEFAULT


def unreachable() -> str | None:
    """Why no engine can be asked, and what would help; None where one may be. Costs next to nothing."""
    scheme, _, path = address().partition("://")
    if scheme == "unix" and not Path(path).is_socket():
        return f"no engine at {address()}: start one, or name one in DOCKER_HOST"
    if find_spec("docker") is None:
        return "the Docker SDK is missing: pip install 'llm-envs[docker]'"
    return None


class Engine:
    """A connection to the engine; for one thread of one process. Methods raise CageLostError, some SandboxError."""

    def __init__(self, *, patient: bool = True) -> None:
        """Connect. `patient`: wait for a busy engine; else a few seconds must do."""
        import docker
        from docker.utils import kwargs_from_env

        with engine_errors(f"answer at {address()}"):
            self._client = docker.APIClient(**kwargs_from_env(), timeout=_CALL_S if patient else _PROBE_S)

    def close(self) -> None:
        """Give up the connection. What was attached stays."""
        self._client.close()

    def info(self) -> Mapping[str, Any]:
        """What the engine says of itself."""
        with engine_errors("describe itself"):
            info: Mapping[str, Any] = self._client.info()
        return info

    def has(self, image: str) -> bool:
        """Whether the image is there, so that nothing need be downloaded."""
        from docker.errors import NotFound

        with engine_errors(f"look for the image {image!r}"):
            try:
                self._client.inspect_image(image)
            except NotFound:
                return False
        return True

    def pull(self, image: str) -> None:
        """Download an image. Raises SandboxError where the engine cannot."""
        try:
            with engine_errors(f"download the image {image!r}", refusable=True):
                for progress in self._client.pull(image, stream=True, decode=True):
                    if "error" in progress:
                        raise SandboxError(progress["error"])
        except CageLostError as error:
            raise SandboxError(str(error)) from error

    def create(self, image: str, host: Mapping[str, Any], **settings: object) -> str:
        """A container's id; `host` are the settings that go into its host configuration.

        Raises SandboxError where the engine refuses them. After a CageLostError there may be one all the same: see
        `discard`.
        """
        with engine_errors(f"make a container of {image!r}", refusable=True):
            found: str = self._client.create_container(
                image,
                # detached, it would not be told the end of its input when our connection ends
                detach=False,
                stdin_open=True,
                host_config=self._client.create_host_config(**host),
                **settings,
            )["Id"]
        return found

    def attach(self, container: str) -> socket.socket:
        """The connection to a container's standard streams; before its start, so that nothing is missed."""
        with engine_errors("attach to a container"):
            stream = self._client.attach_socket(container, {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1})
            return _own_connection(stream)

    def start(self, container: str) -> None:
        """Start a container."""
        with engine_errors("start a container"):
            self._client.start(container)

    def remove(self, container: str) -> None:
        """Kill and remove a container, and wait until it is gone; it may be gone, or going, already."""
        from docker.errors import APIError, NotFound

        with engine_errors("remove a container"):
            try:
                self._client.remove_container(container, force=True, v=True)
            except NotFound:
                return
            except APIError as error:
                if error.status_code != _CONFLICT:
                    raise
                self._wait_until_gone(container)

    def labelled(self, label: str) -> Iterator[tuple[str, Mapping[str, str]]]:
        """Id and labels of every container, running or not, with this label."""
        with engine_errors("list containers"):
            found = self._client.containers(all=True, filters={"label": [label]})
        return ((container["Id"], container["Labels"]) for container in found)

    def discard(self, label: str) -> None:
        """Remove what a `create` without an answer may have made after all, perhaps only now."""
        end = time.monotonic() + _ORPHAN_S
        while time.monotonic() < end:
            try:
                for container, _ in self.labelled(label):
                    self.remove(container)
                    return
            except CageLostError as error:
                logger.debug("cannot look for a container yet: %s", error)
            time.sleep(_PAUSE_S)
        logger.warning("the engine may still make the container %s; the next sandbox to start removes it", label)

    def _wait_until_gone(self, container: str) -> None:
        """By looking: the engine's own call for this has no deadline that holds."""
        from docker.errors import NotFound

        end = time.monotonic() + _GONE_S
        try:
            while time.monotonic() < end:
                self._client.inspect_container(container)
                time.sleep(_PAUSE_S / 10)
        except NotFound:
            return
        raise CageLostError(f"the engine does not remove a container: it has not in {_GONE_S:.0f} s")


def _own_connection(stream: Any) -> socket.socket:
    """The socket below the SDK's stream. The SDK's own close leaves it open, so it is taken out of its hands."""
    if isinstance(stream, socket.socket):  # TLS cannot be duplicated; it keeps its response alive
        return stream
    plain = getattr(stream, "_sock", None)
    if not isinstance(plain, socket.socket):
        raise SandboxError(
            f"the engine at {address()} is reached in a way that streams are not taken over: "
            "name it in DOCKER_HOST as unix:// or tcp://"
        )
    connection = plain.dup()
    stream._response.close()
    return connection

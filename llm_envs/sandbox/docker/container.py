"""One container with a runner inside, from its creation to its removal, and the removal of those that nobody owns."""

import logging
import secrets
from functools import cache
from pathlib import Path

from llm_envs.sandbox import runner
from llm_envs.sandbox.cage import CageLostError
from llm_envs.sandbox.docker import owner
from llm_envs.sandbox.docker.channel import AttachedChannel
from llm_envs.sandbox.docker.engine import Engine
from llm_envs.sandbox.docker.settings import Settings, Size
from llm_envs.sandbox.runner import wire

logger = logging.getLogger(__name__)

# tokens of the containers that this process holds or is about to hold: any other with its label is left over from a
# request whose answer did not come, or from a removal that failed
_held: set[str] = set()


class Container:
    """A container that runs, and the channel to what runs inside."""

    def __init__(self, engine: Engine, name: str, token: str, channel: AttachedChannel) -> None:
        """See `start`. `name` is the engine's id, `token` our own."""
        self._engine, self._name, self._token = engine, name, token
        self.channel = channel

    def close(self) -> None:
        """Remove it. What cannot be removed now is left to `reap`. A second call does nothing."""
        self.channel.shut_down()
        self.channel.close()
        _remove(self._engine, self._name)
        _held.discard(self._token)


def start(engine: Engine, settings: Settings, size: Size) -> Container:
    """Start a container. Raises CageLostError, SandboxError; then nothing is left of it."""
    token = secrets.token_hex(8)
    _held.add(token)
    try:
        name = _create(engine, token, settings, size)
    except BaseException:
        _held.discard(token)
        raise
    try:
        channel = AttachedChannel(engine.attach(name))
    except BaseException:
        _remove(engine, name)
        _held.discard(token)
        raise
    container = Container(engine, name, token, channel)
    try:
        engine.start(name)
    except BaseException:
        container.close()
        raise
    channel.send(wire.framed(wire.pack(_modules())))
    return container


def reap(engine: Engine) -> None:
    """Remove the containers of this host whose owners are dead, as after a SIGKILL, and this process's own lost ones.

    Those of a living owner stay, and so do those of another host, whose processes we cannot see.
    """
    own = owner.current()
    try:
        for name, labels in engine.labelled(f"{owner.HOST}={own.host}"):
            token, whose = owner.of(labels)
            if (token not in _held) if whose == own else not whose.alive:
                logger.info("removing the container %s, which process %d left over", token, whose.pid)
                _remove(engine, name)
    except CageLostError as error:
        logger.warning("containers that others left over stay for now: %s", error)


def _create(engine: Engine, token: str, settings: Settings, size: Size) -> str:
    labels = owner.current().labels(token)
    try:
        return engine.create(
            settings.image,
            settings.host(size),
            name=f"llm-envs-sandbox-{token}",
            labels=labels,
            **settings.process(),
        )
    except CageLostError:
        engine.discard(f"{owner.CAGE}={token}")
        raise


def _remove(engine: Engine, name: str) -> None:
    try:
        engine.remove(name)
    except CageLostError as error:
        logger.warning("the container %.12s stays for now: %s", name, error)


@cache
def _modules() -> dict[str, wire.Value]:
    """The runner's source by file name: it goes in through the stream, since an engine may be on another machine."""
    return {path.name: path.read_text(encoding="utf-8") for path in Path(runner.__file__).parent.glob("*.py")}

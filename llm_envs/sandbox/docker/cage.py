"""A container as a cage: it is replaced by a larger one when programs need more than it has room for."""

import threading
from collections.abc import Collection, Iterator, Sequence

from llm_envs.sandbox.base import Outcome, Program
from llm_envs.sandbox.cage import CageLostError, Conversation
from llm_envs.sandbox.docker.container import start
from llm_envs.sandbox.docker.engine import Engine
from llm_envs.sandbox.docker.settings import Settings, Size
from llm_envs.sandbox.encoding import Key
from llm_envs.sandbox.imports import Imports


class Room:
    """The size that new containers of a sandbox have: that of the largest program so far. Safe from any thread."""

    def __init__(self) -> None:
        """The usual program's."""
        self.size = Size()
        self._lock = threading.Lock()

    def make(self, programs: Sequence[Program]) -> None:
        """Let new containers have room for these programs."""
        with self._lock:
            self.size = self.size.grown(programs)


class DockerCage:
    """See `llm_envs.sandbox.cage.Cage`."""

    def __init__(self, settings: Settings, room: Room, imports: Imports) -> None:
        """Start a container. Raises CageLostError, SandboxError."""
        self._settings, self._room, self._imports = settings, room, imports
        self._preload = imports.usual
        self._stopped = False
        self._engine = Engine()
        try:
            self._enter()
        except BaseException:
            self._engine.close()
            raise

    def _enter(self) -> None:
        self._size = self._room.size
        self._container = start(self._engine, self._settings, self._size)
        self._conversation = Conversation(self._container.channel)
        try:
            if self._stopped:  # before there was a container to stop
                raise CageLostError("closed")
            self._conversation.open(self._settings.runner(self._preload))
        except CageLostError as error:
            self._container.close()
            raise self._told(error) from error
        except BaseException:
            self._container.close()
            raise

    def run(self, programs: Sequence[Program], compile_once: Collection[Key] = ()) -> Iterator[Outcome]:
        """See `Cage`."""
        if self._size.grown(programs) != self._size:
            self._room.make(programs)
            self._container.close()
            self._enter()
        try:
            yield from self._conversation.run(programs, compile_once)
        except CageLostError as error:
            raise self._told(error) from error

    @property
    def outdated(self) -> bool:
        """See `Cage`."""
        return not self._imports.usual <= self._preload

    def stop(self) -> None:
        """See `Cage`."""
        self._stopped = True
        self._container.channel.shut_down()

    def close(self) -> None:
        """See `Cage`."""
        self._container.close()
        self._engine.close()

    def abandon(self) -> None:
        """See `Cage`."""
        self._container.channel.close()
        self._engine.close()

    def _told(self, error: CageLostError) -> CageLostError:
        """The error in the words of the runner, where it had any."""
        return CageLostError(self._container.channel.last_words() or str(error))

"""The stream of a container that we are attached to, as a channel to the runner inside."""

import socket
import ssl
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from llm_envs.sandbox.cage import Channel

_HEADER = struct.Struct(">BxxxI")  # stream, size: the engine packs both outputs into one stream by these
_STDERR = 2
_LAST_WORDS = 4096


class AttachedChannel(Channel):
    """A connection to the engine, plain or TLS, of which standard output is the runner's side of the conversation."""

    def __init__(self, connection: socket.socket) -> None:
        """Takes over a connection, which `close` closes."""
        connection.setblocking(False)
        super().__init__(connection.fileno(), connection.fileno())
        self._connection = connection
        self._stderr = b""
        self._packed = bytearray()
        self._stream = self._left = 0  # of the packet that is being read

    def last_words(self) -> str:
        """The last line on the runner's standard error, which it uses only when it dies."""
        return self._stderr.decode(errors="replace").strip().rpartition("\n")[2]

    def shut_down(self) -> None:
        """End both directions, from any thread: whoever reads finds the end of the stream, and so does the engine.

        Without it the engine would wait for ever to get rid of what the container has written.
        """
        with suppress(OSError):  # the other side was faster; below TLS, which is not safe from two threads
            socket.socket.shutdown(self._connection, socket.SHUT_RDWR)

    def close(self) -> None:
        """Give the connection up. In a forked process this leaves the parent's alone."""
        response = getattr(self._connection, "_response", None)  # under TLS the SDK's response holds it open
        if response is not None:
            response.close()
        self._connection.close()

    def _take(self) -> bytes:
        data = b""
        with _told_apart():
            data = self._connection.recv(1 << 16)
            while isinstance(self._connection, ssl.SSLSocket) and self._connection.pending():
                data += self._connection.recv(1 << 16)  # decrypted already, so poll would not tell
        return data

    def _give(self, data: memoryview) -> int:
        with _told_apart():
            return self._connection.send(data)

    def _accept(self, data: bytes) -> None:
        self._packed += data
        position = 0
        while len(self._packed) - position >= (1 if self._left else _HEADER.size):
            if self._left == 0:
                self._stream, self._left = _HEADER.unpack_from(self._packed, position)
                position += _HEADER.size
            part = self._packed[position : position + self._left]
            position += len(part)
            self._left -= len(part)
            if self._stream == _STDERR:
                self._stderr = (self._stderr + part)[-_LAST_WORDS:]
            else:
                self._received += part
        del self._packed[:position]


@contextmanager
def _told_apart() -> Iterator[None]:
    """Not now is a BlockingIOError, not any more a ConnectionError, whatever the kind of the connection."""
    try:
        yield
    except (ssl.SSLWantReadError, ssl.SSLWantWriteError) as error:
        raise BlockingIOError from error
    except BlockingIOError:
        raise
    except OSError as error:
        raise ConnectionError(str(error)) from error

"""The frames between a sandbox and its runner.

Opening: the sandbox sends a u32 length and a marshalled dict (the runner's configuration); the runner answers with a
u32 length and UTF-8 text, `+` and what it holds or `-` and why it refuses.
Then requests: a fixed header, a marshalled body, the program's standard input. Replies come in the order of the
requests: a fixed header, standard output, standard error, both raw. Integers are little-endian, times are seconds.

Marshal goes one way only, from the trusted side into the cage (version 2: the same in every Python 3).
"""

from __future__ import annotations

import marshal
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MARSHAL_VERSION = 2

RUN = 1  # body (code, files, argv): compile and run
COMPILE = 2  # body (code, (), ()): compile and keep it, in place of what was kept before
RUN_KEPT = 3  # body ("", files, argv): run the kept code

REQUEST = struct.Struct("<BQQddQIQ")  # kind, body bytes, stdin bytes, cpu s, wall s, memory bytes, processes, output
REPLY = struct.Struct("<BBiddQQ")  # status, truncated, exit code, wall s, cpu s, stdout bytes, stderr bytes
LENGTH = struct.Struct("<I")

STATUSES = ("ok", "error", "timeout", "memory", "output", "lost", "not_compiled")
OK, ERROR, TIMEOUT, MEMORY, OUTPUT, LOST, NOT_COMPILED = range(len(STATUSES))

Value = str | int | float | bool | None | tuple["Value", ...] | dict[str, "Value"]


def pack(value: Value) -> bytes:
    """A value as bytes; strings may hold lone surrogates."""
    return marshal.dumps(value, MARSHAL_VERSION)


def framed(payload: bytes) -> bytes:
    """The payload with its length before it."""
    return LENGTH.pack(len(payload)) + payload


def read_framed(read_exactly: Callable[[int], bytes]) -> bytes:
    """The payload of one length-prefixed frame."""
    (length,) = LENGTH.unpack(read_exactly(LENGTH.size))
    return read_exactly(length)

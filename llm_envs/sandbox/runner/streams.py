"""The pipes of one program, on the supervisor's side, over mapped buffers that no fork finds anything in."""

import os
from mmap import MADV_DONTFORK, MAP_ANONYMOUS, MAP_PRIVATE, mmap


def private(size: int) -> mmap:
    """Zeroed memory that a fork sees as it is at the fork; clear it with MADV_DONTNEED."""
    return mmap(-1, max(size, 1), MAP_PRIVATE | MAP_ANONYMOUS)


class Output:
    """Standard output or error: read up to one byte over the cap, into a buffer that forks do not inherit."""

    def __init__(self) -> None:
        """Start with room for the usual cap; `open` maps more where a program is allowed more."""
        self.fd = -1
        self._cap = self._used = 0
        self.buffer = private(1 << 20)
        self.buffer.madvise(MADV_DONTFORK)

    def open(self, cap: int) -> int:
        """A fresh pipe; returns the end for the program."""
        if len(self.buffer) <= cap:
            self.buffer.close()
            self.buffer = private(cap + 1)
            self.buffer.madvise(MADV_DONTFORK)
        self._cap, self._used = cap, 0
        self.fd, write_end = os.pipe()
        return write_end

    def read(self) -> bool:
        """Take what is there (the pipe must be readable); False at its end, and once it is over its cap."""
        with memoryview(self.buffer)[self._used : self._cap + 1] as room:
            count = os.readv(self.fd, [room])
        self._used += count
        return count > 0 and not self.flooded

    @property
    def flooded(self) -> bool:
        """Whether the program wrote more than it may."""
        return self._used > self._cap

    @property
    def size(self) -> int:
        """Bytes to report."""
        return min(self._used, self._cap)

    def last_line_starts_with(self, start: bytes) -> bool:
        """Whether the last line, blank ones aside, begins so."""
        end = self.size
        while end and self.buffer[end - 1] == ord("\n"):
            end -= 1
        line = self.buffer.rfind(b"\n", 0, end) + 1
        return self.buffer.find(start, line, min(end, line + len(start))) == line

    def close(self) -> None:
        """Give up the pipe; the buffer stays as it is until the next program."""
        os.close(self.fd)


class Input:
    """Standard input: as much as fits is there before the program starts, the rest follows as it reads."""

    def __init__(self, data: memoryview) -> None:
        """A fresh pipe, fed. `fd` is the end that is written to, -1 once that is closed."""
        self.read_end, self.fd = os.pipe()
        self._data = data
        self._position = 0
        if len(data):
            os.set_blocking(self.fd, False)
        self.feed()

    def feed(self) -> bool:
        """Write what the pipe takes; False when all is written, or nobody will read it, and the pipe is closed."""
        try:
            if self._position < len(self._data):
                self._position += os.write(self.fd, self._data[self._position :])
        except BlockingIOError:
            return True
        except BrokenPipeError:
            self._position = len(self._data)
        if self._position < len(self._data):
            return True
        self.close()
        return False

    def close(self) -> None:
        """End of file for the program. A second call does nothing."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

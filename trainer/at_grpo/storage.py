"""A disk that is full, in words: every library that writes reports it in a way of its own."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# What the C library, safetensors and torch's archives say where a file can't grow; the last two name no reason.
_SIGNS = (
    "No space left on device",
    "Disk quota exceeded",
    "File too large",
    "PytorchStreamWriter failed writing",
    "unexpected pos",
)


class StorageError(RuntimeError):
    """The run's folder can't be written to."""


@contextmanager
def telling_when_full(folder: Path) -> Iterator[None]:
    """Around whatever writes to a run's folder. Raises `StorageError`, which says what to do, where it is full."""
    try:
        yield
    except StorageError:
        raise  # it says so already
    except Exception as error:
        if not any(sign in str(error) for sign in _SIGNS):
            raise
        free = shutil.disk_usage(folder).free // 2**20
        raise StorageError(
            f"run.output_dir={str(folder)!r}: a file could not be written ({error}); its disk has {free:,} MiB free. "
            "Make room there (run.keep_checkpoints says how many checkpoints stay) and go on with --resume, or name "
            "another folder."
        ) from error

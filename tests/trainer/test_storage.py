"""A full disk, as the libraries that write report it."""

import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from at_grpo.storage import StorageError, telling_when_full

TENSOR = {"a": torch.zeros(100_000)}


def write_text(path: Path) -> None:
    path.write_text("x" * 400_000)


def save_archive(path: Path) -> None:
    torch.save(TENSOR, path)


def save_safely(path: Path) -> None:
    save_file(TENSOR, path)


@pytest.fixture
def _little_room() -> Iterator[None]:
    """Files of at most 4 KiB, for as long as the test runs."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


WRITERS = [write_text, save_archive, save_safely]


@pytest.mark.usefixtures("_little_room")
@pytest.mark.parametrize("write", WRITERS)
def test_every_library_s_report_becomes_one_that_says_what_to_do(write: Callable[[Path], None], tmp_path: Path) -> None:
    words = r"run\.output_dir='.*': a file could not be written .* MiB free\. Make room"
    with pytest.raises(StorageError, match=words), telling_when_full(tmp_path):
        write(tmp_path / "file")


@pytest.mark.parametrize("write", WRITERS)
def test_with_room_nothing_is_said(write: Callable[[Path], None], tmp_path: Path) -> None:
    """Negative control."""
    with telling_when_full(tmp_path):
        write(tmp_path / "file")


def test_a_device_that_is_full_is_told_as_well(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="No space left on device"), telling_when_full(tmp_path):
        Path("/dev/full").write_text("x")


def test_other_errors_pass_as_they_are(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), telling_when_full(tmp_path):
        (tmp_path / "absent").read_text()
    with pytest.raises(RuntimeError, match="a shape that does not fit"), telling_when_full(tmp_path):
        raise RuntimeError("a shape that does not fit")

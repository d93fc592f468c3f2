"""A folder is empty after `wipe`, whatever was in it, and nothing else is touched."""

import os
import stat
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from llm_envs.sandbox.runner import watch
from llm_envs.sandbox.runner.wipe import wipe
from tests.scale import scaled

NAMES = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=8).filter(
    lambda name: name not in {".", ".."}
)
TREES = st.recursive(
    st.sampled_from(["file", "link", "broken link", "pipe"]), lambda inner: st.dictionaries(NAMES, inner, max_size=3)
)


def grow(folder: Path, tree: object, outside: Path) -> None:
    if isinstance(tree, dict):
        folder.mkdir()
        for name, inner in tree.items():
            grow(folder / name, inner, outside)
    elif tree == "file":
        folder.write_text("x")
    elif tree == "pipe":
        os.mkfifo(folder)
    else:
        folder.symlink_to(outside if tree == "link" else "nowhere")


@settings(max_examples=scaled(fast=25, long=500))
@given(forest=st.dictionaries(NAMES, TREES, max_size=4))
def test_whatever_is_in_a_folder_goes_and_what_links_point_at_stays(forest: dict[str, object]) -> None:
    with tempfile.TemporaryDirectory() as place:
        outside, folder = Path(place, "outside"), Path(place, "folder")
        outside.mkdir()
        (outside / "kept").write_text("x")
        grow(folder, forest, outside)
        wipe(str(folder))
        assert list(folder.iterdir()) == []
        assert [path.name for path in outside.iterdir()] == ["kept"]


def test_a_path_longer_than_any_limit_is_wiped(tmp_path: Path) -> None:
    handle = os.open(tmp_path, os.O_RDONLY)
    for _ in range(250):
        os.mkdir("d" * 20, dir_fd=handle)
        inner = os.open("d" * 20, os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = inner
    os.close(handle)
    assert watch.overfull(str(tmp_path))
    wipe(str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_overfull_by_bytes_and_by_names(tmp_path: Path) -> None:
    assert not watch.overfull(str(tmp_path))
    (tmp_path / "sparse").write_bytes(b"")
    os.truncate(tmp_path / "sparse", 1 << 40)
    assert not watch.overfull(str(tmp_path))  # blocks count, not lengths
    assert stat.S_ISREG((tmp_path / "sparse").stat().st_mode)
    for index in range(watch.FOLDER_ENTRIES):
        (tmp_path / str(index)).touch()
    assert watch.overfull(str(tmp_path))

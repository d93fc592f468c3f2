"""Local files of JSON Lines, and the names of splits in theirs."""

from pathlib import Path

import pytest

from llm_envs.core.errors import UsageError
from llm_envs.data.errors import RowError
from llm_envs.data.local import JsonLines, local_files, split_in_name
from tests.llm_envs.data.lines import write_lines

SPLITS = ("train", "validation", "valid", "test")


def test_rows_are_read_in_their_order_and_again(tmp_path: Path) -> None:
    rows = JsonLines(Path(write_lines(tmp_path / "a.jsonl", [{"id": "é"}, "", "  ", {"id": 2}])))
    assert len(rows) == 2
    assert [rows[1], rows[0], rows[1]] == [{"id": 2}, {"id": "é"}, {"id": 2}]
    assert [rows.where(0), rows.where(1)] == ["a.jsonl:1", "a.jsonl:4"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"id": 1', "the line is no JSON"),
        ("not JSON", "the line is no JSON"),
        ("[1, 2]", "of type list, not an object"),
        ("3", "of type int, not an object"),
        ("[" * 100_000, "the line is no JSON"),
    ],
)
def test_a_line_that_is_no_object_is_a_fault_of_that_line_alone(tmp_path: Path, line: str, words: str) -> None:
    rows = JsonLines(Path(write_lines(tmp_path / "a.jsonl", [{"id": 1}, line, {"id": 2}])))
    with pytest.raises(RowError, match=words):
        rows[1]
    assert [rows[0]["id"], rows[2]["id"]] == [1, 2]
    assert rows.where(1) == "a.jsonl:2"


def test_bytes_that_are_no_text_are_a_fault_of_their_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"id": "\xff\xfe"}\n{"id": 1}\n')
    rows = JsonLines(path)
    with pytest.raises(RowError, match="no JSON"):
        rows[0]
    assert rows[1] == {"id": 1}


def test_a_folder_is_its_files_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("test.jsonl", "b.jsonl", "notes.txt"):
        (tmp_path / name).write_text("{}\n")
    assert [path.name for path in local_files(str(tmp_path))] == ["b.jsonl", "test.jsonl"]


@pytest.mark.parametrize(
    ("name", "words"),
    [("none.jsonl", "no such file"), ("rows.json", "must be JSON Lines"), ("empty", "without a file")],
)
def test_a_path_without_rows_is_refused_in_words(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / "rows.json").write_text("[]")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=f"path=.*{words}"):
        local_files(str(tmp_path / name))


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("train", "train"),
        ("test2", "test"),
        ("mbpp_train", "train"),
        ("valid-00001", "valid"),
        ("train_rows", "train"),
        ("Test", "test"),
        ("mbpp", None),
        ("contest", None),
        ("trainer", None),
        ("3", None),
    ],
)
def test_a_file_tells_its_split_by_a_word_of_its_name(name: str, split: str | None) -> None:
    assert split_in_name(Path(f"{name}.jsonl"), SPLITS) == split

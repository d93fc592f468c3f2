"""Splits, order and faults of a data set, whatever its rows are."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.core.errors import UsageError
from llm_envs.core.instances import split_of_content
from llm_envs.core.task import Split
from llm_envs.data.collection import LISTED, Collection, Table
from llm_envs.data.definition import BENCHMARK, TRAINING, UNDIVIDED, DataSet, own_splits
from llm_envs.data.errors import DataError
from llm_envs.data.fields import Row, text
from llm_envs.data.source import Source, choose_source, load
from tests.llm_envs.data.lines import write_lines

TEXTS = DataSet(
    "texts", lambda name, row: f"{name}: {text(row, 'text')}", lambda item: item.partition(": ")[2], own_splits()
)


class InMemory:
    """Rows of a list."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: int) -> Row:
        return self.rows[place]

    def where(self, place: int) -> str:
        return f"row {place}"


def texts(*rows: Any, splits: tuple[Split, ...] = UNDIVIDED) -> Collection[str]:
    """A data set of these texts, or of rows that say more."""
    return Collection(
        TEXTS, [Table(InMemory([row if isinstance(row, dict) else {"text": row} for row in rows]), splits)]
    )


def of_split(data: Collection[str], split: Split) -> list[str]:
    return [data.item(split, index).partition(": ")[2] for index in range(data.sizes[split])]


@given(
    st.lists(
        st.tuples(st.text(min_size=1).filter(str.strip), st.sampled_from(["train", "valid", "test", None])), min_size=1
    )
)
def test_no_text_is_in_two_splits_and_none_gets_lost(rows: list[tuple[str, str | None]]) -> None:
    data = texts(*({"text": row, "split": split} for row, split in rows))
    found = {split: {" ".join(text.split()) for text in of_split(data, split)} for split in Split}
    assert not found[Split.TRAIN] & found[Split.VALIDATION]
    assert not found[Split.TEST] & (found[Split.TRAIN] | found[Split.VALIDATION])
    assert set.union(*found.values()) == {" ".join(text.split()) for text, _ in rows}
    assert sum(data.sizes.values()) + len(data.faults) == len(rows)


def test_a_text_of_the_test_split_is_taken_out_of_the_others() -> None:
    rows = [
        {"text": "2 + 2?", "split": "train"},
        {"text": " 2 +  2?\n", "split": "test"},
        {"text": "3 + 3?", "split": "train"},
    ]
    data = texts(*rows)
    assert of_split(data, Split.TEST) == [" 2 +  2?\n"]
    assert [str(fault) for fault in data.faults] == ["texts row 0: the test split has the same text"]
    assert sum(data.sizes.values()) == 2


def test_two_rows_of_one_text_in_one_split_both_count() -> None:
    assert texts({"text": "a", "split": "test"}, {"text": "a", "split": "test"}).sizes[Split.TEST] == 2


def test_training_rows_are_shared_out_by_content_whatever_their_order() -> None:
    rows = [f"text {number}" for number in range(400)]
    data, turned = (texts(*order, splits=TRAINING) for order in (rows, rows[::-1]))
    assert data.sizes[Split.TEST] == 0
    assert 25 <= data.sizes[Split.VALIDATION] <= 80
    for split in Split:
        assert of_split(data, split) == of_split(turned, split)[::-1]
    more = texts(*rows, "another one", splits=TRAINING)
    assert of_split(more, Split.VALIDATION)[: data.sizes[Split.VALIDATION]] == of_split(data, Split.VALIDATION)


def test_the_field_of_a_row_outweighs_its_file_and_the_file_outweighs_the_content(tmp_path: Path) -> None:
    write_lines(tmp_path / "test.jsonl", [{"text": "of the file"}, {"text": "of the row", "split": "valid"}])
    write_lines(tmp_path / "rows.jsonl", [{"text": f"text {number}"} for number in range(100)])
    data = load(TEXTS, Source("texts", str(tmp_path)))
    assert "of the file" in of_split(data, Split.TEST)
    assert "of the row" in of_split(data, Split.VALIDATION)
    assert all(data.sizes[split] > 1 for split in Split)


def test_a_benchmark_has_a_test_split_only_and_says_so() -> None:
    data = texts("a", "b", splits=BENCHMARK)
    assert data.sizes == {Split.TRAIN: 0, Split.VALIDATION: 0, Split.TEST: 2}
    with pytest.raises(UsageError, match=r"split='train': texts has nothing there; it has test \(2\)\."):
        data.item(Split.TRAIN, 0)


def test_indices_follow_the_rows_and_begin_anew_after_the_last() -> None:
    data = texts("a", "b", "c", splits=BENCHMARK)
    assert [data.item(Split.TEST, index)[-1] for index in (0, 1, 2, 3, 2**31 - 1)] == ["a", "b", "c", "a", "b"]
    assert data.item(Split.TEST, 1) == "texts row 1: b"


def test_rows_are_called_what_the_data_set_calls_them() -> None:
    rows = [{"text": "a", "task_id": 7}, {"text": "b", "id": "texts-8"}, {"text": "c", "name": ""}]
    data = texts(*rows, splits=BENCHMARK)
    assert [data.item(Split.TEST, index) for index in range(3)] == ["texts 7: a", "texts-8: b", "texts row 2: c"]


# ---- faults


def test_rows_that_cannot_be_used_are_counted_and_listed(caplog: pytest.LogCaptureFixture) -> None:
    """UC-053, UC-068."""
    bad: list[Row] = [{}, {"text": None}, {"text": " "}, {"text": 3}, {"text": "x", "split": "dev"}, {"id": 9}]
    with caplog.at_level(logging.WARNING):
        data = texts("good", *bad, splits=BENCHMARK)
    assert data.sizes[Split.TEST] == 1
    assert [str(fault) for fault in data.faults] == [
        "texts row 1: no 'text'",
        "texts row 2: no 'text'",
        "texts row 3: 'text' is empty",
        "texts row 4: 'text' is of type int, not text",
        "texts row 5: 'split' is 'dev'; must be one of train, validation, valid, test",
        "texts 9: no 'text'",
    ]
    (record,) = caplog.records
    assert record.getMessage().startswith("texts: 6 of 7 rows are left out: texts row 1: no 'text'; ")
    assert record.getMessage().endswith(f"; and {6 - LISTED} more")


def test_a_data_set_without_a_fault_warns_of_nothing(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert texts("good").faults == ()
    assert caplog.records == []


@pytest.mark.parametrize(
    ("rows", "words"), [([], "it is empty"), ([{}, {}], "none of its 2 rows can be used: texts row 0")]
)
def test_a_data_set_without_a_usable_row_is_refused(rows: list[Row], words: str) -> None:
    """UC-053, UC-068."""
    with pytest.raises(DataError, match=f"dataset='texts': {words}"):
        texts(*rows)


# ---- options


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"path": "rows.jsonl"}, "path='rows.jsonl': goes with dataset=, one of one, two"),
        ({"config": "main"}, "config='main': goes with dataset="),
        ({"dataset": "tow"}, "Did you mean 'two'"),
        ({"dataset": "two", "families": "x"}, "families='x': is for generated instances"),
        ({"dataset": "two", "path": "x.jsonl", "config": "main"}, "config='main': is for the hub"),
        ({"dataset": "two", "path": "no/x.jsonl"}, "path='no/x.jsonl': no such file"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: dict[str, Any], words: str) -> None:
    given = {"dataset": None, "path": None, "config": None, "families": None, **options}
    with pytest.raises(UsageError, match=words):
        choose_source(("one", "two"), **given)


def test_a_file_that_was_written_anew_is_another_source(tmp_path: Path) -> None:
    sources = []
    for rows in ([{"text": "a"}], [{"text": "a"}, {"text": "b"}]):
        path = write_lines(tmp_path / "rows.jsonl", rows)
        sources.append(choose_source(("texts",), dataset="texts", path=path, config=None))
    assert sources[0] != sources[1]
    assert choose_source(("texts",), dataset="texts", path=path, config=None) == sources[1]


def test_a_local_data_set_needs_a_path() -> None:
    with pytest.raises(UsageError, match="dataset='texts': is local; give path="):
        load(TEXTS, Source("texts"))


def test_content_is_hashed_as_that_of_generated_instances_is() -> None:
    """The share of each split is theirs: 6 of 8, 1 and 1."""
    drawn = [split_of_content(str(number).encode()) for number in range(800)]
    data = texts(*(f"text {number}" for number in range(800)))
    for split in Split:
        assert abs(data.sizes[split] - drawn.count(split)) < 60

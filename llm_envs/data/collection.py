"""A data set as instances: rows that can be used, by split and index; and those that can't, with the reason."""

import hashlib
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, NamedTuple, Protocol, TypeVar

from llm_envs.core.errors import UsageError
from llm_envs.core.instances import split_of_content
from llm_envs.core.task import Split
from llm_envs.data.definition import DataSet
from llm_envs.data.errors import DataError, RowError
from llm_envs.data.fields import Row, row_id

logger = logging.getLogger(__name__)

T = TypeVar("T")
LISTED = 5  # faults that a message lists; `Collection.faults` has all
KEPT = 64  # instances kept, since several branches of an episode begin with the same one


class Rows(Protocol):
    """Rows in their order."""

    def __len__(self) -> int: ...

    def __getitem__(self, place: int) -> Row:
        """Raises RowError where there is no row, but something else."""
        ...

    def where(self, place: int) -> str:
        """Where the row stands, for messages."""
        ...


class Table(NamedTuple):
    """Rows that belong to the same splits, unless a row says of itself where it belongs."""

    rows: Rows
    splits: tuple[Split, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """A row that is left out, and why."""

    row: str
    reason: str

    def __str__(self) -> str:
        return f"{self.row}: {self.reason}"


class _Entry(NamedTuple):
    rows: Rows
    place: int
    name: str
    digest: bytes
    split: Split


class Collection(Generic[T]):
    """The instances of a data set, in the order of its rows.

    Rows of one text are in one split: what the test split has, the others leave out, and the training split also what
    the validation split has.

    Attributes:
        name: of the data set.
        faults: the rows that are left out.
        sizes: split -> number of instances.
    """

    def __init__(self, data_set: DataSet[T], tables: Iterable[Table]) -> None:
        """Read all rows once; none is kept.

        Raises:
            DataError: no row can be used.
        """
        self.name = data_set.name
        self._read = data_set.read
        faults: list[Fault] = []
        readable = [entry for table in tables for entry in _entries(data_set, table, faults)]
        entries = list(_without_leaks(readable, faults))
        self.faults = tuple(faults)
        self._entries = {split: [entry for entry in entries if entry.split is split] for split in Split}
        self.sizes = {split: len(found) for split, found in self._entries.items()}
        self._report(len(entries))
        self._at = lru_cache(maxsize=KEPT)(self._read_again)

    def _report(self, usable: int) -> None:
        left_out = len(self.faults)
        listed = "; ".join(map(str, self.faults[:LISTED]))
        if left_out > LISTED:
            listed += f"; and {left_out - LISTED} more"
        if not usable:
            reason = f"none of its {left_out} rows can be used: {listed}" if left_out else "it is empty"
            raise DataError(f"dataset={self.name!r}: {reason}.")
        if left_out:
            logger.warning("%s: %d of %d rows are left out: %s", self.name, left_out, usable + left_out, listed)

    def item(self, split: Split, index: int) -> T:
        """Instance `index` of a split; beyond the last one it begins anew at the first.

        Raises:
            UsageError: the data set has nothing in this split.
        """
        size = self.sizes[split]
        if not size:
            has = ", ".join(f"{other} ({number})" for other, number in self.sizes.items() if number)
            raise UsageError(f"split={str(split)!r}: {self.name} has nothing there; it has {has}.")
        return self._at(split, index % size)

    def _read_again(self, split: Split, place: int) -> T:
        entry = self._entries[split][place]
        return self._read(entry.name, entry.rows[entry.place])


def _entries(data_set: DataSet[T], table: Table, faults: list[Fault]) -> Iterator[_Entry]:
    """The rows of a table that can be read; the others join the faults."""
    for place in range(len(table.rows)):
        called = f"{data_set.name} {table.rows.where(place)}"
        try:
            row = table.rows[place]
            if (own := row_id(row)) is not None:
                called = own if own.lower().startswith(data_set.name) else f"{data_set.name} {own}"
            digest = _digest(data_set.content(data_set.read(called, row)))
            split = _split_of(row, digest, data_set, table)
        except (RowError, UsageError) as error:
            faults.append(Fault(called, str(error)))
        else:
            yield _Entry(table.rows, place, called, digest, split)


def _split_of(row: Row, digest: bytes, data_set: DataSet[T], table: Table) -> Split:
    """The split that the row names or its table belongs to, shared out by content where it is to be divided."""
    own = row.get("split")
    if own is not None and own not in data_set.splits:
        raise RowError(f"'split' is {own!r}; must be one of {', '.join(data_set.splits)}")
    splits = table.splits if own is None else data_set.splits[own]
    drawn = split_of_content(digest)
    return drawn if drawn in splits else splits[0]


def _without_leaks(entries: Sequence[_Entry], faults: list[Fault]) -> Iterator[_Entry]:
    """The entries but for those whose text is also in a split that comes before theirs: test, then validation."""
    owners: dict[bytes, Split] = {}
    for split in (Split.TEST, Split.VALIDATION, Split.TRAIN):
        for entry in entries:
            if entry.split is split:
                owners.setdefault(entry.digest, split)
    for entry in entries:
        if owners[entry.digest] is entry.split:
            yield entry
        else:
            faults.append(Fault(entry.name, f"the {owners[entry.digest]} split has the same text"))


def _digest(content: str) -> bytes:
    """Of the text without its layout, in which copies differ."""
    return hashlib.blake2b(" ".join(content.split()).encode("utf-8", "surrogatepass"), digest_size=16).digest()

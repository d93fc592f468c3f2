"""Tables of the Hugging Face hub, through its own library `datasets` (the extra `data`)."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from llm_envs.data.errors import DataError
from llm_envs.data.fields import Row

logger = logging.getLogger(__name__)

HUB = "hf://datasets"  # where files of repositories are


@dataclass(frozen=True, slots=True)
class HubFiles:
    """Files of a split by name. For repositories whose tables come with a loading script, which `datasets` no longer
    runs, and which nobody should run for data.

    Attributes:
        split: what the data set calls it.
        names: paths in the repository, `*` allowed; all of them `.jsonl`, or all of them Parquet.
    """

    split: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HubTable:
    """A table of the hub.

    Attributes:
        repository: e.g. "openai/gsm8k".
        config: its configuration, or None for the only one.
        files: where the splits are taken from files by name.
    """

    repository: str
    config: str | None = None
    files: tuple[HubFiles, ...] = ()


class HubRows:
    """The rows of one split of a table."""

    def __init__(self, rows: Any, name: str) -> None:
        self._rows = rows  # a `datasets.Dataset`
        self._name = name

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, place: int) -> Row:
        row: Row = self._rows[place]
        return row

    def where(self, place: int) -> str:
        """Table and place, for messages."""
        return f"{self._name}[{place}]"


def hub_rows(table: HubTable) -> Iterator[tuple[str, HubRows]]:
    """The splits of a table under their own names. Downloads what was not downloaded before.

    Raises:
        ImportError: `datasets` is not installed.
        DataError: the hub can't be reached, or has no such table.
    """
    try:
        from datasets import load_dataset
    except ImportError as error:
        raise ImportError(
            f"{table.repository} is read through the library 'datasets', which is not installed: "
            "pip install 'llm-envs[data]', or give path= with a local file of JSON Lines."
        ) from error
    logger.info("loading %s from the hub", table.repository)
    try:
        splits = _load(load_dataset, table)
    except Exception as error:  # the boundary to the hub: its libraries raise what they like
        raise DataError(
            f"{table.repository} can't be loaded from the hub ({type(error).__name__}: {error}). Check the connection, "
            "and HF_HUB_OFFLINE, or give path= with a local file of JSON Lines."
        ) from error
    for split, rows in splits.items():
        yield str(split), HubRows(rows, f"{table.repository}/{split}")


def _load(load_dataset: Any, table: HubTable) -> Any:
    if not table.files:
        return load_dataset(table.repository, table.config)
    files = {group.split: [f"{HUB}/{table.repository}/{name}" for name in group.names] for group in table.files}
    form = "json" if table.files[0].names[0].endswith(".jsonl") else "parquet"
    return load_dataset(form, data_files=files)

"""What a data set is: how its rows are read, how its splits are used, and where the hub has it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from llm_envs.core.task import Split
from llm_envs.data.fields import Row
from llm_envs.data.hub import HubTable

T = TypeVar("T")

# A split's own name -> the splits among which its rows are shared out, by content; the first takes the rest.
Splits = Mapping[str, tuple[Split, ...]]

TRAINING = (Split.TRAIN, Split.VALIDATION)  # for a data set without a validation split of its own
UNDIVIDED = tuple(Split)  # for rows that say nothing of splits
BENCHMARK = (Split.TEST,)  # for a data set that nobody trains on, whatever its only split is called


def own_splits(*, train: tuple[Split, ...] = TRAINING) -> Splits:
    """The usual names of splits, and where their rows belong."""
    return {"train": train, "validation": (Split.VALIDATION,), "valid": (Split.VALIDATION,), "test": (Split.TEST,)}


@dataclass(frozen=True, slots=True)
class DataSet(Generic[T]):
    """A data set that can be loaded by name.

    Attributes:
        name: what users call it.
        read: (name, row) -> instance; the row has the data set's own fields, or those of the common form. Raises
            RowError or UsageError for a row that can't be used.
        content: instance -> the text that makes two of them the same.
        splits: see `Splits`. Rows of splits that are not among them are not used.
        configs: configuration -> its tables on the hub, the default first; empty for one that is local only.
        otherwise: the splits of local rows that say nothing of theirs.
    """

    name: str
    read: Callable[[str, Row], T]
    content: Callable[[T], str]
    splits: Splits
    configs: Mapping[str, tuple[HubTable, ...]] = field(default_factory=dict)
    otherwise: tuple[Split, ...] = UNDIVIDED

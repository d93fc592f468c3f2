"""Where a data set is taken from, as the options of an environment say it: from the hub, or from local files."""

from collections.abc import Collection as Names
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from llm_envs.core.errors import UsageError, unknown_choice
from llm_envs.data.collection import Collection, Table
from llm_envs.data.definition import DataSet
from llm_envs.data.hub import hub_rows
from llm_envs.data.local import JsonLines, local_files, split_in_name

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Source:
    """Which data set, from where: what an environment keeps and pickles in the place of the data.

    Attributes:
        dataset: its name.
        path: a local file or folder, or None for the hub.
        config: the configuration on the hub, or None for the default.
        stamp: the local files there were, when they were written, and their sizes: another stamp is other data.
    """

    dataset: str
    path: str | None = None
    config: str | None = None
    stamp: tuple[tuple[str, int, int], ...] = ()


def choose_source(
    known: Names[str], *, dataset: str | None, path: str | None, config: str | None, **generated: object
) -> Source | None:
    """The source that an environment's options name, or None where instances are generated.

    Args:
        known: names of data sets.
        dataset, path, config: the options.
        generated: options that only generated instances have; None where they are not given.

    Raises:
        UsageError: an unknown data set, a path that is not there, or options that don't go together.
    """
    if dataset is None:
        for option, given in (("path", path), ("config", config)):
            if given is not None:
                raise UsageError(f"{option}={given!r}: goes with dataset=, one of {', '.join(known)}.")
        return None
    if dataset not in known:
        raise unknown_choice("dataset", dataset, known)
    for option, value in generated.items():
        if value is not None:
            raise UsageError(f"{option}={value!r}: is for generated instances; leave it out with dataset={dataset!r}.")
    if path is not None and config is not None:
        raise UsageError(f"config={config!r}: is for the hub; leave it out with path={path!r}.")
    files = [] if path is None else local_files(path)
    stamp = tuple((str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in files)
    return Source(dataset, path, config, stamp)


def load(data_set: DataSet[T], source: Source) -> Collection[T]:
    """The instances of a data set.

    Raises:
        UsageError: a path or configuration that is not there.
        ImportError: the hub is asked for, and `datasets` is not installed.
        DataError: the hub can't be reached, or no row can be used.
    """
    if source.path is not None:
        return Collection(data_set, _local_tables(data_set, source.path))
    return Collection(data_set, _hub_tables(data_set, source.config))


def _local_tables(data_set: DataSet[T], path: str) -> Iterator[Table]:
    for file in local_files(path):
        own = split_in_name(file, tuple(data_set.splits))
        yield Table(JsonLines(file), data_set.otherwise if own is None else data_set.splits[own])


def _hub_tables(data_set: DataSet[T], config: str | None) -> Iterator[Table]:
    if not data_set.configs:
        raise UsageError(f"dataset={data_set.name!r}: is local; give path= with a file of JSON Lines.")
    if config is not None and config not in data_set.configs:
        raise unknown_choice("config", config, data_set.configs)
    chosen = next(iter(data_set.configs)) if config is None else config
    for table in data_set.configs[chosen]:
        for own, rows in hub_rows(table):
            if own in data_set.splits:
                yield Table(rows, data_set.splits[own])

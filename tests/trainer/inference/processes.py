"""Which processes belong to a server, by what /proc says."""

import resource
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Process:
    """A process as it is now; one that has ended and that nobody has asked about is none."""

    pid: int
    parent: int
    session: int
    words: tuple[str, ...]


def all_processes() -> Iterator[Process]:
    for path in Path("/proc").glob("[0-9]*"):
        try:
            state, parent, _, session = (path / "stat").read_text().rpartition(")")[2].split()[:4]
            words = tuple((path / "cmdline").read_bytes().decode(errors="replace").split("\0"))
        except OSError:  # it has ended
            continue
        if state != "Z":
            yield Process(int(path.name), int(parent), int(session), words)


def keepers(folder: Path) -> list[Process]:
    """The process that keeps the server with its sockets in this folder."""
    return [one for one in all_processes() if str(folder) in one.words and _keeps(one)]


def _keeps(process: Process) -> bool:
    return any(word.endswith("keeper.py") for word in process.words)


def leaders(folder: Path) -> list[int]:
    """The server itself, which leads a session of its own."""
    heads = (one for one in all_processes() if one.pid == one.session and not _keeps(one))
    return [one.pid for one in heads if str(folder / "socket") in one.words]


def members(session: int) -> list[int]:
    """A server and its workers, by the server's process id, which outlives it as the name of the session."""
    return sorted(one.pid for one in all_processes() if one.session == session)


def memory(pids: Iterable[int]) -> int:
    """Resident bytes of processes together."""
    pages = [int(Path(f"/proc/{process}/statm").read_text().split()[1]) for process in pids]
    return sum(pages) * resource.getpagesize()


def of(folder: Path) -> list[int]:
    """The server with its sockets in this folder, and its workers."""
    return sorted(process for leader in leaders(folder) for process in members(leader))


def naming(folder: Path) -> list[int]:
    """All processes that a server with its sockets in this folder has left anywhere, as far as they name the folder."""
    return sorted(one.pid for one in all_processes() if any(word.startswith(str(folder)) for word in one.words))


def folder_kept_by(run: int) -> Path | None:
    """The folder of the server that a run has started, by the run's process id."""
    for one in all_processes():
        if one.parent == run and _keeps(one):
            place = next(number for number, word in enumerate(one.words) if word.endswith("keeper.py"))
            return Path(one.words[place + 1])
    return None


def forks_of(run: int) -> list[int]:
    """The processes that a run was forked into, the first one first: they have its command line."""
    own = next(one.words for one in all_processes() if one.pid == run)
    return sorted(one.pid for one in all_processes() if one.parent == run and one.words == own)

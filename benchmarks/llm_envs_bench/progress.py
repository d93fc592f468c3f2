"""How far an evaluation is: a bar on a terminal, a plain line now and then elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from llm_envs.episode import Ending, Episode
from llm_envs_bench.runner import Observer

LINES = 5  # plain lines a run


@contextmanager
def follow(label: str, total: int, console: Console) -> Iterator[Observer]:
    """Gives an observer of the episodes that end (`runner.Watch`).

    Args:
        label: what is played.
        total: episodes to play.
        console: where the bar or the lines go; standard error, so that tables can be piped.
    """
    counts = {"ended": 0, "solved": 0, "owed": 0}

    def count(episode: Episode) -> str:
        counts["ended"] += 1
        counts["solved"] += episode.success
        counts["owed"] += episode.ending is Ending.ERROR
        owed = f", {counts['owed']} owed" if counts["owed"] else ""
        return f"{counts['solved']} solved{owed}"

    if not console.is_terminal:
        every = max(1, total // LINES)

        def line(episode: Episode) -> None:
            said = count(episode)
            if counts["ended"] % every == 0 or counts["ended"] == total:
                text = f"{label}: {counts['ended']}/{total} episodes, {said}"
                console.print(text, markup=False, highlight=False, soft_wrap=True)

        yield line
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    with Progress(*columns, *times, TextColumn("{task.fields[said]}", markup=False), console=console) as progress:
        task = progress.add_task(label, total=total, said="")
        yield lambda episode: progress.update(task, advance=1, said=count(episode))

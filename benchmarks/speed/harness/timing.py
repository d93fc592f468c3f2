"""Medians of interleaved arms, as CPU seconds of one thread, which other programs on the machine disturb less."""

import datetime as dt
import os
import platform
import re
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

Arm = Callable[[], float]  # does a slice of its work; the CPU seconds of one unit of it


def per_call(job: Callable[[], object], count: int) -> float:
    """CPU seconds of one call, over `count` calls in a row."""
    calls = range(count)
    started = time.process_time()
    for _ in calls:
        job()
    return (time.process_time() - started) / count


def repeated(job: Callable[[], object], count: int) -> Arm:
    """The arm that calls a job `count` times a slice, after as many calls that are not counted: what the arm before it
    left in the processor's caches would else count for this one, and most for the arm with the most memory to read.
    """

    def arm() -> float:
        per_call(job, count)
        return per_call(job, count)

    return arm


def medians(arms: Mapping[str, Arm], rounds: int) -> dict[str, float]:
    """The median slice of each arm. In each round every arm has one slice, so that a change of the machine's pace
    meets all of them alike; a round before the first one warms caches and is not counted.
    """
    seconds: dict[str, list[float]] = {name: [] for name in arms}
    for number in range(rounds + 1):
        for name, arm in arms.items():
            taken = arm()
            if number:
                seconds[name].append(taken)
    return {name: statistics.median(times) for name, times in seconds.items()}


@dataclass(frozen=True)
class Row:
    """One comparison: seconds a unit of ours and of the arm beside it, and how their ratio is put into words."""

    what: str
    ours: float
    beside: str
    theirs: float
    words: str = "x as fast"

    @property
    def cells(self) -> tuple[str, ...]:
        """The texts of the row: times as fast as a peer, or as long as a floor."""
        ratio = self.theirs / self.ours if self.words == "x as fast" else self.ours / self.theirs
        return (self.what, rate(self.ours), self.beside, rate(self.theirs), f"{figure(ratio)} {self.words}")


HEADINGS = ("what", "per second", "beside", "per second", "ratio")


def rate(seconds: float) -> str:
    """Units a second."""
    return f"{1 / seconds:,.0f}" if seconds < 0.1 else f"{1 / seconds:.2g}"


def figure(ratio: float) -> str:
    """A ratio with no more digits than it deserves."""
    return f"{ratio:.0f}" if ratio >= 100 else f"{ratio:.1f}" if ratio >= 10 else f"{ratio:.2f}"


def table(rows: Sequence[Row], *, markdown: bool) -> str:
    """The rows for a terminal, or as a Markdown table."""
    lines = [HEADINGS, *(row.cells for row in rows)]
    if markdown:
        texts = [f"| {' | '.join(cells)} |" for cells in lines]
        return "\n".join([texts[0], "|---|--:|---|--:|--:|", *texts[1:]])
    widths = [max(len(cells[column]) for cells in lines) for column in range(len(HEADINGS))]
    align = (str.ljust, str.rjust, str.ljust, str.rjust, str.rjust)
    return "\n".join(
        "  ".join(put(cell, width) for put, cell, width in zip(align, cells, widths, strict=True)) for cells in lines
    )


def machine() -> str:
    """Date, processor, cores, Python and load: what a figure means nothing without."""
    info = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*:\s*(.+)", info.read_text()) if info.exists() else None
    name = " ".join(found[1].split()) if found else platform.machine()
    cores = len(os.sched_getaffinity(0))
    date = dt.datetime.now(tz=dt.UTC).date()
    return f"{date}, {name}, {cores} cores, Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}"

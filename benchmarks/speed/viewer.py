"""What a page of a thousand episodes takes to open, beside an empty page in the same browser.

The episodes are recorded ones of Plan-Path, eight cycles of two roles, repeated, with random letters for replies: as
many as a model of few words writes, but hardly to be compressed. Opening ends when the first episode is drawn. Wall
time, since a browser is several processes. Needs Chromium.

    python benchmarks/speed/viewer.py [--markdown] [--rounds 5] [--episodes 1000]
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from typing import Any

from harness.timing import Row, machine, table

from llm_envs_bench.agents import plan_run
from llm_envs_bench.runner import evaluate
from llm_envs_bench.store import Run
from llm_envs_bench.viewer import write_page

RECORDED = 20  # episodes that are really played
LETTERS = 1_000  # of a reply
EMPTY = "<!doctype html><title>empty</title><script>const ready = Promise.resolve();</script>"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--rounds", type=int, default=5, help="times that each page is opened")
    parser.add_argument("--episodes", type=int, default=1_000, help="on the page")
    options = parser.parse_args()
    sys.path.append(str(Path(__file__).parents[2]))  # the browser's driver is the tests' own
    from tests.benchmarks.chromium import browser_page, find_chromium

    program = find_chromium()
    if program is None:
        raise SystemExit("no Chromium is installed, so no page is opened")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "empty.html").write_text(EMPTY, encoding="utf-8")
        write_page(folder / "page.html", {"model": (recorded(folder / "run", options.episodes),)}, title="Plan path")
        size = (folder / "page.html").stat().st_size / 1e6
        with browser_page(program, folder / "profile") as page:
            seconds = opening(page, [folder / "page.html", folder / "empty.html"], options.rounds)
            shown = page_count(page, folder / "page.html")
    if shown != options.episodes:
        raise SystemExit(f"the page shows {shown} episodes, not {options.episodes}")
    row = Row(
        f"open {options.episodes:,} episodes ({size:.1f} MB)", seconds[0], "an empty page", seconds[1], "x as long"
    )
    print(f"{machine()}\n\n{table([row], markdown=options.markdown)}\n\nseconds to the first episode: {seconds[0]:.2f}")


def recorded(folder: Path, episodes: int) -> Run:
    """A run of as many episodes, with the replies of nobody."""
    rng = random.Random(0)
    run = evaluate(plan_run("plan_path_v0", "random", {}, options={}, instances=RECORDED), folder)
    made = []
    for index, episode in enumerate(islice(cycle(run.episodes), episodes)):
        turns = tuple(replace(turn, reply=rng.randbytes(LETTERS // 2).hex()) for turn in episode.turns)
        made.append(replace(episode, index=index, id=f"plan_path-v0/{index}/0", turns=turns))
    return replace(run, spec=replace(run.spec, instances=episodes), episodes=tuple(made))


def opening(page: Any, paths: list[Path], rounds: int) -> list[float]:
    """The median seconds of each page, in turns; a round before the first one warms the browser."""
    taken: list[list[float]] = [[] for _ in paths]
    for number in range(rounds + 1):
        for place, path in enumerate(paths):
            seconds = timed(lambda path=path: open_page(page, path))
            if number:
                taken[place].append(seconds)
    return [median(times) for times in taken]


def timed(job: Callable[[], None]) -> float:
    """Wall seconds of a job."""
    begin = time.perf_counter()
    job()
    return time.perf_counter() - begin


def open_page(page: Any, path: Path) -> None:
    """Load a page and wait until it has drawn."""
    page.open(path)
    page.evaluate("ready")


def page_count(page: Any, path: Path) -> int:
    """How many episodes the page lists."""
    open_page(page, path)
    return int(page.evaluate("document.querySelectorAll('#episodes button').length"))


if __name__ == "__main__":
    main()

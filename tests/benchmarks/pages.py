"""What tests of the replay page share: a browser, pages of runs in it, and what they show."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from llm_envs_bench.store import Run
from llm_envs_bench.viewer import write_page
from tests.benchmarks.chromium import Page


def open_runs(page: Page, folder: Path, runs: Mapping[str, Run | Sequence[Run]], **look: Any) -> None:
    """Write a page into a folder and open it; a run may be one or have several entries."""
    named = {label: (run,) if isinstance(run, Run) else run for label, run in runs.items()}
    write_page(folder / "page.html", named, title="Corridor")
    page.open(folder / "page.html", **look)
    page.evaluate("ready")


def count(page: Page, selector: str) -> int:
    return int(page.evaluate(f"document.querySelectorAll({json.dumps(selector)}).length"))


def text(page: Page, selector: str) -> str:
    return str(page.evaluate(f"document.querySelector({json.dumps(selector)}).innerText"))


def board(page: Page) -> str:
    """The state as the drawn board describes itself to a screen reader."""
    return str(page.evaluate("document.querySelector('svg.board').getAttribute('aria-label')"))

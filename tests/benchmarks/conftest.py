"""Parts that several tests of the suite need."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pettingzoo.env_registry.registration import aec_registry, register

from llm_envs_bench.runner import evaluate
from llm_envs_bench.spec import RunSpec
from llm_envs_bench.store import Run
from tests.benchmarks import corridor
from tests.benchmarks.chromium import Page, browser_page, find_chromium

Play = Callable[..., Run]


@pytest.fixture(autouse=True)
def corridor_env() -> Iterator[None]:
    """Registers the test game, its sandbox in order, for the time of a test."""
    register("aec", corridor.ENV_ID, entry_point="tests.benchmarks.corridor:env")
    corridor.SANDBOX.is_down = lambda code: False
    yield
    del aec_registry[corridor.ENV_ID]


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Evaluates agents on the test game into a folder of that name; returns the run."""

    def run(name: str, instances: int = 6, *, agents: dict[str, str] | None = None, **options: Any) -> Run:
        spec = RunSpec(env=corridor.ENV_ID, agents=agents or {"scout": name, "walker": name}, instances=instances)
        return evaluate(spec, tmp_path / name, **options)

    return run


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    program = find_chromium()
    if program is None:
        pytest.skip("no Chromium is installed, so the page is not opened")
    with browser_page(program, tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture
def page(browser: Page) -> Iterator[Page]:
    """The browser's page; whatever a test does, nothing may be complained of or loaded from elsewhere."""
    browser.complaints.clear()
    browser.requests.clear()
    yield browser
    assert browser.complaints == []
    assert {address.partition(":")[0] for address in browser.requests} <= {"file", "data"}

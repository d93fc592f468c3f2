"""Runs that several files look at."""

from pathlib import Path

import pytest

from tests import forked
from tests.trainer.end_to_end import process
from tests.trainer.end_to_end.settings import resumable, small


@pytest.fixture(scope="session", autouse=True)
def _forked_from_one_that_has_imported() -> None:
    forked.prepare()


@pytest.fixture(scope="session")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run with everything in it: a base of its own, evaluations, two roles with a policy each."""
    folder = tmp_path_factory.mktemp("warm") / "run"
    run = {"eval_steps": 1, "eval_instances": 20, "save_steps": 1, "log_turns": 1}
    return process.train(small(folder, None, run=run))


@pytest.fixture(scope="session")
def base(warm: Path) -> Path:
    """The base model of all other runs."""
    return warm / "base"


@pytest.fixture(scope="session")
def straight(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run from start to end, for comparison with those that are stopped and resumed."""
    return process.train(resumable(tmp_path_factory.mktemp("straight") / "run", base))

"""Whole runs whose server samples ahead of the training: each row is of the weights that it says, also after a kill."""

from dataclasses import replace
from pathlib import Path

import pytest

from at_grpo.checkpointing import latest_checkpoint
from at_grpo.config import InferenceSection
from tests.scale import scaled
from tests.trainer.end_to_end import behaviour, look, process
from tests.trainer.end_to_end.journalled import config_of
from tests.trainer.end_to_end.stand_in import stand_in
from tests.trainer.end_to_end.test_journal_recovery import kill_in_version

pytestmark = pytest.mark.system  # for its length; it needs no real server

STEPS = scaled(fast=4, long=8)
NOISE = 1e-4


@pytest.mark.parametrize("staleness", scaled(fast=[1], long=[1, 2, 3]))
def test_every_row_is_of_the_version_that_it_carries_although_the_run_was_killed_between(
    staleness: int, base: Path, tmp_path: Path
) -> None:
    """By log-probabilities: those that the sampler gave are those of the checkpoint of the row's version."""
    folder = tmp_path / "run"
    with stand_in(base) as server:
        config = config_of(folder, base, InferenceSection(backend="vllm", urls=(server.url,), patience_s=5.0))
        config = replace(
            config,
            optim=replace(config.optim, steps=STEPS),
            rollout=replace(config.rollout, staleness=staleness),
        )
        kill_in_version(config, 1)
        running = process.start("watched", config, latest_checkpoint(folder))
        assert process.wait(running) == 0, (folder / process.OUTPUT).read_text()[-3000:]
    behaviour.check(base, folder, STEPS, staleness, NOISE)
    lines = look.training(folder)
    assert [line["step"] for line in lines] == list(range(1, STEPS + 1))
    assert max(line["version_lag_max"] for line in lines) <= staleness
    assert sum(line["version_lag"] for line in lines) > 0
    assert not list((folder / "journal").iterdir()), "every version is committed"

"""Whole runs that are killed in the middle of a version, with a stand-in for the server: token ids, adapters and
log-probabilities are real.
"""

import random
import time
from pathlib import Path

import pytest

from at_grpo.checkpointing import latest_checkpoint
from at_grpo.config import InferenceSection, TrainConfig
from at_grpo.rollouts.played import Played
from tests import forked
from tests.scale import scaled
from tests.trainer.end_to_end import process
from tests.trainer.end_to_end.journalled import INSTANCES, check_version, config_of, read
from tests.trainer.end_to_end.stand_in import stand_in

KILLED = 1  # the version that is killed in


def kill_in_version(config: TrainConfig, instances: int) -> list[Played]:
    """SIGKILL when the journal of the version holds so many instances; returns those that it holds."""
    folder = Path(config.run.output_dir)
    path = folder / "journal" / f"v{KILLED}.jsonl"
    running = process.start("watched", config, latest_checkpoint(folder) if folder.exists() else None)
    deadline = time.monotonic() + forked.TIMEOUT_S
    while len(read(path)) < instances:
        assert running.exitcode is None, (folder / process.OUTPUT).read_text()[-3000:]
        assert time.monotonic() < deadline, "watchdog"
        time.sleep(0.001)
    running.kill()
    running.join()
    return read(path)


@pytest.mark.parametrize("seed", range(scaled(fast=1, system=3, long=20)))
def test_a_run_killed_while_it_samples_and_trains_goes_on_with_its_journal(
    seed: int, base: Path, tmp_path: Path
) -> None:
    """From the journal: no instance twice, none of another version; what was there stays to the last digit; the rows
    that the resumed process trained on are the journal's, and their gradient is that of one synchronous pass.
    """
    rng = random.Random(seed)
    folder = tmp_path / "run"
    with stand_in(base) as server:
        config = config_of(folder, base, InferenceSection(backend="vllm", urls=(server.url,), patience_s=5.0))
        kept = kill_in_version(config, rng.randint(1, INSTANCES - 1))
        before = len(server.asked)
        running = process.start("watched", config, latest_checkpoint(folder))
        assert process.wait(running) == 0, (folder / process.OUTPUT).read_text()[-3000:]
        # a probe's seed is the version itself
        asked = [seed for name, _, seed in server.asked[before:] if f"-v{KILLED}-" in name and seed != KILLED]
    final = check_version(config, KILLED, tmp_path)
    assert final[: len(kept)] == kept
    assert len(asked) == sum(len(one.groups) for one in final[len(kept) :]), "only the rest was played"
    assert not list((folder / "journal").iterdir()), "every version is committed"

"""A run that dies in the middle of a version goes on with what was sampled: nothing twice, nothing of other weights."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from at_grpo.checkpointing import latest_checkpoint
from at_grpo.inference.base import SampleRequest, SamplerError
from at_grpo.inference.scripted import Script
from at_grpo.journal_lines import from_json
from at_grpo.rollouts.played import Played
from at_grpo.samples import Group, Iteration, MicroBatch, Sample
from at_grpo.seeds import derive_seed
from tests.scale import scaled
from tests.trainer.rollouts.experiences import ROLES, make_experience, make_run, toy_config
from tests.trainer.rollouts.test_streaming import Watched
from tests.trainer.tiny_trainer import relative_error

TOLERANCE = 1e-5
STEPS, INSTANCES = 2, 5
REQUESTS = 6 * INSTANCES  # of a version: three cycles of two agents
KILLS = scaled(fast=2, long=40)


def chance(policy: str, prompt: str, sibling: int) -> str:
    """A sampler that is asked again says the same."""
    return str(derive_seed(policy, prompt, sibling) % 4)


def other_chance(policy: str, prompt: str, sibling: int) -> str:
    """And one that says something else, as servers do whose batches differ."""
    return str(derive_seed(policy, prompt, sibling, "again") % 4)


class Process:
    """One process of a run: it takes what an earlier one left, and may die at a request to the server."""

    def __init__(
        self, folder: Path, script: Script = chance, dies_at: int | None = None, steps: int = STEPS, **rollout: Any
    ) -> None:
        self.config = toy_config(folder, steps=steps, instances=INSTANCES, max_in_flight=3, **rollout)
        self.journal: list[Played] = []
        self.journals: dict[int, list[Played]] = {}
        self._dies_at, self._asked = dies_at, 0
        self._experience, self.sampler = make_experience(self.config, script, pace=self._pace, on_step=self._keep)
        trainer, self._gradients = make_run(self.config, self._experience, trainer_class=Watched)
        assert isinstance(trainer, Watched)
        self._trainer = trainer

    async def _pace(self, request: SampleRequest) -> None:
        self._asked += 1
        if self._asked == self._dies_at:
            raise SamplerError("killed")

    def _keep(self, step: int, *_: Any) -> None:
        """The journal of the last version as it was when the version was complete."""
        self.journal = read(Path(self.config.run.output_dir), step)
        self.journals[step] = self.journal

    @property
    def checkpoint(self) -> Path | None:
        """The one to go on from."""
        return latest_checkpoint(Path(self.config.run.output_dir))

    def run(self) -> None:
        checkpoint = self.checkpoint
        with self._experience:
            if checkpoint is not None:
                self._experience.restore(checkpoint)
            self._trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))

    def die(self) -> None:
        with pytest.raises(SamplerError, match="killed"):
            self.run()

    @property
    def gradient(self) -> dict[str, torch.Tensor]:
        """Of the last step."""
        return self._gradients.gradients

    def trained(self, step: int) -> list[Sample]:
        pairs = zip(self._trainer.seen, self._trainer.steps, strict=True)
        return [row for batch, at in pairs for row in batch.samples if at == step]


def read(folder: Path, version: int) -> list[Played]:
    """The whole lines of a journal."""
    _, *lines = (folder / "journal" / f"v{version}.jsonl").read_text().splitlines(keepends=True)
    return [from_json(line) for line in lines if line.endswith("\n")]


def synchronous(folder: Path, checkpoint: Path, played: list[Played]) -> dict[str, torch.Tensor]:
    """The gradient of one pass over a journal's rows, from a checkpoint's weights; its step is not taken elsewhere."""
    groups = [group for one in played for group in one.groups]
    rows = {role: tuple(row for group in groups if group.role == role for row in group.samples) for role in ROLES}
    batches = [MicroBatch(role, role, samples) for role, samples in rows.items()]
    step = int(checkpoint.name.removeprefix("checkpoint-"))
    config = toy_config(folder, steps=step + 1)
    trainer, keep = make_run(config, None, collect=lambda step: Iteration(batches, {}))
    trainer.train(resume_from_checkpoint=str(checkpoint))
    return keep.gradients


def plain(rows: list[Sample]) -> Counter[str]:
    """Everything that a gradient depends on."""
    return Counter(
        repr((row.policy, row.prompt_ids, row.completion_ids, row.logprobs, row.reward, row.advantage, row.version))
        for row in rows
    )


def rows_of(played: list[Played]) -> list[Sample]:
    return [row for one in played for group in one.groups for row in group.samples]


@pytest.fixture(params=range(KILLS))
def rng(request: pytest.FixtureRequest) -> Iterator[random.Random]:
    return random.Random(request.param)


def test_a_run_that_died_anywhere_in_a_version_goes_on_with_what_was_sampled(
    rng: random.Random, tmp_path: Path
) -> None:
    """However often it dies, and with the last line of the journal torn. From the journal: each instance is there once
    and was sampled by this version; what was written before stays as it was although the server now says something
    else; the gradient is that of one synchronous pass over the final journal.
    """
    folder = tmp_path / "run"
    Process(folder, dies_at=REQUESTS + rng.randint(2, REQUESTS - 6)).die()  # in version 1; version 0 is committed
    assert [path.name for path in (folder / "journal").iterdir()] == ["v1.jsonl"]
    kept = _tear(folder, rng)
    Process(folder, other_chance, dies_at=rng.randint(1, 6)).die()
    assert read(folder, 1)[: len(kept)] == kept
    kept = _tear(folder, rng)
    last = Process(folder, other_chance)
    last.run()

    final = last.journal
    assert final[: len(kept)] == kept, "same ids, log-probabilities, rewards"
    assert len({one.index for one in final}) == len(final) == INSTANCES
    assert {row.version for row in rows_of(final)} == {1}
    assert plain(last.trained(1)) == plain(rows_of(final)), "each row once"
    assert len(last.sampler.served) == REQUESTS - 6 * len(kept), "only the rest was played"
    expected = synchronous(tmp_path / "whole", folder / "checkpoint-1", final)
    assert relative_error(last.gradient, expected) < TOLERANCE
    twice = synchronous(tmp_path / "twice", folder / "checkpoint-1", [*final, final[0]])
    assert relative_error(last.gradient, twice) > 1e-3
    assert list((folder / "journal").iterdir()) == [], "the checkpoint of version 2 has committed it"


def _tear(folder: Path, rng: random.Random) -> list[Played]:
    """Cut some bytes off the journal's end, as a kill in the middle of a write does; returns what is whole."""
    path = folder / "journal" / "v1.jsonl"
    content = path.read_bytes()
    header = content.index(b"\n") + 1
    path.write_bytes(content[: max(header, len(content) - rng.choice([0, 1, rng.randint(1, 4000)]))])
    return read(folder, 1)


def test_the_very_first_version_is_gone_on_with_too(tmp_path: Path) -> None:
    """Its checkpoint is written again by the run that resumes from it."""
    Process(tmp_path, dies_at=20).die()
    kept = read(tmp_path, 0)
    assert kept
    resumed = Process(tmp_path, other_chance)
    resumed.run()
    assert len(resumed.sampler.served) == 2 * REQUESTS - 6 * len(kept)
    assert not plain(rows_of(kept)) - plain(resumed.trained(0))


def test_a_run_that_goes_back_to_an_earlier_checkpoint_takes_nothing_of_the_branch_that_it_leaves(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Version 1 is then made of other weights, whatever its number."""
    Process(tmp_path, dies_at=REQUESTS + 20).die()
    assert read(tmp_path, 1)
    marker = tmp_path / "checkpoint-1" / "complete.json"
    marker.unlink()
    back = Process(tmp_path, other_chance)
    with caplog.at_level("INFO"):
        back.run()
    assert f"{tmp_path / 'journal' / 'v1.jsonl'}: is discarded" in caplog.text
    assert len(back.sampler.served) == 2 * REQUESTS


def test_an_instance_that_the_filter_leaves_out_is_not_played_again_by_a_resumed_run(tmp_path: Path) -> None:
    """UC-113: what a refill has tried stays tried."""

    def hardly(policy: str, prompt: str, sibling: int) -> str:
        return str(sibling) if policy == "tool" or derive_seed(prompt.split(" at ", maxsplit=1)[0]) % 3 == 0 else "1"

    def collect(folder: Path, dies_at: int | None = None) -> tuple[set[Any], int]:
        asked = 0

        async def pace(request: SampleRequest) -> None:
            nonlocal asked
            asked += 1
            if asked == dies_at:
                raise SamplerError("killed")

        config = toy_config(folder, instances=4, filter="outcome", refill=40, max_in_flight=1)
        config = replace(config, run=replace(config.run, permute_rewards=False))
        experience, _ = make_experience(config, hardly, pace=pace)
        checkpoint = folder / "checkpoint-0"
        if checkpoint.exists():
            experience.restore(checkpoint)
        else:
            checkpoint.mkdir(parents=True)
            experience.save(checkpoint)
        with experience:
            rows = [row for batch in experience.collect(0).micro_batches for row in batch.samples]
            return set(plain(rows)), asked

    straight, all_of_it = collect(tmp_path / "straight")
    with pytest.raises(SamplerError):
        collect(tmp_path / "resumed", dies_at=all_of_it - 8)
    resumed, rest = collect(tmp_path / "resumed")
    assert resumed == straight
    assert rest <= 14


def test_a_group_is_what_it_was_after_a_round_through_the_journal(tmp_path: Path) -> None:
    groups: list[Group] = []
    experience, _ = make_experience(toy_config(tmp_path), chance, on_step=lambda _, made, *rest: groups.extend(made))
    with experience:
        list(experience.collect(0).micro_batches)
    written = sorted((group for one in read(tmp_path, 0) for group in one.groups), key=lambda group: group.key)
    assert written == groups

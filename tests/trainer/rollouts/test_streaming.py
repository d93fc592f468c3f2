"""Training while rollouts of the same version go on: the same gradient, sooner; and one end for both sides."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from at_grpo.at_grpo_trainer import ATGRPOTrainer
from at_grpo.inference.base import SampleRequest, SamplerError
from at_grpo.rollouts.engine import TooManyLostError
from at_grpo.samples import Group, Iteration, MicroBatch
from at_grpo.store import StalledError
from tests.trainer.rollouts.experiences import ROLES, make_experience, make_run, toy_config
from tests.trainer.rollouts.test_tree import by_sibling
from tests.trainer.tiny_trainer import relative_error

TOLERANCE = 1e-5


def synchronous(folder: Path, groups: Sequence[Group]) -> dict[str, torch.Tensor]:
    """The gradient of one pass over all rows, one micro-batch a role."""
    rows = {role: tuple(row for group in groups if group.role == role for row in group.samples) for role in ROLES}
    batches = [MicroBatch(role, role, samples) for role, samples in rows.items()]
    trainer, keep = make_run(toy_config(folder), None, collect=lambda step: Iteration(batches, {}))
    trainer.train()
    return keep.gradients


class Watched(ATGRPOTrainer):
    """Keeps what it trains on, and says when the first micro-batch is through."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.seen: list[MicroBatch] = []
        self.steps: list[int] = []
        self.begun = threading.Event()

    def _backward(self, model: Any, micro_batch: MicroBatch) -> Any:
        result = super()._backward(model, micro_batch)
        self.seen.append(micro_batch)
        self.steps.append(self.state.global_step)
        self.begun.set()
        return result


class Scene:
    """A run of one streamed iteration whose last instance is not played before training has begun."""

    def __init__(self, folder: Path, trainer_class: type[Watched] = Watched, **rollout: Any) -> None:
        self.groups: list[Group] = []
        self.config = toy_config(folder, **rollout)
        self.experience, self.sampler = make_experience(
            self.config, by_sibling, pace=self.pace, on_step=lambda step, groups, *_: self.groups.extend(groups)
        )
        trainer, self.keep = make_run(self.config, self.experience, trainer_class=trainer_class)
        assert isinstance(trainer, Watched)
        self.trainer = trainer

    async def pace(self, request: SampleRequest) -> None:
        if len(self.sampler.served) > 24:  # of 36: six instances with three cycles of two agents
            while not self.trainer.begun.is_set():
                await asyncio.sleep(0.001)

    def train(self) -> dict[str, torch.Tensor]:
        with self.experience:
            self.trainer.train()
        return self.keep.gradients


@pytest.fixture(scope="module")
def streamed(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    scene = Scene(tmp_path_factory.mktemp("streamed"), max_in_flight=2)
    scene.train()
    return scene


def test_micro_batches_are_trained_on_while_rollouts_of_the_same_version_go_on(streamed: Scene) -> None:
    """The last instances waited for it: without overlap neither side would have come to an end."""
    assert len(streamed.sampler.served) == 36
    assert all({row.role for row in batch.samples} == {batch.role} for batch in streamed.trainer.seen)
    assert all(len(batch.samples) <= 5 for batch in streamed.trainer.seen)


def test_the_streamed_gradient_equals_that_of_one_synchronous_pass_over_the_same_rows(
    streamed: Scene, tmp_path: Path
) -> None:
    expected = synchronous(tmp_path / "all", streamed.groups)
    assert relative_error(streamed.keep.gradients, expected) < TOLERANCE
    first, *rest = streamed.groups
    short = replace(first, samples=first.samples[1:])
    assert relative_error(streamed.keep.gradients, synchronous(tmp_path / "one less", [short, *rest])) > 1e-3
    assert relative_error(streamed.keep.gradients, synchronous(tmp_path / "one more", [first, *streamed.groups])) > 1e-3


def test_every_row_is_trained_on_once(streamed: Scene) -> None:
    trained = [repr(row) for batch in streamed.trainer.seen for row in batch.samples]
    assert sorted(trained) == sorted(repr(row) for group in streamed.groups for row in group.samples)


def test_the_seconds_of_each_side_are_logged(streamed: Scene) -> None:
    """UC-164: those of the publication, too."""
    line = streamed.trainer.state.log_history[0]
    assert all(line[f"time/{name}"] >= 0 for name in ("rollout", "train", "wait", "publish"))
    assert 0 <= line["time/hidden_share"] <= 1


def rollout_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("rollouts")]


@pytest.fixture
def _nothing_left() -> Iterator[None]:
    yield
    assert rollout_threads() == []


@pytest.mark.usefixtures("_nothing_left")
def test_a_failure_of_the_server_ends_the_training_with_its_own_words(tmp_path: Path) -> None:
    """UC-143."""

    class Dying(Scene):
        async def pace(self, request: SampleRequest) -> None:
            await super().pace(request)
            if self.trainer.begun.is_set():
                raise SamplerError("the server is gone")

    scene = Dying(tmp_path, max_in_flight=2)
    with pytest.raises(SamplerError, match="the server is gone"):
        scene.train()
    assert scene.trainer.seen, "it had begun"
    assert scene.trainer.state.global_step == 0, "and no step was taken on a part of the version"


@pytest.mark.usefixtures("_nothing_left")
@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_a_failure_of_the_training_ends_the_rollouts(tmp_path: Path, error: type[BaseException]) -> None:
    class Failing(Watched):
        def _backward(self, model: Any, micro_batch: MicroBatch) -> Any:
            raise error

    class Endless(Scene):
        async def pace(self, request: SampleRequest) -> None:
            if len(self.sampler.served) > 24:
                await asyncio.sleep(3600)

    scene = Endless(tmp_path, Failing, max_in_flight=2)
    with pytest.raises(error):
        scene.train()


@pytest.mark.usefixtures("_nothing_left")
def test_rollouts_that_hang_end_the_run_with_the_option_to_look_at(tmp_path: Path) -> None:
    class Hanging(Scene):
        async def pace(self, request: SampleRequest) -> None:
            await asyncio.sleep(3600)

    with pytest.raises(StalledError, match=r"rollout\.stall_s"):
        Hanging(tmp_path, stall_s=0.1).train()


@pytest.mark.usefixtures("_nothing_left")
def test_losses_above_the_limit_end_the_run_although_their_rest_was_trained_on(tmp_path: Path) -> None:
    experience, _ = make_experience(toy_config(tmp_path), lambda policy, *_: "run lost" if policy == "tool" else "1")
    with pytest.raises(TooManyLostError), experience:
        list(experience.collect(0).micro_batches)


def test_with_the_sampler_in_this_process_nothing_overlaps_and_nothing_is_journalled(tmp_path: Path) -> None:
    threads: set[int] = set()

    async def note(request: SampleRequest) -> None:
        threads.add(threading.get_ident())

    experience, sampler = make_experience(toy_config(tmp_path, backend="transformers"), by_sibling, pace=note)
    with experience:
        iteration = experience.collect(0)
        assert len(sampler.served) == 36, "all of it is there before the first micro-batch is asked for"
        first = list(iteration.micro_batches)
    assert threads == {threading.get_ident()}
    assert not (tmp_path / "journal").exists()
    again, _ = make_experience(toy_config(tmp_path, backend="transformers", max_in_flight=1), by_sibling)
    assert list(again.collect(0).micro_batches) == first, "and the cut does not depend on who was done first"

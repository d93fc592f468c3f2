"""Rollouts that run ahead of the training, at most S versions: which weights sampled what, before and after a kill."""

import asyncio
import random
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from at_grpo.inference.base import SampleRequest, SamplerError
from at_grpo.samples import MicroBatch
from llm_envs.players import ReferencePlayer
from tests.scale import scaled
from tests.trainer.rollouts.experiences import make_experience, make_run, toy_config
from tests.trainer.rollouts.test_recovery import (
    INSTANCES,
    REQUESTS,
    TOLERANCE,
    Process,
    chance,
    other_chance,
    plain,
    read,
    rows_of,
    synchronous,
)
from tests.trainer.rollouts.test_streaming import Watched, rollout_threads
from tests.trainer.tiny_trainer import relative_error

STEPS = 4
KILLS = scaled(fast=1, system=6, long=60)


class Patient(Watched):
    """Does not train on a version before the first request of the furthest allowed iteration has come."""

    asked: list[threading.Event]
    staleness: int

    def _backward(self, model: Any, micro_batch: MicroBatch) -> Any:
        ahead = min(self.state.global_step + self.staleness, STEPS - 1)
        assert self.asked[ahead].wait(60), f"iteration {ahead} did not begin while {self.state.global_step} was trained"
        return super()._backward(model, micro_batch)


class Ahead:
    """A run of `STEPS` iterations; `asked[i]` says that rollouts of iteration i have begun."""

    def __init__(self, folder: Path, staleness: int) -> None:
        self.asked = [threading.Event() for _ in range(STEPS)]
        self.trained_when_asked: dict[int, int] = {}  # iteration -> the one that was trained when it began
        config = toy_config(folder, steps=STEPS, instances=2, staleness=staleness)
        experience, self.sampler = make_experience(config, chance, pace=self.pace)
        trainer, _ = make_run(config, experience, trainer_class=Patient)
        assert isinstance(trainer, Patient)
        self.trainer, trainer.asked, trainer.staleness = trainer, self.asked, staleness
        with experience:
            trainer.train()

    async def pace(self, request: SampleRequest) -> None:
        iteration = len(self.sampler.served) // 12  # of two instances with three cycles of two agents
        self.trained_when_asked.setdefault(iteration, self.trainer.state.global_step)
        self.asked[iteration].set()
        await asyncio.sleep(0)

    @property
    def lags(self) -> list[int]:
        pairs = zip(self.trainer.seen, self.trainer.steps, strict=True)
        return [step - row.version for batch, step in pairs for row in batch.samples]


@pytest.mark.parametrize("staleness", scaled(fast=[2], long=[1, 2, 3]))
def test_iterations_begin_while_earlier_ones_are_trained_on_and_no_sample_is_too_old(
    staleness: int, tmp_path: Path
) -> None:
    run = Ahead(tmp_path, staleness)
    assert set(run.lags) == set(range(staleness + 1))
    logged = [line for line in run.trainer.state.log_history if "version_lag" in line]
    assert [line["version_lag_max"] for line in logged] == [min(step, staleness) for step in range(STEPS)]
    assert sum(line["version_lag"] for line in logged) > 0
    assert len(run.sampler.served) == 12 * STEPS, "nothing beyond the last iteration is played"
    assert rollout_threads() == []


def test_without_staleness_no_iteration_begins_before_its_weights_are_there(tmp_path: Path) -> None:
    """The negative control; strictly on-policy."""
    run = Ahead(tmp_path, 0)
    assert set(run.lags) == {0}
    assert run.trained_when_asked == {step: step for step in range(STEPS)}
    assert all(line["version_lag"] == 0 for line in run.trainer.state.log_history if "version_lag" in line)


@pytest.mark.parametrize("seed", range(KILLS))
def test_a_killed_run_takes_over_what_weights_that_it_has_sampled_and_nothing_else(seed: int, tmp_path: Path) -> None:
    """From the journals: every instance once; each row by weights of this branch and at most S versions old; what older
    weights sampled ahead is not played again; the gradient is that of one pass over the final journal.
    """
    rng = random.Random(seed)
    staleness, folder = rng.choice([1, 2]), tmp_path / "run"
    rest: dict[str, Any] = {"steps": STEPS, "staleness": staleness}
    Process(folder, dies_at=rng.randint(REQUESTS, STEPS * REQUESTS), **rest).die()
    resumed = Process(folder, other_chance, **rest)
    begin = int(resumed.checkpoint.name.removeprefix("checkpoint-"))
    left = {int(path.stem[1:]): read(folder, int(path.stem[1:])) for path in (folder / "journal").iterdir()}
    kept = {step: [one for one in played if newest(one) <= begin] for step, played in left.items()}
    resumed.run()

    for step in range(begin, STEPS):
        final = resumed.journals[step]
        assert final[: len(kept.get(step, []))] == kept.get(step, []), "same ids, log-probabilities, rewards"
        assert len({one.index for one in final}) == len(final) == INSTANCES
        assert all(0 <= step - row.version <= staleness for row in rows_of(final))
        assert plain(resumed.trained(step)) == plain(rows_of(final)), "each row once"
    reused = sum(len(kept.get(step, [])) for step in range(begin, STEPS))
    assert len(resumed.sampler.served) == REQUESTS * (STEPS - begin) - 6 * reused, "only the rest was played"
    last = STEPS - 1
    expected = synchronous(tmp_path / "whole", folder / f"checkpoint-{last}", resumed.journals[last])
    assert relative_error(resumed.gradient, expected) < TOLERANCE
    less = synchronous(tmp_path / "less", folder / f"checkpoint-{last}", resumed.journals[last][1:])
    assert relative_error(resumed.gradient, less) > 1e-3
    assert list((folder / "journal").iterdir()) == [], "every version is committed"


def newest(played: Any) -> int:
    return max(row.version for row in rows_of([played]))


def test_evaluations_share_the_event_loop_of_rollouts_that_are_going_on(tmp_path: Path) -> None:
    """What samples for both serves one loop at a time."""
    loops: dict[str, set[int]] = {"train": set(), "eval": set()}

    async def note(request: SampleRequest) -> None:
        loops["train"].add(id(asyncio.get_running_loop()))
        await asyncio.sleep(0.001)

    class Says:
        name = "says"

        async def act(self, env: Any, agent: str, observation: str) -> str:
            loops["eval"].add(id(asyncio.get_running_loop()))
            return "1"

    config = toy_config(tmp_path, steps=2, instances=2, staleness=1)
    config = replace(config, run=replace(config.run, eval_instances=2))
    experience, _ = make_experience(config, chance, pace=note, players={"tool": Says(), "planner": Says()})
    with experience:
        experience.collect(0)
        assert 0 <= experience.assess(0)["success"] <= 1
    assert len(loops["train"] | loops["eval"]) == 1


def test_what_a_publication_measures_before_an_evaluation_is_told_with_the_iteration(tmp_path: Path) -> None:
    class Measures:
        gaps: ClassVar = [{"probe/team/gap": 0.5}, {}]  # publishing a version again does nothing

        def publish(self, version: int) -> dict[str, float]:
            return self.gaps.pop(0)

    config = toy_config(tmp_path, steps=1, instances=2)
    players = {role: ReferencePlayer("oracle") for role in ("tool", "planner")}
    experience, _ = make_experience(replace(config, run=replace(config.run, eval_instances=2)), chance, players=players)
    experience._publication = Measures()
    with experience:
        experience.assess(0)
        assert experience.collect(0).metrics["probe/team/gap"] == 0.5
    assert experience._published == {}


def test_a_failure_in_an_iteration_that_is_played_ahead_ends_the_run_when_it_is_due(tmp_path: Path) -> None:
    """UC-143: what was complete is trained on and saved before."""
    process = Process(tmp_path, dies_at=REQUESTS + 3, steps=STEPS, staleness=1)
    with pytest.raises(SamplerError, match="killed"):
        process.run()
    assert sorted(process.journals) == [0]
    assert rollout_threads() == []

"""Many instances on one event loop: who waits for whom, what becomes of failures, what a cancelled call leaves."""

import asyncio
import functools
import logging
import re
import threading
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pettingzoo.utils import BaseWrapper

from at_grpo.inference.base import SampleRequest, SamplerError
from at_grpo.inference.scripted import Script
from at_grpo.rollouts.engine import RolloutEngine, TooManyLostError
from at_grpo.rollouts.limits import StopReason
from at_grpo.rollouts.played import Played, Programs
from llm_envs.core.env import TextAECEnv
from llm_envs.core.errors import UsageError
from llm_envs.core.task import Transition
from llm_envs.episode import Ending
from llm_envs.sandbox.base import Outcome, Program
from tests.scale import scaled
from tests.trainer.rollouts.test_tree import K, encoder, recipe
from tests.trainer.served_script import ServedScript
from tests.trainer.toy_env import Count, CountTask, EchoSandbox, count_env

BROKEN = 3


def instance_of(request: SampleRequest) -> int:
    found = re.search(r"of\s*(\d+)", encoder().tokenizer.decode(list(request.prompt_ids)))
    assert found
    return int(found[1])


def ones(policy: str, prompt: str, sibling: int) -> str:
    return "1"


class BrokenTask(CountTask):
    """One instance has a fault that nobody thought of; the other roles' turns are fine."""

    def apply(self, state: Count, role: str, action: str, results: Sequence[Outcome]) -> Transition[Count]:
        if state.instance == BROKEN and role == "planner":
            raise ZeroDivisionError("a fault of the environment")
        return super().apply(state, role, action, results)


def broken_env() -> TextAECEnv:
    return TextAECEnv(BrokenTask(), name="broken_v0", max_cycles=3)


def make_engine(
    script: Script = ones, pace: Callable[[SampleRequest], Awaitable[object]] | None = None, **changes: Any
) -> RolloutEngine:
    settings: dict[str, Any] = {
        "make_env": count_env,
        "recipe": recipe(script, sampler=ServedScript(script, encoder(), pace=pace)),
        "env_id": "count",
        "split": "train",
        "grouping": "turn",
        "sandbox": EchoSandbox(),
        "max_lost_share": 0.5,
    }
    return RolloutEngine(**settings | changes)


def play(
    engine: RolloutEngine, count: int, keep: Callable[[Played], bool] = lambda played: True, wanted: int | None = None
) -> tuple[list[Played], Programs]:
    """All instances in the order in which they were done; no task may be left behind."""
    done: list[Played] = []

    def deliver(played: Played) -> bool:
        done.append(played)
        return keep(played)

    async def run() -> Programs:
        try:
            return await engine.play(5, range(count), deliver, wanted=count if wanted is None else wanted)
        finally:
            assert asyncio.all_tasks() == {asyncio.current_task()}

    return done, asyncio.run(run())


# ---- order


@pytest.mark.parametrize("grouping", ["turn", "trajectory"])
def test_an_instance_is_delivered_when_it_is_done_and_waits_for_no_other(grouping: str) -> None:
    async def the_first_waits_for_the_last(request: SampleRequest) -> None:
        if instance_of(request) == 0:
            await last_done.wait()

    async def run() -> list[int]:
        order: list[int] = []

        def deliver(played: Played) -> bool:
            order.append(played.index)
            if len(order) == 3:
                last_done.set()
            return True

        await make_engine(pace=the_first_waits_for_the_last, grouping=grouping).play(5, range(4), deliver, wanted=4)
        return order

    last_done = asyncio.Event()
    order = asyncio.run(run())
    assert (sorted(order), order[-1]) == ([0, 1, 2, 3], 0)


@pytest.mark.parametrize("limit", [0, 1, 3])
def test_no_more_instances_than_allowed_are_in_flight(limit: int) -> None:
    """UC-146: those that wait have made no request yet."""
    in_flight: set[int] = set()
    most = 0

    async def note(request: SampleRequest) -> None:
        nonlocal most
        in_flight.add(instance_of(request))
        most = max(most, len(in_flight))
        await asyncio.sleep(0)

    done, _ = play(
        make_engine(pace=note, max_in_flight=limit),
        9,
        keep=lambda played: not in_flight.discard(played.index),
    )
    assert len(done) == 9
    assert most == (limit or 9)


def test_what_an_instance_gives_does_not_depend_on_the_others() -> None:
    """Seeds are the instance's own: however many are in flight, the groups are the same."""
    alone, _ = play(make_engine(max_in_flight=1), 5)
    together, _ = play(make_engine(), 5)
    assert sorted(alone, key=lambda one: one.index) == sorted(together, key=lambda one: one.index)


def test_steps_of_wrappers_that_may_block_run_off_the_loop() -> None:
    """Only `astep` is known not to block: PettingZoo's wrappers step in a thread."""
    done, _ = play(make_engine(make_env=lambda: Slow(count_env())), 2)
    assert [one.stop for one in done] == [StopReason.TRUNCATED] * 2
    assert STEPPED_IN
    assert threading.get_ident() not in STEPPED_IN


STEPPED_IN: set[int] = set()


class Slow(BaseWrapper[str, str, str]):
    def step(self, action: str | None) -> None:
        if action is not None:  # those that are dead leave at once
            STEPPED_IN.add(threading.get_ident())
        super().step(action)


# ---- failures


def test_an_instance_that_breaks_is_recorded_counted_and_left_out_of_the_batch(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        done, _ = play(make_engine(make_env=broken_env), 5)
    broken = next(one for one in done if one.index == BROKEN)
    assert (broken.groups, broken.stop, broken.lost) == ((), StopReason.LOST, K)
    assert (broken.episode.ending, broken.episode.success) == (Ending.ERROR, False)
    assert broken.episode.error == "ZeroDivisionError: a fault of the environment"
    assert all(len(one.groups) == 6 and one.lost == 0 for one in done if one is not broken)
    assert "step 5: instance 3 is lost" in caplog.text
    assert "in apply" in caplog.text, "the traceback says where"


def test_more_losses_than_allowed_stop_the_run() -> None:
    """A fault of every instance is no bad luck: of 4 + 3 * 24 branches 4 are lost."""
    with pytest.raises(TooManyLostError, match=r"step 5: 4 of 76 branches.*rollout\.max_lost_share=0\.05"):
        play(make_engine(make_env=broken_env, max_lost_share=0.05), 4, wanted=3, keep=lambda one: one.index > 0)
    play(make_engine(make_env=broken_env, max_lost_share=0.06), 4, wanted=3, keep=lambda one: one.index > 0)


@pytest.mark.parametrize("failure", [SamplerError("the server is gone"), UsageError("no such split")])
def test_what_would_fail_for_every_instance_ends_the_iteration_and_leaves_no_task(failure: Exception) -> None:
    """As it is: neither counted as a loss nor wrapped in a group of exceptions."""

    async def fail_the_third(request: SampleRequest) -> None:
        if instance_of(request) == BROKEN:
            raise failure
        await asyncio.sleep(60)

    with pytest.raises(type(failure)) as caught:
        play(make_engine(pace=fail_the_third), 6)
    assert caught.value is failure


@pytest.mark.parametrize("grouping", ["turn", "trajectory"])
def test_a_cancelled_iteration_leaves_no_task_behind(grouping: str) -> None:
    """Whether it waits for the sampler, for a step or for a program."""

    async def run(engine: RolloutEngine, reached: asyncio.Event) -> None:
        playing = asyncio.create_task(engine.play(5, range(6), lambda played: True, wanted=6))
        await reached.wait()
        playing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await playing
        assert asyncio.all_tasks() == {asyncio.current_task()}

    sampling = asyncio.Event()

    async def forever(request: SampleRequest) -> None:
        sampling.set()
        await asyncio.sleep(60)

    asyncio.run(run(make_engine(pace=forever, grouping=grouping), sampling))
    running = asyncio.Event()

    class Endless(EchoSandbox):
        async def arun(self, programs: Sequence[Program]) -> list[Outcome]:
            running.set()
            await asyncio.sleep(60)
            raise AssertionError

    asyncio.run(run(make_engine(lambda *_: "run 1", sandbox=Endless(), grouping=grouping), running))


def test_a_sandbox_that_breaks_in_an_unknown_way_does_not_leave_anyone_waiting() -> None:
    class Broken(EchoSandbox):
        async def arun(self, programs: Sequence[Program]) -> list[Outcome]:
            raise ZeroDivisionError("the cage")

    with pytest.raises(TooManyLostError):
        play(make_engine(lambda *_: "run 1", sandbox=Broken()), 3)


# ---- refills


@given(
    kept=st.lists(st.booleans(), min_size=12, max_size=12),
    wanted=st.integers(1, 8),
    limit=st.integers(0, 3),
    done=st.sets(st.integers(0, 11), max_size=3),
)
@settings(max_examples=scaled(fast=25, long=500))
def test_an_instance_that_is_not_kept_is_replaced_by_the_next_until_enough_are_or_none_is_left(
    kept: list[bool], wanted: int, limit: int, done: set[int]
) -> None:
    """UC-113: bounded, and the instances that are played do not depend on who is done first."""
    indices = [index for index in range(12) if index not in done]
    played: list[int] = []

    def deliver(one: Played) -> bool:
        played.append(one.index)
        return kept[one.index]

    env = functools.partial(count_env, max_cycles=1)
    asyncio.run(make_engine(make_env=env, max_in_flight=limit).play(5, indices, deliver, wanted=wanted))
    reached = len(indices)
    for count in range(wanted, len(indices) + 1):
        if sum(kept[index] for index in indices[:count]) >= wanted:
            reached = count
            break
    assert sorted(played) == indices[:reached]

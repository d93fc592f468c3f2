"""Work that runs at once ends together, and garbage is not looked for more than it pays."""

import asyncio
import gc
import threading
import time

import pytest

from at_grpo.rollouts import concurrency
from at_grpo.rollouts.concurrency import Background, seldom_collecting, together


async def after(turns: int, result: int | Exception) -> int:
    for _ in range(turns):
        await asyncio.sleep(0)
    if isinstance(result, Exception):
        raise result
    return result


def test_results_come_in_order_whoever_is_first() -> None:
    async def run() -> list[int]:
        return await together(after(3, 1), after(0, 2), after(1, 3))

    assert asyncio.run(run()) == [1, 2, 3]


def test_the_first_failure_comes_as_it_is_with_its_cause_and_ends_the_others() -> None:
    failure = ValueError("no")
    failure.__cause__ = KeyError("why")

    async def run() -> None:
        with pytest.raises(ValueError, match="no") as caught:
            await together(after(10_000, 1), after(1, failure))
        assert caught.value is failure
        assert isinstance(caught.value.__cause__, KeyError)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(run())


def test_a_thread_that_is_closed_has_cancelled_its_work_and_is_gone() -> None:
    seen: list[str] = []
    begun = threading.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    background = Background(work, "some work")
    begun.wait()
    background.close()
    assert seen == ["cancelled"]
    assert "some work" not in [thread.name for thread in threading.enumerate()]
    background.close()


def test_work_that_failed_or_ended_can_be_closed_and_is_no_forgotten_exception(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def fail() -> None:
        raise ValueError

    for work in (fail, lambda: asyncio.sleep(0)):
        Background(work, "short").close()
    gc.collect()
    assert caplog.messages == []


def test_further_work_runs_on_the_same_loop_or_on_one_of_its_own_when_that_has_ended() -> None:
    """Its failure is the caller's; a loop that ends meanwhile takes nothing with it."""
    end = threading.Event()

    async def main() -> None:
        while not end.is_set():
            await asyncio.sleep(0.001)

    async def where() -> str:
        return threading.current_thread().name

    async def until_the_end() -> str:
        if threading.current_thread() is not threading.main_thread():
            end.set()
            await asyncio.sleep(3600)
        return await where()

    background = Background(main, "beside")
    assert background.run(where) == "beside"
    with pytest.raises(ValueError, match="no"):
        background.run(lambda: after(1, ValueError("no")))
    with pytest.raises(TimeoutError, match="late"):
        background.run(lambda: after(1, TimeoutError("late")))
    here = threading.current_thread().name
    assert background.run(until_the_end) == here
    while "beside" in {thread.name for thread in threading.enumerate()}:  # its last turns are still the loop's
        time.sleep(0.001)
    assert background.run(where) == here
    background.close()


def test_a_step_that_blocks_for_ever_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concurrency, "CLOSE_S", 0.05)
    go_on, begun = threading.Event(), threading.Event()

    def block() -> None:
        begun.set()
        go_on.wait(30)

    background = Background(lambda: asyncio.to_thread(block), "rollouts of step 7")
    begun.wait()
    with pytest.raises(TimeoutError, match="rollouts of step 7: a step that blocks did not end"):
        background.close()
    go_on.set()


def test_garbage_is_collected_as_before_afterwards() -> None:
    before = gc.get_threshold()

    def fail() -> None:
        with seldom_collecting():
            assert gc.get_threshold()[0] > before[0]
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail()
    assert gc.get_threshold() == before

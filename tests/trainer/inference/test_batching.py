import asyncio
import random
import threading
from collections.abc import Awaitable, Callable, Sequence

import pytest

from at_grpo.inference import batching
from at_grpo.inference.base import Completion, FinishReason, SampleRequest, SamplerError, SamplingParams
from at_grpo.inference.batching import BatchingSampler


class Recorder(BatchingSampler):
    """Answers with the request's seed and keeps the seeds of every batch."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[list[int]] = []
        self.failure: Exception | None = None

    def check(self, request: SampleRequest) -> None:
        if request.policy == "unknown":
            raise SamplerError("unknown")

    def generate(self, requests: Sequence[SampleRequest]) -> list[list[Completion]]:
        if self.failure is not None:
            raise self.failure
        self.batches.append([request.seed for request in requests])
        return [[Completion((request.seed,), (0.0,), FinishReason.STOP, 0)] for request in requests]


def request(seed: int, policy: str = "planner") -> SampleRequest:
    return SampleRequest(policy, (1, 2), 1, seed, SamplingParams())


Pause = Callable[[], Awaitable[None]]


async def episode(sampler: Recorder, seeds: Sequence[int], pause: Pause) -> list[int]:
    """One request after another, with the time that an environment takes between them."""
    answers = []
    with sampler.episode():
        for seed in seeds:
            await pause()
            (completion,) = await sampler.sample(request(seed))
            answers.append(completion.token_ids[0])
    return answers


def sleeping(rng: random.Random) -> Pause:
    async def pause() -> None:
        for _ in range(rng.randrange(4)):
            await asyncio.sleep(rng.choice([0, 0, 0.002]))

    return pause


@pytest.mark.parametrize("timing", range(6))
def test_who_shares_a_batch_does_not_depend_on_timing(timing: int) -> None:
    sampler, rng = Recorder(), random.Random(timing)

    async def run() -> list[list[int]]:
        lines = [[1, 2, 3], [11, 12], [21, 22, 23, 24]]
        rng.shuffle(lines)
        return await asyncio.gather(*(episode(sampler, line, sleeping(rng)) for line in lines))

    answers = asyncio.run(run())
    assert sorted(answers) == [[1, 2, 3], [11, 12], [21, 22, 23, 24]]
    assert sampler.batches == [[1, 11, 21], [2, 12, 22], [3, 23], [24]]


def test_without_announcements_it_does_depend_on_timing() -> None:
    """The control: the same requests from episodes that nobody knows of."""

    async def run(sampler: Recorder, delays: Sequence[float]) -> None:
        async def late(seed: int, delay: float) -> None:
            await asyncio.sleep(delay)
            await sampler.sample(request(seed))

        await asyncio.gather(*(late(seed, delay) for seed, delay in enumerate(delays)))

    together, apart = Recorder(), Recorder()
    asyncio.run(run(together, [0, 0]))
    asyncio.run(run(apart, [0, 0.02]))
    assert (together.batches, apart.batches) == ([[0, 1]], [[0], [1]])


@pytest.mark.parametrize(("leaver", "waiter"), [(1, 11), (11, 1)])
def test_an_episode_that_takes_over_a_place_joins_the_next_batch(leaver: int, waiter: int) -> None:
    """Whether the finished episode leaves before or after the other one asks: they wake in the order of the seeds."""
    sampler = Recorder()

    async def no_pause() -> None:
        pass

    async def run() -> None:
        places = asyncio.Semaphore(2)

        async def seated(seeds: Sequence[int]) -> None:
            async with places:
                await episode(sampler, seeds, no_pause)

        await asyncio.gather(*map(seated, ([leaver], [waiter, 12], [21])))

    asyncio.run(run())
    assert sampler.batches == [[1, 11], [12, 21]]


def test_an_episode_that_leaves_wakes_the_others() -> None:
    sampler = Recorder()

    async def leave_late() -> None:
        with sampler.episode():
            await asyncio.sleep(0.01)

    async def no_pause() -> None:
        pass

    async def run() -> None:
        await asyncio.wait_for(asyncio.gather(leave_late(), episode(sampler, [1], no_pause)), timeout=30)

    asyncio.run(run())
    assert sampler.batches == [[1]]


def test_a_failure_reaches_everyone_who_waits_and_the_next_batch_is_served() -> None:
    sampler = Recorder()
    sampler.failure = ZeroDivisionError("in the model")

    async def no_pause() -> None:
        pass

    async def run() -> list[list[int] | BaseException]:
        lines = (episode(sampler, [seed], no_pause) for seed in range(3))
        return await asyncio.gather(*lines, return_exceptions=True)

    errors = asyncio.run(run())
    assert all(isinstance(error, SamplerError) and "in the model" in str(error) for error in errors)
    assert len({id(error) for error in errors}) == 3, "each with a traceback of its own"
    assert all(isinstance(error.__cause__, ZeroDivisionError) for error in errors if isinstance(error, SamplerError))
    sampler.failure = None
    assert asyncio.run(run()) == [[0], [1], [2]]


def test_a_request_that_cannot_be_served_fails_alone() -> None:
    sampler = Recorder()

    async def run() -> list[Sequence[Completion] | BaseException]:
        asked = [sampler.sample(request(1)), sampler.sample(request(2, policy="unknown"))]
        return await asyncio.gather(*asked, return_exceptions=True)

    good, bad = asyncio.run(run())
    assert isinstance(bad, SamplerError)
    assert not isinstance(good, BaseException)
    assert sampler.batches == [[1]]


def test_several_event_loops_one_after_another_and_in_a_thread() -> None:
    """UC-148: nothing stays bound to a loop, not even to one that died with episodes in flight."""
    sampler = Recorder()

    async def no_pause() -> None:
        pass

    def play() -> None:
        asyncio.run(episode(sampler, [1, 2], no_pause))

    async def die() -> None:
        with sampler.episode():
            waiting = asyncio.ensure_future(asyncio.sleep(30))
            waiting.cancel()
            await waiting

    play()
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(die())
    play()
    thread = threading.Thread(target=play)
    thread.start()
    thread.join(timeout=30)
    assert sampler.batches == [[1], [2]] * 3


def test_a_cancelled_request_is_forgotten() -> None:
    sampler = Recorder()

    async def run() -> None:
        with sampler.episode():
            async with asyncio.timeout(30):
                other = asyncio.create_task(sampler.sample(request(1)))
                other.cancel()
                await sampler.sample(request(2))

    asyncio.run(run())
    assert sampler.batches == [[2]]


def test_announcing_an_episode_inside_itself_changes_nothing() -> None:
    """A runner and a player may both announce it; if it counted twice, it would wait for itself for ever."""
    sampler = Recorder()

    async def run() -> None:
        async with asyncio.timeout(30):
            with sampler.episode(), sampler.episode():
                await sampler.sample(request(1))

    asyncio.run(run())
    assert sampler.batches == [[1]]


def test_waiting_for_the_event_loop_to_settle_is_what_fills_the_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control for episodes that take over a place: without it, the first to ask is served alone."""
    monkeypatch.setattr(batching, "SETTLE_TURNS", 0)
    with pytest.raises(AssertionError):
        test_an_episode_that_takes_over_a_place_joins_the_next_batch(11, 1)

"""What may pass is tried again, as often and as late as it should be; nothing else is."""

import asyncio
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs_bench.agents.errors import AgentError
from llm_envs_bench.agents.retries import FIRST_WAIT_S, LONGEST_WAIT_S, Patience, ask, wait_before
from llm_envs_bench.attempts import CALLS_AGAIN, Event


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited, without waiting."""
    found: list[float] = []

    async def sleep(seconds: float) -> None:
        found.append(seconds)

    monkeypatch.setattr("llm_envs_bench.agents.retries.asyncio.sleep", sleep)
    return found


class Flaky:
    """Fails so many times, then answers."""

    def __init__(self, event: Event, failures: int, retry_after: float | None = None) -> None:
        self.event, self.failures, self.retry_after, self.asked = event, failures, retry_after, 0

    async def __call__(self) -> str:
        self.asked += 1
        if self.asked <= self.failures:
            raise AgentError(self.event, "no", self.retry_after)
        return "yes"


@pytest.mark.parametrize("event", Event)
def test_only_what_may_pass_is_tried_again(event: Event, waits: list[float]) -> None:
    events: Counter[str] = Counter()
    request = Flaky(event, failures=2)
    if event in CALLS_AGAIN:
        assert asyncio.run(ask(request, Patience(retries=2), events)) == "yes"
        assert (request.asked, len(waits), events) == (3, 2, {event: 2})
    else:
        with pytest.raises(AgentError):
            asyncio.run(ask(request, Patience(retries=2), events))
        assert (request.asked, waits, events) == (1, [], {event: 1})


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_the_last_try_is_the_last(retries: int, waits: list[float]) -> None:
    request = Flaky(Event.SERVER_ERROR, failures=99)
    with pytest.raises(AgentError):
        asyncio.run(ask(request, Patience(retries=retries), Counter()))
    assert request.asked == retries + 1
    assert len(waits) == retries


def test_an_endpoint_that_says_when_is_asked_then(waits: list[float]) -> None:
    asyncio.run(ask(Flaky(Event.RATE_LIMITED, failures=1, retry_after=7.0), Patience(), Counter()))
    assert waits == [7.0]


@given(st.integers(0, 100), st.none() | st.floats(0, 1e9))
def test_waits_grow_to_a_bound(retry: int, retry_after: float | None) -> None:
    wait = wait_before(retry, retry_after)
    assert 0 <= wait <= LONGEST_WAIT_S
    if retry_after is None:
        assert wait >= min(FIRST_WAIT_S * 2**retry, LONGEST_WAIT_S) / 2

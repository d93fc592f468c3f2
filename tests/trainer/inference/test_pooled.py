"""One sampler in front of several."""

import asyncio
from collections.abc import Callable, Sequence

import pytest

from at_grpo.inference.base import Completion, FinishReason, SampleRequest, SamplerError, SamplingParams
from at_grpo.inference.pooled import Completions, Part, PooledSampler, RoutedSampler
from at_grpo.inference.scripted import ScriptedSampler
from tests.trainer.rollouts.test_tree import encoder


def request(policy: str, token: int = 5) -> SampleRequest:
    return SampleRequest(policy, (token,), 2, 0, SamplingParams())


class Elsewhere:
    """Another process: it notes when it is asked and when its answer is waited for."""

    def __init__(self, name: str, events: list[str]) -> None:
        self._name, self._events = name, events
        self.batches: list[list[tuple[int, ...]]] = []

    def begin(self, requests: Sequence[SampleRequest]) -> Callable[[], Completions]:
        self._events.append(f"{self._name} begins")
        self.batches.append([one.prompt_ids for one in requests])

        def end() -> Completions:
            self._events.append(f"{self._name} ends")
            return [[Completion(one.prompt_ids, (-0.5,), FinishReason.STOP, version=7)] * one.n for one in requests]

        return end


def test_all_parts_have_begun_before_any_is_waited_for_and_each_gets_its_own_requests() -> None:
    events: list[str] = []
    first, second = Elsewhere("first", events), Elsewhere("second", events)
    sampler = PooledSampler({"a": Part(first.begin), "c": Part(second.begin), "b": Part(first.begin)})
    found = sampler.generate([request("a", 1), request("c", 2), request("b", 3), request("c", 4)])
    assert [completions[0].token_ids for completions in found] == [(1,), (2,), (3,), (4,)]
    assert first.batches + second.batches != [], "they were asked"
    last_beginning = max(number for number, event in enumerate(events) if event.endswith("begins"))
    assert last_beginning < min(number for number, event in enumerate(events) if event.endswith("ends"))


def test_policies_of_one_part_share_its_batch() -> None:
    one = Elsewhere("one", [])
    part = Part(one.begin)
    PooledSampler({"a": part, "b": part}).generate([request("a", 1), request("b", 2)])
    assert one.batches == [[(1,), (2,)]]


def test_episodes_on_two_base_models_do_not_wait_for_one_another() -> None:
    """Samplers that batch by themselves would: each until every episode asks it (the control)."""

    def answer(policy: str, prompt: str, sibling: int) -> str:
        return "1"

    apart = {name: ScriptedSampler(answer, encoder()) for name in ("a", "b")}
    together = PooledSampler({name: Part(lambda r, s=s: lambda: s.generate(r)) for name, s in apart.items()})

    async def play(sampler: PooledSampler | RoutedSampler, policy: str) -> int:
        with sampler.episode():
            return len(await sampler.sample(request(policy)))

    async def both(sampler: PooledSampler | RoutedSampler) -> list[int]:
        return await asyncio.wait_for(asyncio.gather(play(sampler, "a"), play(sampler, "b")), 5)

    assert asyncio.run(both(together)) == [2, 2]
    with pytest.raises(TimeoutError):
        asyncio.run(both(RoutedSampler(apart)))


@pytest.mark.parametrize("sampler", [PooledSampler({"a": Part(Elsewhere("x", []).begin)}), RoutedSampler({})])
def test_an_unknown_policy_is_an_error(sampler: PooledSampler | RoutedSampler) -> None:
    with pytest.raises(SamplerError, match="policy='b': not served here"):
        asyncio.run(sampler.sample(request("b")))


def test_what_a_part_refuses_does_not_join_a_batch() -> None:
    def refuse(one: SampleRequest) -> None:
        raise SamplerError("too long")

    other = Elsewhere("other", [])
    with pytest.raises(SamplerError, match="too long"):
        asyncio.run(PooledSampler({"a": Part(other.begin, refuse)}).sample(request("a")))
    assert other.batches == []

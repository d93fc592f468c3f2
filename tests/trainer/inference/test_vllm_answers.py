"""What becomes of answers that a server should not give: an error that says so, never a sample.

The real server is in `test_vllm_server`; here a server of ours says what a broken one might.
"""

import asyncio
from collections import Counter
from typing import Any

import pytest
from aiohttp import web

from at_grpo.inference.base import FinishReason, SampleRequest, SamplerError, SamplingParams
from at_grpo.inference.endpoint import Endpoint
from at_grpo.inference.plan import served_name
from at_grpo.inference.vllm import VLLMSampler
from tests.trainer.inference.http_server import serving

REQUEST = SampleRequest("tool", (5, 6, 7), 2, 11, SamplingParams(temperature=0.7, max_tokens=9, stop=("</a>",)))


def choice(index: int, **changes: Any) -> dict[str, Any]:
    fields = {"index": index, "token_ids": [3, 2], "logprobs": {"token_logprobs": [-0.5, -1]}, "finish_reason": "stop"}
    return {**fields, **changes}


def answer(**changes: Any) -> dict[str, Any]:
    return {"model": "tool-v4", "choices": [choice(1, token_ids=[8, 9]), choice(0)], **changes}


def ask(said: Any, endpoints: int = 1) -> tuple[Any, list[dict[str, Any]]]:
    """The completions of `REQUEST` where the server says this, and what it was asked."""
    asked: list[dict[str, Any]] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        asked.append(await request.json())
        return web.json_response(said)

    with serving(handle) as url:
        sampler = VLLMSampler([Endpoint(url)] * endpoints, {"tool": 4}, stop_token_ids={2, 0})
        return asyncio.run(sampler.sample(REQUEST)), asked


def test_siblings_come_in_their_order_with_ids_log_probabilities_and_the_version() -> None:
    completions, asked = ask(answer())
    assert [completion.token_ids for completion in completions] == [(3, 2), (8, 9)]
    assert completions[0].logprobs == (-0.5, -1.0)
    assert {completion.version for completion in completions} == {4}
    assert {completion.finish_reason for completion in completions} == {FinishReason.STOP}
    (body,) = asked
    assert (body["model"], body["prompt"], body["n"], body["seed"]) == (served_name("tool", 4), [5, 6, 7], 2, 11)
    assert (body["temperature"], body["max_tokens"], body["stop"], body["stop_token_ids"]) == (0.7, 9, ["</a>"], [0, 2])


def test_the_whole_distribution_is_asked_for() -> None:
    """UC-137: what a model recommends in its generation_config.json must not cut the distribution."""
    _, (body,) = ask(answer())
    assert (body["top_p"], body["top_k"], body["min_p"], body["repetition_penalty"]) == (1.0, 0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (answer(model="base"), "asked 'tool-v4', answered by 'base'"),
        (answer(model="tool-v3"), "answered by 'tool-v3'"),
        (answer(choices=[choice(0)]), "1 completions for n=2"),
        (answer(choices=[choice(0), choice(1, token_ids=[])]), "0 tokens"),
        (answer(choices=[choice(0), choice(1, token_ids=[3])]), "1 tokens with 2 log-probabilities"),
        (answer(choices=[choice(0), choice(1, logprobs=None)]), "Expected `object`, got `null`"),
        (answer(choices=[choice(0), choice(1, logprobs={"token_logprobs": [-0.5, None]})]), "got `null`"),
        (answer(choices=[choice(0), choice(1, token_ids=[3, "2"])]), "Expected `int`, got `str`"),
        (answer(choices=[choice(0), choice(1, finish_reason="abort")]), "'abort'"),
        ({"choices": []}, "missing required field `model`"),
        ([], "Expected `object`, got `array`"),
        ("fine", "Expected `object`, got `str`"),
    ],
)
def test_an_answer_that_can_not_be_trained_on_is_an_error(said: Any, words: str) -> None:
    """UC-163: never the base model's text, nor another version's, in the training data."""
    with pytest.raises(SamplerError, match=words):
        ask(said)


def test_an_unknown_policy_is_refused_before_anything_is_sent() -> None:
    sampler = VLLMSampler([Endpoint("http://127.0.0.1:9")], {"tool": 4}, stop_token_ids={2})
    with pytest.raises(SamplerError, match="policy='planner': not served here; must be one of tool"):
        asyncio.run(sampler.sample(SampleRequest("planner", (1,), 1, 0, SamplingParams())))


def test_requests_go_where_the_fewest_tokens_are_outstanding() -> None:
    seen = Counter[str]()

    async def handle(request: web.Request) -> web.StreamResponse:
        seen[request.host] += 1
        await asyncio.sleep(0.05)
        return web.json_response(answer())

    async def many(sampler: VLLMSampler) -> None:
        await asyncio.gather(*(sampler.sample(REQUEST) for _ in range(10)))

    with serving(handle) as one, serving(handle) as other:
        endpoints = [Endpoint(one), Endpoint(other)]
        asyncio.run(many(VLLMSampler(endpoints, {"tool": 4}, stop_token_ids={2})))
        assert [endpoint.outstanding for endpoint in endpoints] == [0, 0]
    assert sorted(seen.values()) == [5, 5]

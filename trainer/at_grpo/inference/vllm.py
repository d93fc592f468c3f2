"""Generation by vLLM servers: token ids in, token ids and log-probabilities out, each by a named version of a policy.

A version is served under a name of its own, `<policy>-v<version>-<run>`, and every answer echoes it. A name that a
server does not know is an error there, never an answer of the base model.
"""

import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import msgspec

from at_grpo.inference.base import Completion, FinishReason, SampleRequest, SamplerError
from at_grpo.inference.endpoint import Endpoint
from at_grpo.inference.plan import served_name

_COUNTING = threading.Lock()  # probes ask from one thread while rollouts do from another


class VLLMSampler:
    """A `Sampler` in front of one or more vLLM servers that serve the same versions.

    Attributes:
        versions: policy -> version that requests go to; whoever publishes keeps it.
    """

    def __init__(
        self,
        endpoints: Sequence[Endpoint],
        versions: Mapping[str, int],
        *,
        stop_token_ids: Collection[int],
        run: str = "",
    ) -> None:
        """Sample from servers.

        Args:
            endpoints: the servers, all alike.
            versions: policy -> version.
            stop_token_ids: ids that end a reply, see `tokenization.stop_token_ids`.
            run: part of the names, see `served_name`.
        """
        self.versions = versions
        self._run = run
        self._endpoints = tuple(endpoints)
        self._stop_token_ids = sorted(stop_token_ids)

    def episode(self) -> Any:
        """See `Sampler.episode`: servers batch by themselves."""
        return nullcontext()

    async def sample(self, request: SampleRequest) -> Sequence[Completion]:
        """See `Sampler.sample`."""
        if request.policy not in self.versions:
            names = ", ".join(sorted(self.versions))
            raise SamplerError(f"policy={request.policy!r}: not served here; must be one of {names}")
        version = self.versions[request.policy]
        return await self.sample_as(served_name(request.policy, version, self._run), version, request)

    async def sample_as(self, name: str, version: int, request: SampleRequest) -> list[Completion]:
        """The completions of `request` by whatever the servers call `name`, stamped with `version`."""
        with self._routed(request) as endpoint:
            body = await endpoint.post_for_bytes("/v1/completions", self._body(name, request))
        try:
            return _completions(body, name, version, request)
        except ValueError as error:
            raise SamplerError(
                f"{endpoint.url}: its answer can't be used ({type(error).__name__}: {error}); needs vLLM with "
                "return_token_ids and logprobs, as `at-grpo serve` starts it. It said "
                f"{body[:300].decode(errors='replace')}"
            ) from error

    @contextmanager
    def _routed(self, request: SampleRequest) -> Iterator[Endpoint]:
        """The endpoint with the fewest outstanding tokens, which counts the request's while it is out."""
        tokens = len(request.prompt_ids) + request.n * request.params.max_tokens
        with _COUNTING:
            endpoint = min(self._endpoints, key=lambda one: one.outstanding)
            endpoint.outstanding += tokens
        try:
            yield endpoint
        finally:
            with _COUNTING:
                endpoint.outstanding -= tokens

    def _body(self, name: str, request: SampleRequest) -> dict[str, Any]:
        params = request.params
        return {
            "model": name,
            "prompt": request.prompt_ids,
            "n": request.n,
            "seed": request.seed,
            "max_tokens": params.max_tokens,
            "temperature": params.temperature,
            # the whole distribution, whatever the model's generation_config.json recommends: the loss knows no other
            "top_p": 1.0,
            "top_k": 0,
            "min_p": 0.0,
            "repetition_penalty": 1.0,
            "stop": params.stop,
            "include_stop_str_in_output": True,
            "stop_token_ids": self._stop_token_ids,
            "logprobs": 0,
            "return_token_ids": True,
        }


@dataclass(frozen=True, slots=True)
class _Logprobs:
    token_logprobs: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class _Choice:
    index: int
    token_ids: tuple[int, ...]
    logprobs: _Logprobs
    finish_reason: FinishReason


@dataclass(frozen=True, slots=True)
class _Answer:
    """What is read of an answer. It says each token four times over; the rest is skipped without becoming objects."""

    model: str
    choices: list[_Choice]


_decode = msgspec.json.Decoder(_Answer).decode


def _completions(body: bytes, name: str, version: int, request: SampleRequest) -> list[Completion]:
    answer = _decode(body)
    if answer.model != name:
        raise ValueError(f"asked {name!r}, answered by {answer.model!r}")
    choices = sorted(answer.choices, key=attrgetter("index"))
    if len(choices) != request.n:
        raise ValueError(f"{len(choices)} completions for n={request.n}")
    return [_completion(choice, version) for choice in choices]


def _completion(choice: _Choice, version: int) -> Completion:
    token_ids, logprobs = choice.token_ids, choice.logprobs.token_logprobs
    if not token_ids or len(token_ids) != len(logprobs):
        raise ValueError(f"{len(token_ids)} tokens with {len(logprobs)} log-probabilities")
    return Completion(token_ids, logprobs, choice.finish_reason, version)

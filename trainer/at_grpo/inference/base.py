"""The seam between rollouts and whatever generates: token ids in, token ids and log-probabilities out.

Nothing is decoded and encoded again between a sampler and the loss, so the tokens that are trained on are the tokens
that were sampled.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol


class FinishReason(StrEnum):
    """Why a completion ended: its own stop token or stop string, or the token limit."""

    STOP = "stop"
    LENGTH = "length"


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How a role's replies are drawn.

    Attributes:
        temperature: the logits are divided by it, here and in the loss; 0 is greedy and for evaluation only.
        max_tokens: most tokens of one reply, its stop token included.
        stop: strings that end a reply; the tokens up to the end of the string are kept.
    """

    temperature: float = 1.0
    max_tokens: int = 256
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SampleRequest:
    """`n` independent completions of one prompt by one policy.

    Attributes:
        policy: name of the policy (adapter) that must answer; an unknown one is an error, never the base model.
        prompt_ids: the prompt's token ids, as they will be trained on.
        n: number of siblings.
        seed: the siblings' draws depend on (seed, sibling) and nothing else.
        params: the role's sampling parameters.
    """

    policy: str
    prompt_ids: tuple[int, ...]
    n: int
    seed: int
    params: SamplingParams


@dataclass(frozen=True, slots=True)
class Completion:
    """One sampled reply.

    Attributes:
        token_ids: sampled ids, the stop token included where one was sampled.
        logprobs: log-probability of each id under the distribution that it was drawn from (temperature applied),
            natural log; for greedy replies, under the model's own distribution (temperature 1).
        finish_reason: why it ended.
        version: version of the policy that sampled it.
    """

    token_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    finish_reason: FinishReason
    version: int


class SamplerError(RuntimeError):
    """The sampler failed or does not serve the policy asked for. Never to be turned into a sample."""


class Sampler(Protocol):
    """Generates for named policies. Calls may come from one event loop after another."""

    def episode(self) -> AbstractContextManager[None]:
        """Announce an episode for as long as the context is open, in the task that plays it.

        A sampler that batches in process generates when every announced episode waits in `sample`, so that what
        shares a batch does not depend on timing. A sampler in front of a server has nothing to do here.
        """
        ...

    async def sample(self, request: SampleRequest) -> Sequence[Completion]:
        """`request.n` completions, in the order of the siblings. Raises `SamplerError`."""
        ...


class PolicyWeights(Protocol):
    """Policies on one base model, with the weights of the last step that was taken."""

    @property
    def policies(self) -> tuple[str, ...]:
        """Their names."""
        ...

    def save(self, policy: str, folder: Path) -> None:
        """Write a policy's adapter as PEFT and vLLM load it; the folder is there when it is whole."""
        ...

    def scores(self, policy: str | None, prompt_ids: Sequence[int], token_ids: Sequence[int]) -> list[float]:
        """Log-probabilities of a reply's tokens after a prompt, at temperature 1; None for the base model's own."""
        ...

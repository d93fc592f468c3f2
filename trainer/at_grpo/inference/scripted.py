"""A sampler that replies what a function says: for tests of everything around the model."""

import random
from collections.abc import Callable, Mapping, Sequence

from at_grpo.inference.base import Completion, FinishReason, SampleRequest, SamplerError
from at_grpo.inference.batching import BatchingSampler
from at_grpo.seeds import derive_seed
from at_grpo.tokenization import PromptEncoder

Script = Callable[[str, str, int], str]


class ScriptedSampler(BatchingSampler):
    """Replies by a script (policy, prompt as text, sibling) -> reply, as tokens that end with the end token.

    A reply longer than the role's limit is cut, as a model's would be. Log-probabilities are made up: between -2 and
    0, by the request's seed and the sibling. Stop strings are not looked for: a script ends where it wants.

    Attributes:
        served: every request so far, in the order in which they were answered.
    """

    def __init__(self, script: Script, encoder: PromptEncoder, versions: Mapping[str, int] | None = None) -> None:
        """Serve a script.

        Args:
            script: gives the reply.
            encoder: turns prompts into text and replies into ids.
            versions: policy -> version, for those that are served; without it every policy is, with version 0.
        """
        super().__init__()
        self.served: list[SampleRequest] = []
        self._script = script
        self._encoder = encoder
        self._versions = versions

    def check(self, request: SampleRequest) -> None:
        """See `BatchingSampler.check`."""
        if self._versions is not None and request.policy not in self._versions:
            names = ", ".join(sorted(self._versions))
            raise SamplerError(f"policy={request.policy!r}: not served here; must be one of {names}")

    def generate(self, requests: Sequence[SampleRequest]) -> list[list[Completion]]:
        """See `BatchingSampler.generate`."""
        self.served.extend(requests)
        return [[self._reply(request, sibling) for sibling in range(request.n)] for request in requests]

    def _reply(self, request: SampleRequest, sibling: int) -> Completion:
        prompt = self._encoder.tokenizer.decode(list(request.prompt_ids))
        ids = self._encoder.encode_reply(self._script(request.policy, prompt, sibling))
        kept = ids[: request.params.max_tokens]
        rng = random.Random(derive_seed(request.seed, sibling))
        return Completion(
            token_ids=kept,
            logprobs=tuple(-2 * rng.random() for _ in kept),
            finish_reason=FinishReason.STOP if len(kept) == len(ids) else FinishReason.LENGTH,
            version=self._versions[request.policy] if self._versions is not None else 0,
        )

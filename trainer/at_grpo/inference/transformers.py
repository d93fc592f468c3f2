"""Generation in this process with transformers: for machines where a server is more than the model is worth.

Siblings that have said the same so far are one row of the batch: the prompt is read once for all of them, a row
splits where they part, and a row whose siblings are done leaves. A sibling's draws depend on its own seed only.
"""

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import torch
from peft import PeftModel
from torch.nn.utils.rnn import pad_sequence
from transformers import PreTrainedModel

from at_grpo.inference.base import Completion, FinishReason, SampleRequest, SamplerError, SamplingParams
from at_grpo.inference.batching import BatchingSampler
from at_grpo.inference.merged import MergedPolicies, can_merge
from at_grpo.policies import policies_of
from at_grpo.seeds import derive_seed

MERGE_BELOW = 20_000_000  # parameters; above, products outweigh the overhead that folding saves, and copies cost memory
Decode = Callable[[Sequence[int]], str]


class TransformersSampler(BatchingSampler):
    """A `Sampler` over a PEFT model with one named adapter a policy, or a model that is one policy.

    The model may be the one that is trained: it is left as it was found. Log-probabilities are those of a plain
    forward pass within float noise (1e-5 in float32).

    Attributes:
        versions: policy -> version that its completions carry; whoever updates the weights keeps it.
    """

    def __init__(
        self,
        model: PeftModel | PreTrainedModel,
        *,
        stop_token_ids: Collection[int],
        pad_id: int,
        policies: Iterable[str] = (),
        versions: Mapping[str, int] | None = None,
        decode: Decode | None = None,
        max_rows: int = 256,
        merge: bool | None = None,
    ) -> None:
        """Serve the policies of a model.

        Args:
            model: a causal language model, with adapters or without.
            stop_token_ids: ids that end a reply, see `tokenization.stop_token_ids`.
            pad_id: fills the left of shorter prompts; any id does.
            policies: name of the one policy that a model without adapters is.
            versions: policy -> version; without it every policy of the model has version 0.
            decode: ids to text, needed where a role has stop strings.
            max_rows: most siblings in one batch.
            merge: generate with copies of the base that have the adapters folded in (see `merged`); by default where
                that is possible and the base is small.
        """
        super().__init__()
        self._policies = policies_of(model, policies)
        self.versions: Mapping[str, int] = dict.fromkeys(self._policies.names, 0) if versions is None else versions
        self._model: Any = model
        self._stop = frozenset(stop_token_ids)
        self._pad_id = pad_id
        self._decode = decode
        self._max_rows = max_rows
        if merge is None:
            merge = model.num_parameters() < MERGE_BELOW and can_merge(model)
        self._merged = MergedPolicies(cast("PeftModel", model)) if merge else None

    def check(self, request: SampleRequest) -> None:
        """See `BatchingSampler.check`."""
        if request.policy not in self._policies.names:
            names = ", ".join(sorted(self._policies.names))
            raise SamplerError(f"policy={request.policy!r}: not served here; must be one of {names}")
        params = request.params
        sizes = {"n": request.n, "prompt tokens": len(request.prompt_ids), "max_tokens": params.max_tokens}
        if min(sizes.values()) < 1 or params.temperature < 0:
            raise SamplerError(f"temperature={params.temperature}: must be >= 0; {sizes}: must be at least 1 each")
        if params.stop and self._decode is None:
            raise SamplerError(f"stop={params.stop}: stop strings need a sampler that was given decode=")
        context = getattr(self._model.config, "max_position_embeddings", None)
        longest = len(request.prompt_ids) + params.max_tokens
        if context is not None and longest > context:
            raise SamplerError(
                f"{len(request.prompt_ids)} prompt tokens + max_tokens={params.max_tokens}: more than the model's "
                f"{context} positions; lower rollout.max_prompt_tokens or the role's max_tokens."
            )

    def generate(self, requests: Sequence[SampleRequest]) -> list[list[Completion]]:
        """See `BatchingSampler.generate`."""
        siblings = [[_Sibling.start(request, number) for number in range(request.n)] for request in requests]
        for policy in sorted({request.policy for request in requests}):
            own = [sibling for group in siblings for sibling in group if sibling.request.policy == policy]
            with self._serving(policy) as model:
                for start in range(0, len(own), self._max_rows):
                    self._run(model, own[start : start + self._max_rows])
        return [[sibling.completion(self.versions[sibling.request.policy]) for sibling in group] for group in siblings]

    @contextmanager
    def _serving(self, policy: str) -> Iterator[Any]:
        """The policy as a model to call."""
        if self._merged is None:
            with self._policies.generating(policy):
                yield self._model
        else:
            with torch.no_grad():
                yield self._merged.model(policy)

    def _run(self, model: Any, siblings: Sequence["_Sibling"]) -> None:
        """Generate for siblings of one policy until all are done."""
        batch = _Batch(model, siblings, self._pad_id)
        active = list(siblings)
        while active:
            ids, logprobs = _draw(batch.logits_R_V, active)
            for sibling, token_id, logprob in zip(active, ids, logprobs, strict=True):
                sibling.append(token_id, logprob)
                sibling.finish_reason = self._finish_reason(sibling)
            active = [sibling for sibling in active if sibling.finish_reason is None]
            if active:
                batch.advance(active)

    def _finish_reason(self, sibling: "_Sibling") -> FinishReason | None:
        params = sibling.params
        if sibling.token_ids[-1] in self._stop:
            return FinishReason.STOP
        if params.stop and self._decode is not None:
            # A token holds at least one byte, so no stop string reaches further back; the margin is for tokenizers
            # that treat the start of a text in a way of their own.
            reach = max(len(stop.encode()) for stop in params.stop) + 4
            text = self._decode(sibling.token_ids[-reach:])
            if any(stop in text for stop in params.stop):
                return FinishReason.STOP
        return FinishReason.LENGTH if len(sibling.token_ids) == params.max_tokens else None


@dataclass(slots=True, eq=False)
class _Sibling:
    """One completion in the making. `row` is the row of the batch that its next token is drawn from."""

    request: SampleRequest
    rng: random.Random
    row: int = 0
    token_ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    finish_reason: FinishReason | None = None

    @classmethod
    def start(cls, request: SampleRequest, number: int) -> "_Sibling":
        return cls(request, random.Random(derive_seed(request.seed, number)))

    @property
    def params(self) -> SamplingParams:
        return self.request.params

    def append(self, token_id: int, logprob: float) -> None:
        self.token_ids.append(token_id)
        self.logprobs.append(logprob)

    def completion(self, version: int) -> Completion:
        reason = self.finish_reason or FinishReason.LENGTH
        return Completion(tuple(self.token_ids), tuple(self.logprobs), reason, version)


class _Batch:
    """The distinct continuations of a batch, with their keys and values.

    Attributes:
        logits_R_V: what the model says comes next, a row for each distinct (prompt, tokens so far).
    """

    def __init__(self, model: Any, siblings: Sequence[_Sibling], pad_id: int) -> None:
        """Read each distinct prompt once, padded left."""
        self._model = model
        prompts = list(dict.fromkeys(sibling.request.prompt_ids for sibling in siblings))
        rows = {prompt: row for row, prompt in enumerate(prompts)}
        for sibling in siblings:
            sibling.row = rows[sibling.request.prompt_ids]
        device = model.device
        ids_R_P = pad_sequence(
            [torch.tensor(prompt) for prompt in prompts], batch_first=True, padding_value=pad_id, padding_side="left"
        ).to(device)
        self._lengths_R = torch.tensor([len(prompt) for prompt in prompts], device=device)
        columns_P = torch.arange(ids_R_P.shape[1], device=device)
        pads_R_1 = (ids_R_P.shape[1] - self._lengths_R)[:, None]
        self._mask_R_T = (columns_P >= pads_R_1).long()
        self._forward(ids_R_P, (columns_P - pads_R_1).clamp(min=0), cache=None)

    def advance(self, active: Sequence[_Sibling]) -> None:
        """Read the last token of every active sibling, once for those that share a row and agree on it."""
        places: dict[tuple[int, int], int] = {}
        for sibling in active:
            sibling.row = places.setdefault((sibling.row, sibling.token_ids[-1]), len(places))
        parents = [row for row, _ in places]
        if parents != list(range(len(self._lengths_R))):
            parents_R = torch.tensor(parents, device=self._lengths_R.device)
            self._cache.reorder_cache(parents_R)
            self._mask_R_T = self._mask_R_T[parents_R]
            self._lengths_R = self._lengths_R[parents_R]
        ids_R_1 = torch.tensor([[token_id] for _, token_id in places], device=self._lengths_R.device)
        self._mask_R_T = torch.nn.functional.pad(self._mask_R_T, (0, 1), value=1)
        positions_R_1 = self._lengths_R[:, None]
        self._lengths_R = self._lengths_R + 1
        self._forward(ids_R_1, positions_R_1, self._cache)

    def _forward(self, ids_R_T: torch.Tensor, positions_R_T: torch.Tensor, cache: Any) -> None:
        output = self._model(
            input_ids=ids_R_T,
            attention_mask=self._mask_R_T,
            position_ids=positions_R_T,
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=1,
        )
        self.logits_R_V: torch.Tensor = output.logits[:, -1]
        self._cache = output.past_key_values


def _draw(logits_R_V: torch.Tensor, siblings: Sequence[_Sibling]) -> tuple[list[int], list[float]]:
    """The next token of each sibling and its log-probability: the distribution function, inverted at the sibling's
    own draw.
    """
    device = logits_R_V.device
    temperatures = [sibling.params.temperature for sibling in siblings]
    scale_S = torch.tensor([temperature or 1.0 for temperature in temperatures], device=device)
    logits_S_V = logits_R_V[torch.tensor([sibling.row for sibling in siblings], device=device)].float()
    logps_S_V = torch.log_softmax(logits_S_V / scale_S[:, None], dim=-1)
    cumulative_S_V = logps_S_V.double().exp().cumsum(dim=-1)  # float64: a rare token must keep its share at the far end
    draws_S = torch.tensor([sibling.rng.random() for sibling in siblings], dtype=torch.float64, device=device)
    targets_S_1 = (draws_S * cumulative_S_V[:, -1])[:, None]
    ids_S = torch.searchsorted(cumulative_S_V, targets_S_1, right=True)[:, 0].clamp(max=logits_S_V.shape[1] - 1)
    if 0 in temperatures:
        greedy_S = torch.tensor([temperature == 0 for temperature in temperatures], device=device)
        ids_S = torch.where(greedy_S, logits_S_V.argmax(dim=-1), ids_S)
    return ids_S.tolist(), logps_S_V.gather(1, ids_S[:, None])[:, 0].tolist()

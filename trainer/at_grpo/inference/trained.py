"""A pool's policies as they are trained, in this process or in another one, with what sampling for them takes."""

from collections.abc import Sequence
from dataclasses import dataclass

from peft import PeftModel
from transformers import PreTrainedModel

from at_grpo.inference.base import PolicyWeights
from at_grpo.inference.base_model import load_base
from at_grpo.inference.weights import LocalWeights
from at_grpo.policies import build_policies
from at_grpo.pools import Pool
from at_grpo.tokenization import PromptEncoder, stop_token_ids
from at_grpo.updates.remote import RemoteWorker


@dataclass(frozen=True, slots=True)
class LocalPool:
    """Policies that this process trains.

    Attributes:
        pool: which they are.
        model: holds them, see `policies.build_policies`.
        encoder: of the base's tokenizer.
        stop_token_ids: ids that end a reply.
    """

    pool: Pool
    model: PeftModel | PreTrainedModel
    encoder: PromptEncoder
    stop_token_ids: frozenset[int]

    @property
    def weights(self) -> PolicyWeights:
        """What is published."""
        return LocalWeights(self.model, self.pool.policies)


@dataclass(frozen=True, slots=True)
class RemotePool:
    """Policies that another process trains.

    Attributes:
        pool, encoder, stop_token_ids: as of a `LocalPool`.
        worker: trains them.
    """

    pool: Pool
    worker: RemoteWorker
    encoder: PromptEncoder
    stop_token_ids: frozenset[int]

    @property
    def weights(self) -> PolicyWeights:
        """What is published."""
        return self.worker


def load_pool(pool: Pool, dtype: str, seed: int) -> LocalPool:
    """The base model, and a fresh adapter on it for each policy that has one.

    Args:
        pool: its policies.
        dtype: of the base's weights.
        seed: of the adapters.

    Raises:
        UsageError: there is no such base model, or its tokenizer has no chat template.
    """
    base, tokenizer = load_base(pool.base, pool.dtype(dtype), pool.base_option)
    model = build_policies(base, pool.policies, seed=seed)
    encoder = PromptEncoder(tokenizer, pool.template)
    return LocalPool(pool, model, encoder, stop_token_ids(base.generation_config, tokenizer))


def encoders_of(pools: Sequence[LocalPool | RemotePool]) -> dict[str, PromptEncoder]:
    """Policy -> encoder of its base model's tokenizer."""
    return {policy: one.encoder for one in pools for policy in one.pool.policies}

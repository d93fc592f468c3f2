"""A policy as a player of whole episodes: for evaluation, benchmarks and a look at what was learned."""

from contextlib import AbstractContextManager
from typing import Any, Self

from at_grpo.inference.base import Sampler, SampleRequest, SamplingParams
from at_grpo.seeds import derive_seed
from at_grpo.tokenization import PromptEncoder
from llm_envs.players import instance_mark


class PolicyPlayer:
    """An llm_envs `Player` that answers with one sampled reply.

    Its draws depend on (seed, state, agent, cycle) only, and on the instance where instances begin alike, so that
    episodes repeat in any order and at any concurrency.
    Play many episodes at once, each inside `with player.episode()`, and their requests share batches.
    """

    def __init__(
        self,
        sampler: Sampler,
        encoder: PromptEncoder,
        policy: str,
        params: SamplingParams,
        seed: int,
        *,
        name: str = "",
    ) -> None:
        """Seat a policy.

        Args:
            sampler: serves the policy.
            encoder: of the policy's tokenizer.
            policy: name of the policy at the sampler.
            params: how replies are drawn.
            seed: of the draws.
            name: how records call the player; the policy's name without it.
        """
        self.name = name or policy
        self._sampler = sampler
        self._encoder = encoder
        self._policy = policy
        self._params = params
        self._seed = seed

    def reseeded(self, seed: int) -> Self:
        """The same policy with other draws."""
        return type(self)(self._sampler, self._encoder, self._policy, self._params, seed, name=self.name)

    def episode(self) -> AbstractContextManager[None]:
        """Announce an episode that this player takes part in, see `Sampler.episode`."""
        return self._sampler.episode()

    async def act(self, env: Any, agent: str, observation: str) -> str:
        """The reply to an observation; ids that are no text (the padding of a model's vocabulary) are left out of it.

        Raises:
            SamplerError: the sampler failed.
        """
        raw = env.unwrapped
        seed = derive_seed(self._seed, f"{instance_mark(raw)}{env.state()}", agent, int(raw.cycle))
        prompt_ids = self._encoder.encode(observation)
        (completion,) = await self._sampler.sample(SampleRequest(self._policy, prompt_ids, 1, seed, self._params))
        return self._encoder.decode(self._encoder.known(completion.token_ids))

import asyncio
from typing import Any

import pytest
from transformers import PreTrainedTokenizerFast

from at_grpo.inference.base import FinishReason, SampleRequest, SamplerError, SamplingParams
from at_grpo.inference.player import PolicyPlayer
from at_grpo.inference.scripted import ScriptedSampler
from at_grpo.tokenization import PromptEncoder
from llm_envs.episode import Episode
from llm_envs.play import aplay
from llm_envs.players import Player
from tests.trainer.toy_env import count_env


@pytest.fixture
def encoder(tiny_tokenizer: PreTrainedTokenizerFast) -> PromptEncoder:
    return PromptEncoder(tiny_tokenizer)


def say(policy: str, prompt: str, sibling: int) -> str:
    return "3" if policy == "tool" else str(9 - int(prompt.partition(" at ")[2].split()[0]))


def cast(sampler: ScriptedSampler, encoder: PromptEncoder, seed: int = 0) -> dict[str, PolicyPlayer]:
    return {role: PolicyPlayer(sampler, encoder, role, SamplingParams(), seed) for role in ("tool", "planner")}


async def play_many(players: dict[str, PolicyPlayer], count: int) -> list[Episode]:
    async def one(index: int) -> Episode:
        with players["tool"].episode():
            return await aplay(count_env(), players, index=index)

    return await asyncio.gather(*map(one, range(count)))


def test_a_policy_plays_whole_episodes(encoder: PromptEncoder) -> None:
    sampler = ScriptedSampler(say, encoder)
    players = cast(sampler, encoder)
    assert all(isinstance(player, Player) for player in players.values())
    episodes = asyncio.run(play_many(players, 3))
    assert [episode.success for episode in episodes] == [True] * 3
    assert [turn.reply for turn in episodes[0].turns] == ["3", "9"]
    assert episodes[0].players == {"tool": "tool", "planner": "planner"}


def test_the_model_reads_the_observation_as_its_own_chat(encoder: PromptEncoder) -> None:
    sampler = ScriptedSampler(say, encoder)
    (episode,) = asyncio.run(play_many(cast(sampler, encoder), 1))
    sent = [request.prompt_ids for request in sampler.served]
    assert sent == [encoder.encode(turn.observation) for turn in episode.turns]


def test_draws_depend_on_seed_state_agent_and_cycle_only(encoder: PromptEncoder) -> None:
    def seeds(count: int, seed: int = 0) -> list[int]:
        sampler = ScriptedSampler(lambda *_: "1", encoder)
        asyncio.run(play_many(cast(sampler, encoder, seed), count))
        return [request.seed for request in sampler.served]

    alone, among = seeds(1), seeds(4)
    assert set(alone) < set(among), "an episode's draws are the same in any company"
    assert len(set(among)) == len(among), "no two turns share a draw"
    assert not set(alone) & set(seeds(1, seed=1)), "negative control"


def test_ids_that_are_no_text_are_left_out_of_a_reply(encoder: PromptEncoder) -> None:
    """UC-133: in an evaluation, too, a padded vocabulary must not end the run."""

    class Padded(ScriptedSampler):
        def _reply(self, request: SampleRequest, sibling: int) -> Any:
            completion = super()._reply(request, sibling)
            return type(completion)(
                (151_900, *completion.token_ids), (0.0, *completion.logprobs), completion.finish_reason, 0
            )

    episodes = asyncio.run(play_many(cast(Padded(say, encoder), encoder), 1))
    assert [turn.reply for turn in episodes[0].turns] == ["3", "9"]


def test_a_scripted_reply_is_cut_at_the_limit_like_any_other(encoder: PromptEncoder) -> None:
    sampler = ScriptedSampler(lambda *_: "up right down", encoder)
    whole, cut = (
        sampler.generate([SampleRequest("tool", encoder.encode("x"), 2, 5, SamplingParams(max_tokens=limit))])[0]
        for limit in (256, 2)
    )
    assert encoder.decode(whole[0].token_ids) == "up right down"
    assert whole[0].finish_reason is FinishReason.STOP
    assert whole[0].token_ids[-1] == encoder.tokenizer.eos_token_id
    assert cut[0].token_ids == whole[0].token_ids[:2]
    assert cut[0].finish_reason is FinishReason.LENGTH
    assert whole[0].logprobs != whole[1].logprobs
    assert all(-2 <= logprob <= 0 for completion in whole for logprob in completion.logprobs)


def test_a_script_serves_the_policies_it_has_versions_for(encoder: PromptEncoder) -> None:
    sampler = ScriptedSampler(say, encoder, versions={"tool": 4})
    assert sampler.generate([SampleRequest("tool", (1,), 1, 0, SamplingParams())])[0][0].version == 4
    with pytest.raises(SamplerError, match="nobody"):
        asyncio.run(sampler.sample(SampleRequest("nobody", (1,), 1, 0, SamplingParams())))

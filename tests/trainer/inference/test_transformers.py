import asyncio
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from typing import Any

import pytest
import torch
from peft import PeftModel
from transformers import PreTrainedTokenizerFast, Qwen3ForCausalLM
from trl.trainer.utils import add_fused_lm_head

from at_grpo.config import PolicySection
from at_grpo.inference.base import Completion, FinishReason, SampleRequest, SamplerError, SamplingParams
from at_grpo.inference.transformers import TransformersSampler
from at_grpo.policies import build_policies, generating
from at_grpo.tokenization import PromptEncoder, UndecodableError
from tests.scale import scaled

TOLERANCE = 1e-5
POLICIES = {"tool": PolicySection(rank=4), "planner": PolicySection(rank=4)}
PROMPTS = ("tool at 3 4", "planner at 0 1 goal 5 5 blocked 0 0 0 1 tool up right down left", "up")
NEVER = frozenset({10**9})  # an end token that no model samples


@pytest.fixture(params=[True, False], ids=["merged", "adapters"])
def merge(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def model(tiny_model: Qwen3ForCausalLM) -> PeftModel:
    """Two adapters that differ from the base and from each other by far more than float noise."""
    with torch.no_grad():  # flatter than it is made, so that many tokens are likely; sharp enough to show every mistake
        for parameter in tiny_model.parameters():
            parameter.mul_(0.45 if parameter.dim() > 1 else 1.0)
    peft_model = build_policies(tiny_model, POLICIES, seed=0)
    torch.manual_seed(1)
    plant(peft_model, POLICIES, std=0.3)
    return peft_model


def plant(model: PeftModel, policies: Iterable[str], std: float) -> None:
    for name, parameter in model.named_parameters():
        if "lora_B" in name and any(f".{policy}." in name for policy in policies):
            parameter.data.normal_(std=std)


@pytest.fixture
def encoder(tiny_tokenizer: PreTrainedTokenizerFast) -> PromptEncoder:
    return PromptEncoder(tiny_tokenizer)


def asked(encoder: PromptEncoder, prompt: str, **changes: Any) -> SampleRequest:
    params = SamplingParams(
        temperature=changes.pop("temperature", 1.0),
        max_tokens=changes.pop("max_tokens", 8),
        stop=changes.pop("stop", ()),
    )
    fields: dict[str, Any] = {"policy": "tool", "n": 4, "seed": 11, "params": params} | changes
    return SampleRequest(prompt_ids=encoder.encode(prompt), **fields)


def plain_logprobs(model: PeftModel, request: SampleRequest, reply: Sequence[int], policy: str) -> torch.Tensor:
    """What one forward pass over prompt and reply says of each id of the reply, as the loss computes it."""
    with generating(model, policy):
        logits = model(input_ids=torch.tensor([[*request.prompt_ids, *reply]])).logits[0].float()
    steps = logits[len(request.prompt_ids) - 1 : -1] / (request.params.temperature or 1.0)
    return torch.log_softmax(steps, -1)[range(len(reply)), list(reply)]


def error(model: PeftModel, request: SampleRequest, completion: Completion, policy: str) -> float:
    ours = torch.tensor(completion.logprobs)
    return float((ours - plain_logprobs(model, request, completion.token_ids, policy)).abs().max())


def test_logprobs_are_those_of_a_plain_forward_pass(model: PeftModel, encoder: PromptEncoder, merge: bool) -> None:
    """Whatever shares a batch: prompts of different lengths, siblings with common keys and values, policies,
    temperatures.
    """
    sampler = TransformersSampler(model, stop_token_ids=NEVER, pad_id=0, merge=merge)
    requests = [
        asked(encoder, prompt, policy=policy, temperature=temperature, seed=seed)
        for seed, (prompt, policy, temperature) in enumerate(
            (prompt, policy, temperature)
            for prompt in PROMPTS
            for policy in POLICIES
            for temperature in (0.7, 1.0, 1.6)
        )
    ]
    other = {"tool": "planner", "planner": "tool"}
    for request, completions in zip(requests, sampler.generate(requests), strict=True):
        for completion in completions:
            assert error(model, request, completion, request.policy) < TOLERANCE
            assert error(model, request, completion, other[request.policy]) > 100 * TOLERANCE, "negative control"


def test_logprobs_follow_the_adapter_however_it_was_changed(model: PeftModel, encoder: PromptEncoder) -> None:
    """UC-154: an adapter that moved is an adapter that answers. Folded copies are compared by value: a stale one would
    answer for weights that are gone.
    """
    sampler = TransformersSampler(model, stop_token_ids=NEVER, pad_id=0, merge=True)
    request = asked(encoder, PROMPTS[0])
    (before,) = sampler.generate([request])
    plant(model, ["planner"], std=0.5)
    assert sampler.generate([request]) == [before], "the other policy's update changes nothing"
    for change in (lambda: plant(model, ["tool"], std=0.3), lambda: _negate(model, "tool")):
        stale = sampler.generate([request])[0][0]
        change()
        (completions,) = sampler.generate([request])
        assert error(model, request, completions[0], "tool") < TOLERANCE
        assert error(model, request, stale, "tool") > 100 * TOLERANCE, "negative control"


def _negate(model: PeftModel, policy: str) -> None:
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_B" in name and f".{policy}." in name:
                parameter.neg_()


def test_policies_may_target_different_layers(tiny_model: Qwen3ForCausalLM, encoder: PromptEncoder) -> None:
    """A layer that only the other policy adapts is the base's own."""
    sections = {
        "tool": PolicySection(target_modules=("q_proj",)),
        "planner": PolicySection(target_modules=("up_proj",)),
    }
    model = build_policies(tiny_model, sections, seed=0)
    plant(model, POLICIES, std=1.0)
    sampler = TransformersSampler(model, stop_token_ids=NEVER, pad_id=0, merge=True)
    for policy in POLICIES:
        request = asked(encoder, PROMPTS[0], policy=policy)
        assert error(model, request, sampler.generate([request])[0][0], policy) < TOLERANCE


@pytest.mark.filterwarnings("ignore:Model has `tie_word_embeddings=True`")
def test_adapters_that_cannot_be_folded_in_are_used_as_they_are(
    tiny_model: Qwen3ForCausalLM, encoder: PromptEncoder
) -> None:
    model = build_policies(tiny_model, {"tool": PolicySection(target_modules=("embed_tokens", "q_proj"))}, seed=0)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_embedding" in name:
                parameter.normal_()
    request = asked(encoder, PROMPTS[0])
    sampler = TransformersSampler(model, stop_token_ids=NEVER, pad_id=0)
    assert error(model, request, sampler.generate([request])[0][0], "tool") < TOLERANCE
    with pytest.raises(ValueError, match="merge=True"):
        TransformersSampler(model, stop_token_ids=NEVER, pad_id=0, merge=True)


def test_a_trainers_forward_on_the_base_does_not_leak_into_generation(
    model: PeftModel, encoder: PromptEncoder, merge: bool
) -> None:
    """TRL puts a fused forward on the base; a copy of it would call the layers that are trained."""
    add_fused_lm_head(model.get_base_model(), temperature=0.5)
    sampler = TransformersSampler(model, stop_token_ids=NEVER, pad_id=0, merge=merge)
    model.set_adapter("tool")
    request = asked(encoder, PROMPTS[1], policy="planner")
    (completions,) = sampler.generate([request])
    assert error(model, request, completions[0], "planner") < TOLERANCE


def test_what_a_sibling_says_depends_on_its_own_seed_only(
    model: PeftModel, encoder: PromptEncoder, merge: bool
) -> None:
    """Not on who shares the batch, in which order, on how many siblings there are, or on where the batch is cut."""
    sampler = TransformersSampler(model, stop_token_ids={5, 9, 40}, pad_id=0, merge=merge)
    request = asked(encoder, PROMPTS[1], n=6)
    mates = [asked(encoder, prompt, policy=policy, seed=99, n=5) for prompt in PROMPTS for policy in POLICIES]
    (alone,) = sampler.generate([request])
    ids = [completion.token_ids for completion in alone]
    assert [c.token_ids for c in sampler.generate([*mates, request])[-1]] == ids
    assert [c.token_ids for c in sampler.generate([request, *mates[::-1]])[0]] == ids
    assert [c.token_ids for c in sampler.generate([asked(encoder, PROMPTS[1], n=3)])[0]] == ids[:3]
    cut = TransformersSampler(model, stop_token_ids={5, 9, 40}, pad_id=0, merge=merge, max_rows=4)
    assert [c.token_ids for c in cut.generate([*mates, request])[-1]] == ids
    assert len(set(ids)) == len(ids), "siblings differ"
    other_seed = sampler.generate([asked(encoder, PROMPTS[1], n=6, seed=12)])[0]
    assert [c.token_ids for c in other_seed] != ids, "negative control"


def test_replies_come_as_often_as_the_model_says(model: PeftModel, encoder: PromptEncoder) -> None:
    sampler = TransformersSampler(model, stop_token_ids=NEVER, pad_id=0)
    count = scaled(fast=4000, long=40_000)
    request = asked(encoder, PROMPTS[0], n=count, max_tokens=1, temperature=0.6)
    (completions,) = sampler.generate([request])
    ids = torch.tensor([completion.token_ids[0] for completion in completions])
    with generating(model, "tool"):
        logits = model(input_ids=torch.tensor([request.prompt_ids])).logits[0, -1]
    expected = torch.softmax(logits / 0.6, -1)
    seen = torch.bincount(ids, minlength=len(expected)) / count
    spread = (expected * (1 - expected) / count).sqrt()
    likely = expected > 20 / count
    assert likely.sum() > 10
    assert ((seen - expected).abs() < 5 * spread)[likely].all()
    untempered = torch.softmax(logits, -1)
    assert not ((seen - untempered).abs() < 5 * spread)[likely].all(), "negative control"


def test_a_reply_ends_with_the_first_of_any_end_token(model: PeftModel, encoder: PromptEncoder) -> None:
    """UC-131: the second id ends a reply as well as the first; it is kept, and nothing comes after it."""
    free = TransformersSampler(model, stop_token_ids=NEVER, pad_id=0)
    request = asked(encoder, PROMPTS[0], n=16, max_tokens=12)
    (unstopped,) = free.generate([request])
    first, second = unstopped[0].token_ids[3], unstopped[1].token_ids[5]
    (stopped,) = TransformersSampler(model, stop_token_ids={first, second}, pad_id=0).generate([request])
    endings = set()
    for whole, cut in zip(unstopped, stopped, strict=True):
        ends = [at for at, token_id in enumerate(whole.token_ids) if token_id in (first, second)]
        length = ends[0] + 1 if ends else 12
        assert cut.token_ids == whole.token_ids[:length]
        assert len(cut.logprobs) == length
        assert cut.finish_reason is (FinishReason.STOP if ends else FinishReason.LENGTH)
        endings.add(cut.token_ids[-1] if ends else None)
    assert {first, second} <= endings


def test_replies_are_the_same_where_the_padding_id_ends_a_reply_too(model: PeftModel, encoder: PromptEncoder) -> None:
    """UC-131: pad == eos, with prompts of different lengths in one batch."""
    requests = [asked(encoder, prompt, n=2) for prompt in ("tool at 1 1", "tool at 1 2 goal 3 4 blocked 0 1 0 0")]
    alike, apart = (TransformersSampler(model, stop_token_ids={5, 9}, pad_id=pad_id) for pad_id in (5, 0))
    assert alike.generate(requests) == apart.generate(requests)


def test_a_reply_at_its_limit_is_whole_and_called_cut(model: PeftModel, encoder: PromptEncoder) -> None:
    """UC-136, UC-130: a prompt and a reply that fill the model's context to the last position."""
    sampler = TransformersSampler(model, stop_token_ids=NEVER, pad_id=0)
    context = model.config.max_position_embeddings
    prompt_ids = (encoder.encode(PROMPTS[1]) * context)[: context - 3]
    (completions,) = sampler.generate([SampleRequest("tool", prompt_ids, 1, 0, SamplingParams(max_tokens=3))])
    assert len(completions[0].token_ids) == 3
    assert completions[0].finish_reason is FinishReason.LENGTH
    too_long = SampleRequest("tool", (*prompt_ids, 1), 1, 0, SamplingParams(max_tokens=3))
    with pytest.raises(SamplerError, match="max_prompt_tokens"):
        sampler.check(too_long)


def test_a_stop_string_ends_a_reply_and_is_kept_once(model: PeftModel, encoder: PromptEncoder) -> None:
    """UC-134: the tokens up to the end of the string are the reply, also where the string spans several tokens."""
    decode = encoder.tokenizer.decode
    free = TransformersSampler(model, stop_token_ids=NEVER, pad_id=0, decode=decode)
    request = asked(encoder, PROMPTS[0], n=6, max_tokens=12)
    (unstopped,) = free.generate([request])
    texts = [decode(completion.token_ids) for completion in unstopped]
    stop = decode(unstopped[0].token_ids[4:6])  # two tokens in a row
    stopped = free.generate([asked(encoder, PROMPTS[0], n=6, max_tokens=12, stop=(stop,))])[0]
    for whole, text, cut in zip(unstopped, texts, stopped, strict=True):
        assert cut.token_ids == whole.token_ids[: len(cut.token_ids)]
        assert decode(cut.token_ids).count(stop) == (stop in text)
        assert cut.finish_reason is (FinishReason.STOP if stop in text else FinishReason.LENGTH)
    assert len(stopped[0].token_ids) == 6


def test_temperature_zero_takes_the_likeliest_token(model: PeftModel, encoder: PromptEncoder) -> None:
    """Mixed with a sampled request of the same prompt, which must not be affected."""
    sampler = TransformersSampler(model, stop_token_ids=NEVER, pad_id=0)
    greedy, sampled = asked(encoder, PROMPTS[0], temperature=0.0, n=2), asked(encoder, PROMPTS[0])
    best, drawn = sampler.generate([greedy, sampled])
    assert best[0] == best[1]
    assert error(model, greedy, best[0], "tool") < TOLERANCE, "under the model's own distribution"
    ids = list(greedy.prompt_ids)
    for token_id in best[0].token_ids:
        with generating(model, "tool"):
            assert int(model(input_ids=torch.tensor([ids])).logits[0, -1].argmax()) == token_id
        ids.append(token_id)
    assert [drawn] == sampler.generate([sampled])


def test_siblings_that_agree_are_read_once(model: PeftModel, encoder: PromptEncoder) -> None:
    """The batch has a row for each distinct beginning: what tells them apart is what they said."""
    rows: list[tuple[int, int]] = []
    sampler = TransformersSampler(model, stop_token_ids=NEVER, pad_id=0, merge=False)
    model.register_forward_pre_hook(
        lambda _module, _args, kwargs: rows.append(tuple(kwargs["input_ids"].shape)), with_kwargs=True
    )
    greedy = asked(encoder, PROMPTS[0], temperature=0.0, n=8, max_tokens=3)
    sampler.generate([greedy, asked(encoder, PROMPTS[0], temperature=0.0, n=2, max_tokens=2)])
    assert rows == [(1, len(greedy.prompt_ids)), (1, 1), (1, 1)]
    rows.clear()
    (completions,) = sampler.generate([asked(encoder, PROMPTS[0], n=8, max_tokens=3)])
    begun = [len({c.token_ids[:length] for c in completions}) for length in (1, 2)]
    assert [count for count, _ in rows] == [1, *begun]
    assert begun[0] > 1


def test_the_model_is_left_as_it_was_found(model: PeftModel, encoder: PromptEncoder, merge: bool) -> None:
    model.set_adapter("planner")
    model.train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    trained = [name for name, parameter in model.named_parameters() if parameter.requires_grad]
    generator = torch.get_rng_state()
    sampler = TransformersSampler(model, stop_token_ids=NEVER, pad_id=0, merge=merge)
    sampler.generate([asked(encoder, PROMPTS[0], policy=policy) for policy in POLICIES])
    assert model.training
    assert model.active_adapter == "planner"
    assert [name for name, parameter in model.named_parameters() if parameter.requires_grad] == trained
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert all(parameter.grad is None for parameter in model.parameters())
    assert torch.equal(torch.get_rng_state(), generator)
    model(input_ids=torch.tensor([[1, 2, 3]])).logits.sum().backward()
    assert any(parameter.grad is not None for parameter in model.parameters()), "it still trains"


def test_completions_carry_the_version_of_their_policy(model: PeftModel, encoder: PromptEncoder) -> None:
    versions = {"tool": 3, "planner": 0}
    sampler = TransformersSampler(model, stop_token_ids=NEVER, pad_id=0, versions=versions)
    requests = [asked(encoder, PROMPTS[0], policy=policy) for policy in POLICIES]
    assert [completions[0].version for completions in sampler.generate(requests)] == [3, 0]
    versions["planner"] = 1
    assert [completions[0].version for completions in sampler.generate(requests)] == [3, 1]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"policy": "nobody"}, "planner, tool"),
        ({"n": 0}, "at least 1"),
        ({"max_tokens": 0}, "at least 1"),
        ({"temperature": -1.0}, ">= 0"),
        ({"stop": ("x",)}, "decode="),
    ],
)
def test_requests_that_cannot_be_served_are_refused(
    model: PeftModel, encoder: PromptEncoder, changes: dict[str, Any], reason: str
) -> None:
    """UC-163: an unknown policy is an error and never answered by the base."""
    sampler = TransformersSampler(model, stop_token_ids=NEVER, pad_id=0)
    with pytest.raises(SamplerError, match=reason):
        asyncio.run(sampler.sample(asked(encoder, PROMPTS[0], **changes)))


@pytest.mark.parametrize("padded", [True, False])
def test_ids_of_a_padded_vocabulary_are_told_from_text(
    tiny_model: Qwen3ForCausalLM, encoder: PromptEncoder, padded: bool
) -> None:
    """UC-133: a model with more rows than its tokenizer has entries samples them sooner or later."""
    if padded:
        tiny_model.resize_token_embeddings(len(encoder.tokenizer) + 64)
    sampler = TransformersSampler(build_policies(tiny_model, POLICIES, seed=0), stop_token_ids=NEVER, pad_id=0)
    (completions,) = sampler.generate([asked(encoder, PROMPTS[0], n=64)])
    outside = [c for c in completions if max(c.token_ids) >= len(encoder.tokenizer)]
    assert bool(outside) is padded
    for completion in completions:
        with pytest.raises(UndecodableError) if completion in outside else nullcontext():
            encoder.decode(completion.token_ids)


def test_requests_of_many_episodes_share_a_batch(model: PeftModel, encoder: PromptEncoder) -> None:
    """UC-148: through two event loops, with what each asks alone as the measure."""
    sampler = TransformersSampler(model, stop_token_ids=NEVER, pad_id=0)
    requests = [asked(encoder, prompt, seed=seed) for seed, prompt in enumerate(PROMPTS)]

    async def play(request: SampleRequest) -> Sequence[Completion]:
        with sampler.episode():
            return await sampler.sample(request)

    async def run() -> list[Sequence[Completion]]:
        return await asyncio.gather(*map(play, requests))

    once, again = asyncio.run(run()), asyncio.run(run())
    assert once == again, "to the last bit, since the same requests share the batch"
    alone = [sampler.generate([request])[0] for request in requests]
    assert [[c.token_ids for c in group] for group in once] == [[c.token_ids for c in group] for group in alone]

"""A real vLLM server: what it serves is what the trainer has, version after version."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp import web
from peft import PeftModel
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from at_grpo.config import PolicySection
from at_grpo.inference.base import Completion, FinishReason, SampleRequest, SamplerError, SamplingParams
from at_grpo.inference.base_model import load_base
from at_grpo.inference.endpoint import Endpoint, EndpointError
from at_grpo.inference.openai import ChatPlayer, check_trainable
from at_grpo.inference.plan import BASE
from at_grpo.inference.probe import ProbedPublisher, plant
from at_grpo.inference.publishing import AdapterPublisher, load_adapter, save_adapter, unload_adapter
from at_grpo.inference.vllm import VLLMSampler
from at_grpo.inference.weights import LocalWeights
from at_grpo.policies import build_policies
from at_grpo.tokenization import PromptEncoder
from llm_envs.core.errors import UsageError
from tests.scale import scaled
from tests.shared_vllm import SharedServer
from tests.trainer.inference import vllm_fixtures as tiny
from tests.trainer.inference.http_server import serving

pytestmark = [pytest.mark.system, pytest.mark.needs("vllm")]

ROLES = ("tool", "planner")
LONG = 640  # tokens: several blocks of the prefix cache, which has 128 on the CPU
NOISE = 1e-4  # nat, float32


@pytest.fixture
def server(vllm_server: SharedServer) -> SharedServer:
    return vllm_server


@pytest.fixture
def base(server: SharedServer) -> Path:
    return server.base


@pytest.fixture
def tokenizer(base: Path) -> PreTrainedTokenizerFast:
    loaded: PreTrainedTokenizerFast = AutoTokenizer.from_pretrained(base)
    return loaded


@pytest.fixture
def model(base: Path) -> PeftModel:
    return tiny.policies_on(base, *ROLES)


class Served:
    """The policies of a model, published to a server under names that no other test uses."""

    used = 0

    def __init__(self, server: SharedServer, model: PeftModel, folder: Path) -> None:
        Served.used += 1000
        self.model, self.version = model, Served.used
        self.versions = dict.fromkeys(ROLES, 0)
        self.publisher = AdapterPublisher(LocalWeights(model), [server.endpoint], folder, self.versions)
        self.sampler = VLLMSampler([server.endpoint], self.versions, stop_token_ids={tiny.STOP})

    def publish(self) -> None:
        self.version += 1
        self.publisher.publish(self.version)

    def ask(
        self, policy: str, prompt_ids: tuple[int, ...], *, n: int = 1, seed: int = 0, **params: object
    ) -> list[Completion]:
        request = SampleRequest(policy, prompt_ids, n, seed, SamplingParams(**{"max_tokens": 12, **params}))  # type: ignore[arg-type]
        return list(asyncio.run(self.sampler.sample(request)))


@pytest.fixture
def served(server: SharedServer, model: PeftModel, tmp_path: Path) -> Iterator[Served]:
    served = Served(server, model, tmp_path / "served")
    yield served
    for policy in ROLES:
        if served.publisher.published is not None:
            asyncio.run(unload_adapter(server.endpoint, served.publisher.name(policy)))


def test_served_log_probabilities_are_the_trainers_after_every_publication(served: Served) -> None:
    """UC-140, UC-149, UC-154: with the prefix cache on, and adapters far from the base, their last version and one
    another (negative control: the other role's and the last version's log-probabilities do not fit).
    """
    model, prompt_ids = served.model, tiny.prompt(served.model, LONG)
    last: dict[str, Completion] = {}
    for step in range(scaled(fast=8, system=8, long=50)):
        for number, role in enumerate(ROLES):
            tiny.move(model, role, seed=2 * step + number)
        served.publish()
        for role, other in (ROLES, ROLES[::-1]):
            (completion,) = served.ask(role, prompt_ids, seed=step)
            assert tiny.gap(completion.logprobs, tiny.scores(model, role, prompt_ids, completion.token_ids)) < NOISE
            assert tiny.gap(completion.logprobs, tiny.scores(model, other, prompt_ids, completion.token_ids)) > 0.1
            assert tiny.gap(completion.logprobs, tiny.scores(model, None, prompt_ids, completion.token_ids)) > 0.1
            if role in last:
                old = last[role]
                assert tiny.gap(old.logprobs, tiny.scores(model, role, prompt_ids, old.token_ids)) > 0.1
            last[role] = completion


def test_a_vllm_server_has_all_that_is_asked_of_a_server_of_unknown_make(server: SharedServer) -> None:
    """The servers of `inference.backend=openai`, with its negative control: a name that it does not serve."""
    asyncio.run(check_trainable(server.endpoint, BASE))
    with pytest.raises(UsageError, match=r"it refuses a prompt of token ids \(.*404: .*nobody"):
        asyncio.run(check_trainable(server.endpoint, "nobody"))


def test_a_model_that_plays_by_chat_reads_the_prompt_that_a_policy_would(
    server: SharedServer, served: Served, tokenizer: PreTrainedTokenizerFast
) -> None:
    """At temperature 0 the chat of an adapter and its tokens in, tokens out say the same thing; the base does not."""
    tiny.move(served.model, "tool", seed=1, size=1.0)
    served.publish()
    encoder, observation = PromptEncoder(tokenizer), "tool at 1 2 goal 3 4 blocked 0 1 0 0"
    params = SamplingParams(temperature=0.0, max_tokens=12)

    async def forward(request: web.Request) -> web.StreamResponse:
        return web.json_response(await server.endpoint.post(request.path, await request.json()))

    with serving(forward) as url:
        endpoint = Endpoint(f"{url}/v1")
        said = [
            asyncio.run(ChatPlayer(endpoint, name, params, 0).ask(observation, 0))
            for name in (served.publisher.name("tool"), BASE)
        ]
    (completion,) = served.ask("tool", encoder.encode(observation), temperature=0.0)
    assert said[0] == encoder.decode(completion.token_ids) != said[1]


def test_publishing_again_and_again_takes_no_memory_and_no_slot(
    server: SharedServer, base: Path, tmp_path: Path
) -> None:
    """UC-151: 500 cycles of three roles grew the server by 0.2%."""
    roles, cycles, prompt_ids = ("tool", "planner", "critic"), scaled(fast=40, long=500), (9, 10, 11)
    model = tiny.policies_on(base, *roles)
    versions = dict.fromkeys(roles, 0)
    publisher = AdapterPublisher(LocalWeights(model), [server.endpoint], tmp_path / "served", versions, run="memory")
    sampler = VLLMSampler([server.endpoint], versions, stop_token_ids={tiny.STOP}, run="memory")
    sizes = []
    for cycle in range(cycles):
        publisher.publish(cycle)
        for role in roles:
            request = SampleRequest(role, prompt_ids, 1, cycle, SamplingParams(max_tokens=2))
            asyncio.run(sampler.sample(request))
        sizes.append(server.memory())
    publisher.retire()
    assert max(sizes[cycles // 2 :]) < 1.05 * sizes[cycles // 4]


def test_the_base_model_is_served_without_any_adapter(served: Served) -> None:
    """UC-163."""
    tiny.move(served.model, "tool", seed=1)
    served.publish()
    prompt_ids = tiny.prompt(served.model, LONG)
    request = SampleRequest(BASE, prompt_ids, 1, 0, SamplingParams(max_tokens=12))
    (completion,) = asyncio.run(served.sampler.sample_as(BASE, 0, request))
    assert tiny.gap(completion.logprobs, tiny.scores(served.model, None, prompt_ids, completion.token_ids)) < NOISE


def test_a_version_that_is_not_served_is_an_error_and_never_the_base_model(served: Served) -> None:
    """UC-163."""
    request = SampleRequest("tool", (9, 10), 1, 0, SamplingParams())
    with pytest.raises(EndpointError, match="404"):
        asyncio.run(served.sampler.sample_as("tool-v99", 99, request))


def test_loading_new_weights_from_the_old_path_under_the_old_name_serves_stale_ones(
    server: SharedServer, model: PeftModel, tmp_path: Path
) -> None:
    """UC-149, the negative control of versioned names and folders: where this passes no more, vLLM has mended it."""
    prompt_ids = tiny.prompt(model, LONG, seed=3)
    sampler = VLLMSampler([server.endpoint], {}, stop_token_ids={tiny.STOP})
    request = SampleRequest("tool", prompt_ids, 1, 0, SamplingParams(max_tokens=12))
    gaps = []
    for seed in (1, 2):
        tiny.move(model, "tool", seed)
        shutil.rmtree(tmp_path / "tool", ignore_errors=True)
        save_adapter(model, "tool", tmp_path / "tool")
        if seed == 2:
            asyncio.run(unload_adapter(server.endpoint, "tool"))
        asyncio.run(load_adapter(server.endpoint, "tool", tmp_path / "tool"))
        (completion,) = asyncio.run(sampler.sample_as("tool", 0, request))
        gaps.append(tiny.gap(completion.logprobs, tiny.scores(model, "tool", prompt_ids, completion.token_ids)))
    asyncio.run(unload_adapter(server.endpoint, "tool"))
    assert gaps[0] < NOISE
    assert gaps[1] > 0.1


@pytest.mark.parametrize(("rank", "fits"), [(4, True), (64, False)])
def test_a_rank_above_the_server_s_is_refused_with_the_remedy(
    rank: int, fits: bool, server: SharedServer, base: Path, tmp_path: Path
) -> None:
    """UC-155."""
    model = build_policies(load_base(str(base), "float32")[0], {"tool": PolicySection(rank=rank)}, seed=0)
    save_adapter(model, "tool", tmp_path / "tool")
    impatient, name = Endpoint(server.endpoint.url, patience_s=0.5), f"rank-{rank}"
    if fits:
        asyncio.run(load_adapter(impatient, name, tmp_path / "tool"))
        asyncio.run(unload_adapter(impatient, name))
    else:
        with pytest.raises(SamplerError, match=r"publishing rank-64 from .*max_lora_rank 8.*--max-lora-rank"):
            asyncio.run(load_adapter(impatient, name, tmp_path / "tool"))


def test_siblings_differ_and_the_same_seed_repeats_them(served: Served) -> None:
    served.publish()
    first, again, other = (served.ask("tool", (9, 10, 11), n=6, seed=seed) for seed in (5, 5, 6))
    assert [one.token_ids for one in first] == [one.token_ids for one in again]
    assert [one.token_ids for one in first] != [one.token_ids for one in other]
    assert len({one.token_ids for one in first}) > 1


def test_replies_end_at_their_limit_at_an_end_token_and_after_a_stop_string(
    served: Served, tokenizer: PreTrainedTokenizerFast
) -> None:
    """UC-131, UC-134."""
    served.publish()
    replies = served.ask("tool", (9, 10, 11), n=32, seed=1, max_tokens=40)
    assert {reply.finish_reason for reply in replies} <= {FinishReason.STOP, FinishReason.LENGTH}
    for reply in replies:
        assert (reply.token_ids[-1] == tiny.STOP) == (reply.finish_reason is FinishReason.STOP)
        assert tiny.STOP not in reply.token_ids[:-1]
        assert len(reply.token_ids) <= 40
    stopped = served.ask("tool", (9, 10, 11), n=16, seed=1, max_tokens=40, stop=("up",))
    ended = [reply.token_ids for reply in stopped if "up" in tokenizer.decode(reply.token_ids)]
    assert ended
    assert all("up" not in tokenizer.decode(token_ids[:-1]) for token_ids in ended)


def test_a_prompt_one_token_over_the_limit_is_refused_and_never_cut(served: Served) -> None:
    """UC-130."""
    served.publish()
    room = tiny.MAX_LEN - 4
    assert served.ask("tool", tiny.prompt(served.model, room), max_tokens=4)
    with pytest.raises(EndpointError, match="400"):
        served.ask("tool", tiny.prompt(served.model, room + 1), max_tokens=4)


def test_a_swap_under_requests_in_flight_never_mixes_versions(served: Served) -> None:
    """UC-152: 64 requests of one role while the other's adapter is replaced, against a quiet run."""
    model, prompts = served.model, [tiny.prompt(served.model, 40, seed) for seed in range(64)]
    for role in ROLES:
        tiny.move(model, role, seed=1)
    served.publish()
    name, version = served.publisher.name("tool"), served.version

    async def all_of_them() -> list[Completion]:
        params = SamplingParams(max_tokens=24)
        requests = [SampleRequest("tool", prompt_ids, 1, 3, params) for prompt_ids in prompts]
        return [one for (one,) in await asyncio.gather(*(served.sampler.sample_as(name, version, r) for r in requests))]

    async def with_swap() -> list[Completion]:
        asking = asyncio.create_task(all_of_them())
        await asyncio.sleep(0.05)
        await asyncio.to_thread(served.publish)
        return await asking

    quiet = asyncio.run(all_of_them())
    tiny.move(model, "planner", seed=9)
    busy = asyncio.run(with_swap())
    for prompt_ids, one, other in zip(prompts, quiet, busy, strict=True):
        assert one.version == other.version == version
        assert tiny.gap(other.logprobs, tiny.scores(model, "tool", prompt_ids, other.token_ids)) < NOISE
        assert one.token_ids == other.token_ids


def test_the_probe_notices_a_server_with_other_weights(
    server: SharedServer, model: PeftModel, tmp_path: Path, served: Served
) -> None:
    """UC-142: a version that went up although other weights were sent stops the run."""
    probed = ProbedPublisher(served.publisher, LocalWeights(model), [served.sampler])
    probed.calibrate(tiny.prompt(model, LONG, seed=5), tmp_path)
    assert probed.tolerance < 1e-3
    tiny.move(model, "tool", seed=1)
    measured = probed.publish(served.version + 1)
    assert measured["probe/tool/gap"] < probed.tolerance
    tiny.move(model, "tool", seed=2)
    wrong = plant(LocalWeights(model), "planner", tmp_path / "wrong")

    def send_other_weights(version: int) -> dict[str, float]:
        name = f"tool-v{version}"
        asyncio.run(load_adapter(server.endpoint, name, wrong))
        served.versions["tool"] = version
        return {}

    served.publisher.publish = send_other_weights  # type: ignore[method-assign]
    with pytest.raises(SamplerError, match="samples from other weights"):
        probed.publish(served.version + 2)

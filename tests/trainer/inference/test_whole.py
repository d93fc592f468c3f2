"""Publication of whole models: servers are started again, on files that are whole, under the version's name.

`listener` stands where vLLM would be; the real server has its turn at the end.
"""

import asyncio
import itertools
import json
import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import PreTrainedTokenizerFast

from at_grpo.inference import server as watching
from at_grpo.inference.base import SampleRequest, SamplerError, SamplingParams
from at_grpo.inference.base_model import load_base
from at_grpo.inference.endpoint import UNIX
from at_grpo.inference.plan import ServerPlan
from at_grpo.inference.probe import ProbedPublisher
from at_grpo.inference.server import Server
from at_grpo.inference.vllm import VLLMSampler
from at_grpo.inference.weights import LocalWeights
from at_grpo.inference.whole import WholePublisher
from tests.scale import scaled
from tests.trainer.inference import listener, processes
from tests.trainer.inference import vllm_fixtures as tiny

LONG = 640
NOISE = 1e-4


@dataclass
class Numbered:
    """Weights that are a number."""

    policies: tuple[str, ...] = ("team",)
    saved: list[str] = field(default_factory=list)

    def save(self, policy: str, folder: Path) -> None:
        folder.mkdir()
        (folder / "model.safetensors").write_text("weights")
        self.saved.append(folder.name)

    def scores(self, policy: str | None, prompt_ids: Sequence[int], token_ids: Sequence[int]) -> list[float]:
        raise AssertionError("nobody probes here")


@pytest.fixture
def plan(tmp_path: Path) -> ServerPlan:
    python = str(listener.stand_in(tmp_path))
    return ServerPlan("base", "float32", 64, policies=0, max_rank=8, python=python, name="team-v0-r", tokenizer="base")


@pytest.fixture
def server(plan: ServerPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(watching, "POLL_S", 0.02)
    server = Server(plan, tmp_path / "log", restarts=1)
    try:
        server.wait_ready()
        yield server
    finally:
        server.close()


def command_of(server: Server) -> Mapping[str, str]:
    """Which options its process was really started with."""
    words = asyncio.run(server.endpoint.get("/command"))
    return {name.removeprefix("--"): value for name, value in itertools.pairwise(words) if "--" in name}


def test_a_version_is_served_by_a_new_process_on_its_own_files_under_its_own_name(
    server: Server, tmp_path: Path
) -> None:
    """UC-142: nothing of the old process can answer for the new version, be it a cache."""
    versions, folder = {"team": 0, "other": 7}, tmp_path / "served"
    weights = Numbered()
    publisher = WholePublisher(weights, [server], folder, versions, run="r")
    assert command_of(server)["model"] == "base"
    publisher.publish(0)
    assert weights.saved == [], "the servers were started on version 0, which is the base"
    for version in (1, 2):
        publisher.publish(version)
        now = command_of(server)
        name = f"team-v{version}-r"
        assert (now["model"], now["served-model-name"]) == (str(folder / name), name)
        assert now["tokenizer"] == "base", "the folder has weights alone"
        assert publisher.name("team") == name
        assert versions == {"team": version, "other": 7}
        assert [path.name for path in folder.iterdir()] == [name]
    assert publisher.publish(2) == {}
    assert weights.saved == ["team-v1-r", "team-v2-r"]


def test_a_planned_restart_is_no_death_and_one_that_dies_comes_back_with_the_present_version(
    server: Server, tmp_path: Path
) -> None:
    """It may be restarted once after a death; planned restarts do not count."""
    publisher = WholePublisher(Numbered(), [server], tmp_path / "served", {"team": 0}, run="r")
    for version in (1, 2, 3):
        publisher.publish(version)
    first = _kill(server)
    assert command_of(server)["served-model-name"] == "team-v3-r"
    assert _kill(server) != first
    with pytest.raises(SamplerError, match=r"inference\.restarts allows"):
        command_of(server)


def _kill(server: Server) -> int:
    """SIGKILL to its process, and wait until its watcher has seen that; returns the process's id."""
    (victim,) = processes.leaders(Path(server.endpoint.url.removeprefix(UNIX)).parent)
    os.kill(victim, signal.SIGKILL)
    deadline = time.monotonic() + 60
    while victim in processes.leaders(Path(server.endpoint.url.removeprefix(UNIX)).parent):
        assert time.monotonic() < deadline, "watchdog"
        time.sleep(0.02)
    return victim


def test_requests_that_come_during_a_planned_restart_wait_for_the_new_version(server: Server, tmp_path: Path) -> None:
    publisher = WholePublisher(Numbered(), [server], tmp_path / "served", {"team": 0}, run="r")
    seen: list[str] = []
    server.replace(replace(server.plan, model="elsewhere", name="team-v9-r"))
    waiting = threading.Thread(target=lambda: seen.append(command_of(server)["served-model-name"]))
    waiting.start()
    server.wait_replaced()
    waiting.join(60)
    assert seen == ["team-v9-r"]
    assert publisher.published is None


def test_a_model_that_its_server_can_not_load_ends_the_run_in_words(server: Server, tmp_path: Path) -> None:
    server.replace(replace(server.plan, options={"ValueError": True}))
    with pytest.raises(SamplerError, match=r"ValueError: an option that vLLM does not know.*inference\.restarts"):
        server.wait_replaced()


# ---- the real server


@pytest.mark.system
@pytest.mark.needs("vllm")
def test_the_real_server_samples_from_all_the_weights_that_are_trained(
    tiny_tokenizer: PreTrainedTokenizerFast, tmp_path: Path
) -> None:
    """UC-140, UC-142: log-probabilities of prompts over 600 tokens are the trainer's, and far from the base's; every
    answer echoes the version's name. A server that would sample from other weights is noticed.
    """
    if find_spec("vllm") is None:
        pytest.skip("vllm is not installed")
    base = tiny.save(tmp_path / "base", tiny_tokenizer)
    model, _ = load_base(str(base), "float32")
    weights, versions = LocalWeights(model, ["team"]), {"team": 0}
    _move(model, 1)
    (tmp_path / "served").mkdir()
    weights.save("team", tmp_path / "first")
    plan = replace(tiny.plan(base, policies=0), model=str(tmp_path / "first"), name="team-v0-run", tokenizer=str(base))
    server = Server(plan, tmp_path / "vllm.log")
    try:
        server.wait_ready()
        publisher = WholePublisher(weights, [server], tmp_path / "served", versions, run="run")
        sampler = VLLMSampler([server.endpoint], versions, stop_token_ids={tiny.STOP}, run="run")
        probed = ProbedPublisher(publisher, weights, [sampler])
        prompt_ids = tiny.prompt(model, LONG)
        probed.calibrate(prompt_ids, tmp_path / "served")
        start, _ = load_base(str(base), "float32")
        for version in range(scaled(fast=1, long=4)):
            if version:
                _move(model, 1 + version)
            measured = probed.publish(version)
            assert measured["probe/team/gap"] < NOISE
            request = SampleRequest("team", prompt_ids, 2, version, SamplingParams(max_tokens=12))
            for completion in asyncio.run(sampler.sample(request)):
                assert completion.version == version
                own = weights.scores("team", prompt_ids, completion.token_ids)
                assert tiny.gap(completion.logprobs, own) < NOISE
                other = LocalWeights(start, ["team"]).scores("team", prompt_ids, completion.token_ids)
                assert tiny.gap(completion.logprobs, other) > 0.1
        _move(model, 99)
        publisher.published = None
        with pytest.raises(SamplerError, match="samples from other weights"):
            probed.publish(versions["team"])
    finally:
        server.close()
    served = load_file(Path(server.plan.model) / "model.safetensors")
    assert json.loads((Path(server.plan.model) / "config.json").read_text())["model_type"] == "qwen3"
    assert served


def _move(model: torch.nn.Module, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.02 * torch.randn(parameter.shape, generator=generator))

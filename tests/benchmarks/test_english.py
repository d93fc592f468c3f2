"""A real English model and an adapter of the trainer's on it play every environment, killed and resumed.

Behind a real vLLM server. The adapter plays who is first to act, the model itself plays the other role.
"""

import random
import signal
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest
from openai import OpenAI

from llm_envs_bench.store import load_runs
from llm_envs_bench.suites import load_suite
from llm_envs_bench.suites.freeze import frozen
from tests.benchmarks.command_process import run_to_its_end, stop_when
from tests.benchmarks.vllm_server import has_lines, post, serving
from tests.scale import scaled
from tests.smollm2 import save_smollm2

# Not the need `vllm`: where only the English model is missing, a run that demands vLLM has not skipped a test of that.
pytestmark = [pytest.mark.system, pytest.mark.needs("smollm2")]

SUITE, INSTANCES = scaled(fast=("smoke_v0", 3), long=("core_v0", 10))  # the core has two entries a family
LONGEST, REPLY_TOKENS = 4096, 16
ADAPTER, FIRST = "first-v1", ("tool", "tester")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if find_spec("vllm") is None:
        pytest.skip("vllm is not installed")
    return save_smollm2(tmp_path_factory.mktemp("smollm2"))


@pytest.fixture(scope="module")
def adapter(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As if it had been trained a little: what it says is English, and not what the model says."""
    import torch

    from at_grpo.config import PolicySection
    from at_grpo.inference.base_model import load_base
    from at_grpo.policies import build_policies

    model = build_policies(load_base(str(base), "float32")[0], {ADAPTER: PolicySection(rank=4)}, seed=0)
    torch.manual_seed(0)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_B" in name:
                parameter.normal_(std=0.02)
    folder = tmp_path_factory.mktemp("adapter")
    model.save_pretrained(folder)
    return folder / ADAPTER


@pytest.fixture(scope="module")
def url(base: Path, adapter: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(base, tmp_path_factory.mktemp("logs") / "vllm.log", longest=LONGEST) as root:
        post(f"{root}/v1/load_lora_adapter", {"lora_name": ADAPTER, "lora_path": str(adapter)})
        yield f"{root}/v1"


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A part of the suite whose episodes end early: a processor takes a second for a prompt."""
    whole = load_suite(SUITE)
    entries = (
        replace(entry, instances=INSTANCES, options={**entry.options, "on_invalid": "terminate"})
        for entry in whole.entries
    )
    path = tmp_path_factory.mktemp("suite") / "part.json"
    path.write_text(frozen(replace(whole, name="part", entries=tuple(entries))).to_json())
    return path


def arguments(out: Path, url: str, suite: Path) -> list[str]:
    who = ["--model", "base", "--base-url", url, *(f"--role={role}=openai:{ADAPTER}@{url}" for role in FIRST)]
    how = ["--temperature", "0", "--reply-tokens", str(REPLY_TOKENS), "--concurrency", "1"]
    return ["eval", "--suite", str(suite), *who, *how, "--out", str(out), "--resume"]


@pytest.fixture(scope="module")
def straight(suite: Path, url: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("straight") / "run"
    assert run_to_its_end(*arguments(folder, url, suite)) == 0
    return folder


def test_every_environment_is_played_in_english_and_nothing_is_owed(straight: Path) -> None:
    runs = load_runs(straight)
    assert len({run.spec.env for run in runs}) == 5
    for run in runs:
        assert run.owed == 0
        turns = [turn for episode in run.episodes for turn in episode.turns]
        assert any(turn.reply.isascii() and " " in turn.reply for turn in turns), "words"
        usages = [call.usage for attempt in run.attempts for call in attempt.calls]
        assert all(usage is not None and 50 < (usage.prompt_tokens or 0) < LONGEST for usage in usages)


def test_the_adapter_is_asked_where_it_plays(straight: Path, url: str) -> None:
    turns = [turn for run in load_runs(straight) for turn in run.episodes[0].turns if turn.role in FIRST]
    asked = [(turn.observation, turn.reply) for turn in turns[:3]]
    assert [answer(url, ADAPTER, observation) for observation, _ in asked] == [reply for _, reply in asked]
    assert [answer(url, "base", observation) for observation, _ in asked] != [reply for _, reply in asked]


def answer(url: str, model: str, observation: str) -> str | None:
    chat = OpenAI(base_url=url, api_key="none").chat.completions
    (choice,) = chat.create(
        model=model, messages=[{"role": "user", "content": observation}], temperature=0, max_tokens=REPLY_TOKENS
    ).choices
    return choice.message.content


def test_a_run_that_is_killed_three_times_and_resumed_ends_with_the_bytes_of_a_straight_one(
    url: str, suite: Path, straight: Path, tmp_path: Path
) -> None:
    """Greedy, one request at a time: the same replies."""
    folder, seed = tmp_path / "broken", random.randrange(10**6)
    whole = (straight / "episodes.jsonl").read_bytes()
    for so_far in sorted(random.Random(seed).sample(range(whole.count(b"\n") - 3), 3)):
        due = partial(has_lines, folder / "episodes.jsonl", so_far)
        assert stop_when(due, signal.SIGKILL, *arguments(folder, url, suite)) == -signal.SIGKILL, f"seed {seed}"
    assert (folder / "episodes.jsonl").read_bytes() != whole, "negative control"
    assert run_to_its_end(*arguments(folder, url, suite)) == 0
    assert (folder / "episodes.jsonl").read_bytes() == whole, f"seed {seed}"

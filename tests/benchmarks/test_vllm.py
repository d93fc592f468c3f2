"""The trainer's adapters behind a real vLLM server play as in process, and a killed run ends like a straight one."""

import random
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from llm_envs_bench.agents import plan_run
from llm_envs_bench.runner import evaluate
from llm_envs_bench.spec import Sampling
from llm_envs_bench.store import Run, load_run
from tests.benchmarks.command_process import run_to_its_end, stop_when
from tests.benchmarks.trained import GAME, OPTIONS, write_run
from tests.benchmarks.vllm_server import has_lines, post
from tests.scale import scaled
from tests.shared_vllm import SharedServer

pytestmark = [pytest.mark.system, pytest.mark.needs("vllm")]

INSTANCES = scaled(fast=6, system=12, long=100)
REPLY_TOKENS = 6
ROLES = ("tool", "planner")


@dataclass(frozen=True)
class Served:
    """A server and the checkpoint whose adapters it serves as `tool-v1` and `planner-v1`."""

    url: str
    checkpoint: Path

    @property
    def roles(self) -> dict[str, str]:
        return {role: f"openai:{role}-v1@{self.url}" for role in ROLES}


@pytest.fixture(scope="module")
def served(vllm_server: SharedServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    checkpoint = write_run(tmp_path_factory.mktemp("trained"), vllm_server.base) / "checkpoint-5"
    for role in ROLES:
        post(
            f"{vllm_server.url}/v1/load_lora_adapter",
            {"lora_name": f"{role}-v1", "lora_path": str(checkpoint / role)},
        )
    yield Served(f"{vllm_server.url}/v1", checkpoint)
    for role in ROLES:
        post(f"{vllm_server.url}/v1/unload_lora_adapter", {"lora_name": f"{role}-v1"})


def arguments(out: Path, served: Served, concurrency: int = 1) -> list[str]:
    words = ["eval", "--env", GAME, "--instances", str(INSTANCES), "--out", str(out), "--resume"]
    for name, value in OPTIONS.items():
        words += ["--set", f"{name}={value}"]
    for role, agent in served.roles.items():
        words += ["--role", f"{role}={agent}"]
    return [*words, "--temperature", "0", "--reply-tokens", str(REPLY_TOKENS), "--concurrency", str(concurrency)]


def finish(out: Path, served: Served) -> None:
    assert run_to_its_end(*arguments(out, served)) == 0


@pytest.fixture(scope="module")
def straight(served: Served, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("straight") / "run"
    finish(folder, served)
    return folder


def test_a_run_that_is_killed_three_times_and_resumed_ends_with_the_bytes_of_a_straight_one(
    served: Served, straight: Path, tmp_path: Path
) -> None:
    """Greedy, one request at a time: the same replies."""
    folder, seed = tmp_path / "broken", random.randrange(10**6)
    for so_far in sorted(random.Random(seed).sample(range(INSTANCES // 2), 3)):
        due = partial(has_lines, folder / "episodes.jsonl", so_far)
        assert stop_when(due, signal.SIGKILL, *arguments(folder, served)) == -signal.SIGKILL, f"seed {seed}"
    finish(tmp_path / "broken", served)
    assert (tmp_path / "broken/episodes.jsonl").read_bytes() == (straight / "episodes.jsonl").read_bytes()


def replies(run: Run) -> list[str]:
    return [turn.reply for episode in run.episodes for turn in episode.turns]


def test_an_adapter_says_the_same_behind_the_server_and_in_process(
    served: Served, straight: Path, tmp_path: Path
) -> None:
    """But for halves of characters, of which the server's text has none and ours a replacement."""
    runs = {}
    for step in (5, 0):
        checkpoint = served.checkpoint.with_name(f"checkpoint-{step}")
        spec = plan_run(
            GAME, str(checkpoint), {}, options=OPTIONS, instances=INSTANCES, sampling=Sampling(temperature=0.0)
        )
        runs[step] = replies(evaluate(spec, tmp_path / str(step)))
    there = replies(load_run(straight))
    whole = [place for place, reply in enumerate(runs[5]) if "\ufffd" not in reply]
    assert len(whole) > INSTANCES
    assert [runs[5][place] for place in whole] == [there[place] for place in whole]
    assert [runs[0][place] for place in whole] != [there[place] for place in whole], "negative control"


def test_tokens_are_counted_by_the_server_and_no_limit_is_exceeded(straight: Path) -> None:
    run = load_run(straight)
    usages = [call.usage for attempt in run.attempts for call in attempt.calls]
    assert all(usage is not None and 0 < (usage.completion_tokens or 0) <= REPLY_TOKENS for usage in usages)
    assert all(usage is not None and (usage.prompt_tokens or 0) > 0 for usage in usages)


def test_a_model_that_is_not_served_ends_the_run_at_once(served: Served, tmp_path: Path) -> None:
    assert run_to_its_end(*[word.replace("tool-v1", "tool-v9") for word in arguments(tmp_path / "run", served)]) == 2

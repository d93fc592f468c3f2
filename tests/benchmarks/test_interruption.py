"""An evaluation that was killed and resumed ends with the bytes of one that was not; so does the command."""

import hashlib
import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from llm_envs_bench.store import load_run
from tests.benchmarks.command_process import start
from tests.benchmarks.endpoint import Endpoint, Reply, completion, endpoint
from tests.scale import scaled

INSTANCES, SAMPLES = scaled(fast=20, long=200), 2
EPISODES = INSTANCES * SAMPLES
MOVES = ("up", "down", "left", "right")
OPTIONS = ("--set", "roles=single", "--set", "size=6", "--set", "max_moves=2", "--set", "observation=local")


def reply(number: int, request: dict[str, Any]) -> Reply:
    """Says the same to the same prompt; now and then it fails for once."""
    digest = hashlib.sha256(request["messages"][0]["content"].encode()).digest()
    time.sleep(0.002)
    if number % 17 == 3:
        return Reply({"error": {"message": "busy"}}, 503, headers={"Retry-After": "0"})
    return Reply(completion(f"{MOVES[digest[0] % 4]} {MOVES[digest[1] % 4]}", usage=(digest[2], digest[3])))


@pytest.fixture(scope="module")
def model() -> Iterator[Endpoint]:
    with endpoint(reply) as server:
        yield server


def arguments(out: Path, model: Endpoint, concurrency: int) -> list[str]:
    command = ["eval", "--env", "plan_path_v0", *OPTIONS, "--instances", str(INSTANCES), "--samples", str(SAMPLES)]
    command += ["--model", "tiny", "--base-url", model.url, "--out", str(out), "--resume"]
    return [*command, "--concurrency", str(concurrency)]


def finish(out: Path, model: Endpoint, concurrency: int) -> int:
    """The command to its end; its exit status."""
    process = start(*arguments(out, model, concurrency))
    process.join()
    return int(process.exitcode or 0)


@pytest.fixture(scope="module")
def straight(model: Endpoint, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing disturbed, one episode at a time."""
    folder = tmp_path_factory.mktemp("straight") / "run"
    assert finish(folder, model, 1) == 0
    return folder


def lines_in(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_stopped_at_random_moments_and_resumed_ends_with_the_bytes_of_a_straight_one(
    signal_number: int, straight: Path, model: Endpoint, tmp_path: Path
) -> None:
    """Killed three times, at any concurrency; interrupted once."""
    seed = random.randrange(10**6)
    rng = random.Random(seed)
    times = 3 if signal_number == signal.SIGKILL else 1
    folder = tmp_path / "broken"
    for so_far in sorted(rng.sample(range(EPISODES - 6), times)):
        process = start(*arguments(folder, model, rng.choice((1, 4, 8))))
        while lines_in(folder / "episodes.jsonl") < so_far:
            assert process.exitcode is None, f"seed {seed}"
            time.sleep(0.002)
        os.kill(int(process.pid or 0), signal_number)
        process.join()
        assert process.exitcode in {-signal.SIGKILL, 128 + signal.SIGINT}, f"seed {seed}"
        assert lines_in(folder / "episodes.jsonl") < EPISODES, f"seed {seed}"
    assert finish(folder, model, 8) == 0, f"seed {seed}"
    assert {path.name for path in folder.iterdir()} == {"run.json", "episodes.jsonl", "timing.jsonl"}
    for name in ("run.json", "episodes.jsonl"):
        assert (folder / name).read_bytes() == (straight / name).read_bytes(), f"seed {seed}"


def test_every_episode_is_timed_and_what_was_paid_for_is_not_forgotten(straight: Path, model: Endpoint) -> None:
    run = load_run(straight)
    assert [attempt.id for attempt in run.attempts] == [episode.id for episode in run.episodes]
    for episode, attempt in zip(run.episodes, run.attempts, strict=True):
        assert len(attempt.calls) == len(episode.turns)
        for turn, call in zip(episode.turns, attempt.calls, strict=True):
            digest = hashlib.sha256(turn.observation.encode()).digest()
            assert call.usage is not None
            assert (call.usage.prompt_tokens, call.usage.completion_tokens) == (digest[2], digest[3])

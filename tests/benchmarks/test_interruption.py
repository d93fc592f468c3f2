"""An evaluation that was killed and resumed ends with the bytes of one that was not; so does the command."""

import hashlib
import random
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from llm_envs_bench.store import load_run
from tests.benchmarks.command_process import run_to_its_end, stop_when
from tests.benchmarks.endpoint import Endpoint, Reply, completion, endpoint
from tests.scale import scaled

INSTANCES, SAMPLES = scaled(fast=20, long=200), 2
EPISODES = INSTANCES * SAMPLES
MOVES = ("up", "down", "left", "right")
OPTIONS = ("--set", "roles=single", "--set", "size=6", "--set", "max_moves=2", "--set", "observation=local")


class Model:
    """Says the same to the same prompt; fails now and then for once; and stops answering when it is told to."""

    def __init__(self) -> None:
        self.hold_after: int | None = None  # requests
        self.held = threading.Event()
        self._answers = threading.Event()

    def __call__(self, number: int, request: dict[str, Any]) -> Reply:
        if self.hold_after is not None and number >= self.hold_after:
            self.held.set()
            self._answers.wait()
        digest = hashlib.sha256(request["messages"][0]["content"].encode()).digest()
        if number % 17 == 3:
            return Reply({"error": {"message": "busy"}}, 503, headers={"Retry-After": "0"})
        return Reply(completion(f"{MOVES[digest[0] % 4]} {MOVES[digest[1] % 4]}", usage=(digest[2], digest[3])))

    def hold(self, after: int) -> None:
        """Answer so many requests, counted from the very first, and no more."""
        self.hold_after = after
        self.held.clear()
        self._answers.clear()

    def go_on(self) -> None:
        """Answer again."""
        self.hold_after = None
        self._answers.set()


@pytest.fixture(scope="module")
def model() -> Model:
    return Model()


@pytest.fixture(scope="module")
def served(model: Model) -> Iterator[Endpoint]:
    with endpoint(model) as server:
        yield server


def arguments(out: Path, served: Endpoint, concurrency: int) -> list[str]:
    command = ["eval", "--env", "plan_path_v0", *OPTIONS, "--instances", str(INSTANCES), "--samples", str(SAMPLES)]
    command += ["--model", "tiny", "--base-url", served.url, "--out", str(out), "--resume"]
    return [*command, "--concurrency", str(concurrency)]


@pytest.fixture(scope="module")
def straight(served: Endpoint, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing disturbed, one episode at a time."""
    folder = tmp_path_factory.mktemp("straight") / "run"
    assert run_to_its_end(*arguments(folder, served, 1)) == 0
    return folder


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_stopped_at_random_moments_and_resumed_ends_with_the_bytes_of_a_straight_one(
    signal_number: int, straight: Path, model: Model, served: Endpoint, tmp_path: Path
) -> None:
    """Stopped three times, at any concurrency, with requests under way."""
    folder, seed = tmp_path / "broken", random.randrange(10**6)
    rng = random.Random(seed)
    all_requests = sum(len(episode.turns) for episode in load_run(straight).episodes)
    for _ in range(3):
        model.hold(len(served.requests) + rng.randrange(all_requests // 4))
        status = stop_when(model.held.is_set, signal_number, *arguments(folder, served, rng.choice((1, 4, 8))))
        model.go_on()
        assert status in {-signal.SIGKILL, 128 + signal.SIGINT}, f"seed {seed}"
    assert load_run(folder).owed > 0, f"seed {seed}"
    assert run_to_its_end(*arguments(folder, served, 8)) == 0, f"seed {seed}"
    assert {path.name for path in folder.iterdir()} == {"run.json", "episodes.jsonl", "timing.jsonl"}
    for name in ("run.json", "episodes.jsonl"):
        assert (folder / name).read_bytes() == (straight / name).read_bytes(), f"seed {seed}"


def test_every_episode_is_timed_and_what_was_paid_for_is_not_forgotten(straight: Path) -> None:
    run = load_run(straight)
    assert [attempt.id for attempt in run.attempts] == [episode.id for episode in run.episodes]
    for episode, attempt in zip(run.episodes, run.attempts, strict=True):
        assert len(attempt.calls) == len(episode.turns)
        for turn, call in zip(episode.turns, attempt.calls, strict=True):
            digest = hashlib.sha256(turn.observation.encode()).digest()
            assert call.usage is not None
            assert (call.usage.prompt_tokens, call.usage.completion_tokens) == (digest[2], digest[3])

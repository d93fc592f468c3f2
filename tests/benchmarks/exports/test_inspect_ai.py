"""The task of Inspect, evaluated by Inspect: its results are our runner's."""

import os
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from llm_envs.core.errors import UsageError
from llm_envs.episode import Episode
from llm_envs_bench.metrics import by_instance
from llm_envs_bench.stats import mean
from tests.benchmarks import corridor
from tests.benchmarks.endpoint import Reply, completion, endpoint
from tests.benchmarks.exports.other_python import printed
from tests.benchmarks.exports.ours import ENV, OPTIONS, by_key, run_of_ours
from tests.benchmarks.exports.replies import OTHER_REPLIES, reply_in_chat, reply_to
from tests.scale import scaled

pytestmark = pytest.mark.needs("inspect")
INSTANCES, SAMPLES = scaled(fast=4, long=50), 2
ORACLE_TOOL = {"tool": "oracle"}


@pytest.fixture(autouse=True)
def extra() -> None:
    """Skips test by test: a skip of the whole module would escape `LLM_ENVS_REQUIRE`."""
    pytest.importorskip("inspect_ai", reason="the extra `inspect` is not installed")


def model(answer: Any, seen: list[Any] | None = None) -> Any:
    """Inspect's own mock; it is told what replies took, since counting them fetches a vocabulary."""
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    def generate(messages: list[Any], tools: Any, choice: Any, config: Any) -> Any:
        if seen is not None:
            seen.append((messages, config))
        output = ModelOutput.from_content("mockllm/model", answer(messages[-1].text))
        output.usage = ModelUsage(input_tokens=3, output_tokens=1, total_tokens=4)
        return output

    return get_model("mockllm/model", custom_outputs=generate, memoize=False)


def evaluated(folder: Path, answer: Any = reply_to, *, seen: list[Any] | None = None, **arguments: Any) -> Any:
    import inspect_ai

    from llm_envs_bench.exports.inspect_ai import suite

    roles = arguments.pop("model_roles", None)
    options = {"log_dir": str(folder / "logs"), "display": "none", "fail_on_error": False}
    (log,) = inspect_ai.eval(suite(**arguments), model=model(answer, seen), model_roles=roles, **options)
    return log


def episodes(log: Any) -> list[Episode]:
    found = [(Episode.from_json(sample.store["episode"]), sample.epoch) for sample in log.samples]
    return [replace(episode, sample=epoch - 1) for episode, epoch in found]


def metric(log: Any, score: str, name: str) -> float:
    (found,) = [entry.metrics[name].value for entry in log.results.scores if entry.name == score]
    return float(found)


def test_inspect_finds_what_our_runner_finds_for_the_same_replies(tmp_path: Path) -> None:
    arguments = {"env": ENV, "options": OPTIONS, "players": ORACLE_TOOL, "instances": INSTANCES, "samples": SAMPLES}
    log = evaluated(tmp_path, **arguments)
    ours = run_of_ours(tmp_path / "ours", INSTANCES, SAMPLES)
    assert log.status == "success"
    assert by_key(episodes(log)) == by_key(ours.episodes)
    success = mean(by_instance(ours.episodes, lambda episode: episode.success))
    returns = mean(by_instance(ours.episodes, lambda episode: episode.returns["planner_0"]))
    assert 0 < success.value < 1, "both outcomes are compared"
    assert metric(log, "success", "mean") == pytest.approx(success.value)
    assert metric(log, "return", "mean") == pytest.approx(returns.value)
    assert metric(log, "success", "stderr") == pytest.approx(success.error), "clustered by instance"
    assert metric(log, "return", "stderr") == pytest.approx(returns.error)
    turns = [turn for episode in ours.episodes for turn in episode.turns if turn.role == "planner"]
    assert 0 < sum(turn.invalid is not None for turn in turns) < len(turns)

    others = evaluated(tmp_path, lambda text: reply_to(text, OTHER_REPLIES), **arguments)
    assert by_key(episodes(others)) != by_key(ours.episodes), "negative control"


def test_every_turn_is_a_chat_of_one_message_and_the_sample_holds_them_all(tmp_path: Path) -> None:
    seen: list[Any] = []
    log = evaluated(tmp_path, seen=seen, env=ENV, options=OPTIONS, players=ORACLE_TOOL, instances=1, reply_tokens=9)
    (episode,) = episodes(log)
    asked = [turn for turn in episode.turns if turn.role == "planner"]
    assert [[message.text for message in messages] for messages, _ in seen] == [[turn.observation] for turn in asked]
    assert {config.max_tokens for _, config in seen} == {9}
    told = [message.text for message in log.samples[0].messages[1:]]
    assert told == [text for turn in asked for text in (turn.observation, turn.reply)]


def test_another_model_can_have_a_role(tmp_path: Path) -> None:
    walker = model(lambda text: "step")
    log = evaluated(tmp_path, lambda text: "measure", env=corridor.ENV_ID, instances=2, model_roles={"walker": walker})
    assert metric(log, "success", "mean") == 1
    alone = evaluated(tmp_path, lambda text: "measure", env=corridor.ENV_ID, instances=2)
    assert metric(alone, "success", "mean") == 0, "negative control: the first model doesn't walk"


def test_a_sandbox_that_is_down_leaves_an_error_and_no_score(tmp_path: Path) -> None:
    corridor.SANDBOX.is_down = lambda code: code == "1"
    arguments = {"env": corridor.ENV_ID, "players": {"walker": "oracle"}, "instances": 3}
    log = evaluated(tmp_path, lambda text: "measure", **arguments)
    failed = {sample.id: sample for sample in log.samples if sample.error is not None}
    assert list(failed) == ["corridor-v0/1"]
    assert "the engine is gone" in failed["corridor-v0/1"].error.message
    assert not failed["corridor-v0/1"].scores
    assert metric(log, "success", "mean") == 1, "of the two that were played"


def test_a_suite_tells_the_mean_of_each_entry(tmp_path: Path) -> None:
    log = evaluated(tmp_path, suite="smoke_v0", instances=1)
    assert log.status == "success", log.error
    assert log.eval.metadata["suite_hash"]
    scores = next(entry.metrics for entry in log.results.scores if entry.name == "return")
    entries = {sample.metadata["entry"]: sample.scores["outcome"].value["return"] for sample in log.samples}
    assert {name: scores[f"grouped_{name}"].value for name in entries} == pytest.approx(entries)
    assert len(entries) == 5


def test_what_cannot_be_played_is_told_before_anything_is_asked() -> None:
    from llm_envs_bench.exports.inspect_ai import suite

    with pytest.raises(UsageError, match="Did you mean 'smoke_v0'"):
        suite(suite="smok_v0")


@pytest.mark.long
def test_the_commands_of_the_page_evaluate_as_printed(tmp_path: Path) -> None:
    program = Path(sys.executable).parent / "inspect"
    if not any(point.name == "llm_envs_bench" for point in entry_points(group="inspect_ai")):
        pytest.skip("the project is not installed here, so that Inspect can't find its task by name")
    found = printed("inspect")
    assert len(found) == 2
    for words in found:
        with endpoint(lambda number, request: Reply(completion(reply_in_chat(request)))) as server:
            told = [word.replace("http://localhost:8000/v1", server.url) for word in words[1:]]
            done = subprocess.run(
                [str(program), *told, "--display", "none"],
                cwd=tmp_path,
                env=os.environ | {"LOCAL_API_KEY": "none"},
                capture_output=True,
                text=True,
                check=False,
            )
        assert done.returncode == 0, done.stdout + done.stderr
        assert server.requests
    assert list((tmp_path / "logs").iterdir())

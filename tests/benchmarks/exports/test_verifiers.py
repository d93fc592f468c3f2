"""The environment of verifiers, evaluated by verifiers: its rewards are our runner's."""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from llm_envs_bench.suites import load_suite
from tests.architecture.paths import ROOT
from tests.benchmarks.endpoint import Endpoint, Reply, completion, endpoint
from tests.benchmarks.exports.other_python import printed, printed_code, python_with, run_there
from tests.benchmarks.exports.ours import ENV, OPTIONS, run_of_ours
from tests.benchmarks.exports.replies import OTHER_REPLIES, REPLIES, reply_in_chat
from tests.scale import scaled

pytestmark = pytest.mark.needs("verifiers")
SCRIPT = Path(__file__).parent / "clients" / "verifiers_eval.py"
INSTANCES = scaled(fast=6, long=60)
PLAN_PATH = {"environment": ENV, "options": OPTIONS, "players": {"tool": "oracle"}, "instances": INSTANCES}


def answering(replies: Sequence[str] = REPLIES) -> Any:
    return endpoint(lambda number, request: Reply(completion(reply_in_chat(request, replies))))


def evaluated(server: Endpoint, folder: Path, taskset: dict[str, Any], **environment: Any) -> dict[str, Any]:
    """Task -> what verifiers has of it."""
    config = {"taskset": {"id": "llm-envs-bench"} | taskset} | environment
    printed = run_there(python_with("verifiers"), SCRIPT, server.url, folder, json.dumps(config))
    return {episode["task"]: episode for episode in json.loads(printed.splitlines()[-1])}


def test_verifiers_pays_what_our_runner_pays_for_the_same_replies(tmp_path: Path) -> None:
    with answering() as server:
        found = evaluated(server, tmp_path / "theirs", PLAN_PATH)
        by_turn = evaluated(server, tmp_path / "turns", PLAN_PATH, credit="turn")
    ours = run_of_ours(tmp_path / "ours", INSTANCES).episodes
    assert {one.success for one in ours} == {True, False}
    assert len(found) == INSTANCES
    for episode in ours:
        theirs = found[f"plan_path-v0/{episode.index}"]
        turns = [turn for turn in episode.turns if turn.role == "planner"]
        returned = episode.returns["planner_0"]
        assert theirs["ok"], theirs["errors"]
        assert theirs["messages"] == [[turn.observation, turn.reply] for turn in turns], "a chat for each turn"
        assert theirs["seats"] == [["agent", "planner_0"]] * len(turns)
        assert theirs["rewards"] == pytest.approx([returned] * len(turns))
        assert by_turn[theirs["task"]]["rewards"] == pytest.approx([turn.reward for turn in turns])
        assert theirs["metrics"] == [
            {"success": episode.success, "return": pytest.approx(returned), "invalid": turn.invalid is not None}
            for turn in turns
        ]

    with answering(OTHER_REPLIES) as server:
        others = evaluated(server, tmp_path / "others", PLAN_PATH)
    assert [others[task]["rewards"] for task in found] != [one["rewards"] for one in found.values()], "negative control"


def test_a_model_that_cannot_be_reached_is_an_error_and_no_reward(tmp_path: Path) -> None:
    def script(number: int, request: dict[str, Any]) -> Reply:
        return (
            Reply({"error": {"message": "broken"}}, 400) if number == 1 else Reply(completion(reply_in_chat(request)))
        )

    with endpoint(script) as server:
        found = evaluated(server, tmp_path, PLAN_PATH | {"instances": 3})
    failed = [one for one in found.values() if not one["ok"]]
    assert len(failed) == 1
    assert "gave no reply" in failed[0]["errors"][-1]
    assert set(failed[0]["rewards"]) == {0.0}, "as verifiers has it where none was recorded"
    assert all(not metrics for metrics in failed[0]["metrics"])


def test_a_suite_is_played_with_its_limits_of_replies(tmp_path: Path) -> None:
    with answering() as server:
        found = evaluated(server, tmp_path, {"suite": "smoke_v0", "instances": 1})
    assert len(found) == 5
    assert all(one["ok"] for one in found.values()), [one["errors"] for one in found.values()]
    limits = {tokens for entry in load_suite("smoke_v0").entries for tokens in entry.reply_tokens.values()}
    assert {request["max_tokens"] for request in server.requests} == limits
    assert {tuple(seat) for one in found.values() for seat in one["seats"]} >= {
        ("agent", "tester_0"),
        ("agent", "coder_0"),
    }


def test_what_the_page_prints_evaluates_and_loads(tmp_path: Path) -> None:
    python = Path(python_with("verifiers"))
    ((program, *words),) = printed("vf-eval")
    with answering() as server:
        words = [word.replace("http://localhost:8000/v1", server.url) for word in words]
        done = subprocess.run(
            [str(python.parent / program), *words],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "benchmarks")))},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr[-4000:]
    assert server.requests
    script = tmp_path / "printed.py"
    script.write_text(printed_code("verifiers.v1") + "\nprint(type(environment).__name__)\n")
    assert run_there(str(python), script).split() == ["SuiteEnv"]

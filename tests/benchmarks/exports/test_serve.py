"""The command `llm-envs serve` in a process of its own, and OpenEnv's real client against it."""

import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from llm_envs import plan_path_v0
from llm_envs.core.errors import UsageError
from llm_envs.play import play
from tests import commands
from tests.benchmarks.calls import call
from tests.benchmarks.exports.other_python import printed_code, python_with, run_there
from tests.scale import scaled

CLIENT = Path(__file__).parent / "clients" / "openenv_client.py"
TOKEN = "a-token-of-ours"
OPTIONS = {"size": 4, "walls": 0.0, "min_path": 2, "max_cycles": 3, "roles": "single"}
SETTINGS = [word for name, value in OPTIONS.items() for word in ("--set", f"{name}={value}")]


def serving(*words: str, token: str | None = TOKEN) -> AbstractContextManager["subprocess.Popen[str]"]:
    """`llm-envs serve` on a free port, as long as the block runs."""
    environment = {name: value for name, value in os.environ.items() if name != "LLM_ENVS_SERVE_TOKEN"}
    if token is not None:
        environment["LLM_ENVS_SERVE_TOKEN"] = token
    arguments = ("serve", "--env", "plan_path_v0", "--port", "0", *SETTINGS, *words)
    return commands.running("llm_envs.cli", *arguments, environment=environment)


def line_of(running: "subprocess.Popen[str]") -> str:
    assert running.stdout is not None
    line = running.stdout.readline()
    assert line, running.stderr.read() if running.stderr else ""
    return line


def url_of(running: "subprocess.Popen[str]") -> str:
    return next(word for word in line_of(running).split() if word.startswith("http"))


def post(url: str, token: str, body: Any) -> dict[str, Any]:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request) as answer:
        return dict(json.load(answer))


def status_of(url: str, token: str, body: Any) -> int:
    try:
        post(url, token, body)
    except urllib.error.HTTPError as error:
        return error.code
    return 200


ENDINGS = [(signal.SIGINT, 130), (signal.SIGTERM, 0)]


@pytest.mark.parametrize(("number", "status"), scaled(fast=ENDINGS[:1], system=ENDINGS))
def test_it_says_where_it_serves_and_ends_at_once_when_asked(number: int, status: int) -> None:
    with serving() as running:
        url = url_of(running)
        assert url.startswith("http://127.0.0.1:"), "nobody else's machine reaches it"
        assert post(url + "/reset", TOKEN, {"index": 0})["done"] is False
        running.send_signal(number)
        _, complaints = running.communicate(timeout=60)
    assert running.returncode == status
    assert "Traceback" not in complaints
    assert TOKEN not in complaints


def test_a_token_is_made_and_printed_where_none_is_given() -> None:
    with serving(token=None) as running:
        token = line_of(running).split()[-1]
        assert len(token) > 30
        assert post(url_of(running) + "/reset", token, {})["observation"]["agent"] == "solver_0"


def test_every_option_is_heeded(monkeypatch: pytest.MonkeyPatch) -> None:
    """UC-178."""
    monkeypatch.setenv("MINE", "another-token")
    words = [
        "--host",
        "127.0.0.2",
        "--token-env",
        "MINE",
        "--max-sessions",
        "1",
        "--idle",
        "1.5",
        "--set",
        "on_invalid=terminate",
    ]
    with serving(*words) as running:
        url = url_of(running)
        assert url.startswith("http://127.0.0.2:")
        assert [status_of(url + "/reset", token, {}) for token in (TOKEN, "another-toke")] == [401, 401]
        first = post(url + "/reset", "another-token", {"index": 0})["metadata"]["session_id"]
        assert status_of(url + "/reset", "another-token", {}) == 503
        step = {"session_id": first, "action": {"text": "nothing"}}
        assert post(url + "/step", "another-token", step)["done"] is True, "an invalid reply ends it"
        while status_of(url + "/reset", "another-token", {}) == 503:
            time.sleep(0.05)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--env", "plan_pth_v0"], "Did you mean 'llm_envs/plan_path-v0'"),
        (["--env", "plan_path_v0", "--set", "sise=4"], "size"),
        (["--env", "plan_path_v0", "--set", "action_format=discrete"], "takes no text"),
        (["--env", "plan_path_v0", "--port", "70000"], "port=70000"),
        (["--env", "plan_path_v0", "--max-sessions", "0"], "max_sessions=0"),
        (["--env", "plan_path_v0", "--idle", "0"], "idle=0.0"),
        (["--env", "plan_path_v0", "--host", "203.0.113.1"], "--host 203.0.113.1"),
    ],
)
def test_what_cannot_be_served_is_told(words: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        call("serve", *words)


def test_a_port_that_is_taken_is_told_with_the_remedy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(UsageError, match="--port 0 takes a free one"):
        call("serve", "--env", "plan_path_v0", "--port", taken.getsockname()[1])


class Policy:
    """What the client answers."""

    name = "policy"

    def act(self, env: object, agent: str, observation: str) -> str:
        return "<answer>right down right down</answer>"


@pytest.mark.needs("openenv")
def test_openenvs_own_client_plays_the_episodes_of_the_environment() -> None:
    python, count = python_with("openenv"), scaled(fast=6, long=100)
    with serving() as running:
        found = json.loads(run_there(python, CLIENT, url_of(running), TOKEN, count))
    assert found["messages"] is True, "OpenEnv's models read every answer over HTTP"
    env = plan_path_v0.env(**OPTIONS)
    ours = [play(env, {"all": Policy()}, split="test", index=index) for index in range(count)]
    expected = [[dict(one.returns), one.success, [t.reward for t in one.turns], len(one.turns)] for one in ours]
    assert found["episodes"] == expected
    assert {one.success for one in ours} == {True, False}
    acted, refused, steps, rejected = found["teams"]
    assert acted == "solver_0 acted, reward None"
    assert "FORBIDDEN" in refused
    assert steps == "steps 1"
    assert "401" in rejected


@pytest.mark.needs("openenv")
def test_the_client_of_the_page_plays_as_printed(tmp_path: Path) -> None:
    python, script = python_with("openenv"), tmp_path / "printed.py"
    with serving(token="choose-a-long-one") as running:
        script.write_text(printed_code("GenericEnvClient").replace("http://127.0.0.1:8000", url_of(running)))
        told = run_there(python, script)
    assert "solver" in told
    assert told.splitlines()[-1].startswith("{'solver_0': ")

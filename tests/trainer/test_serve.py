"""`at-grpo serve`: what it starts, where, and that it ends. A real vLLM is in `end_to_end/test_vllm_runs`."""

import argparse
import asyncio
import signal
import socket
import subprocess
import threading
import time
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from aiohttp import web

from at_grpo import serve
from at_grpo.cli import USAGE_ERROR, main
from at_grpo.inference.endpoint import Endpoint
from at_grpo.inference.keeper import descendants
from at_grpo.loading import load_config
from llm_envs.core.errors import UsageError
from tests import commands
from tests.commands import free_port
from tests.scale import scaled
from tests.trainer.inference import listener
from tests.trainer.inference.http_server import serving

LIMIT_S = 60


@pytest.fixture
def python(tmp_path: Path) -> str:
    return str(listener.stand_in(tmp_path))


def command(*words: str) -> AbstractContextManager["subprocess.Popen[str]"]:
    """`at-grpo serve` in a process of its own, as long as the context is open."""
    return commands.running("at_grpo", "serve", *words)


def health(url: str) -> object:
    return asyncio.run(Endpoint(url, patience_s=0.0).get("/health"))


@pytest.mark.parametrize("number", scaled(fast=[signal.SIGINT], system=[signal.SIGINT, signal.SIGTERM]))
def test_it_says_in_one_line_where_it_serves_and_ends_with_ctrl_c(python: str, number: int) -> None:
    at = f"http://127.0.0.1:{free_port()}"
    with command("--model", "some/model", "--port", at.rpartition(":")[2], "--python", python) as running:
        assert running.stdout is not None
        line = running.stdout.readline()
        assert line.startswith(f"Serving some/model at {at}; train with: at-grpo train")
        (override,) = [word.strip("';") for word in line.split() if "inference.urls=" in word]
        assert load_config("tiny_cpu", ["inference.backend=vllm", override]).inference.urls == (at,)
        assert health(at) == {}
        running.send_signal(number)
        rest, said = running.communicate(timeout=LIMIT_S)
    assert (running.returncode, rest, "Traceback" in said) == (0, "", False)
    with pytest.raises(Exception, match="Cannot connect"):
        health(at)


def test_a_socket_serves_as_well_and_one_that_a_dead_server_left_is_taken_over(python: str, tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    for _ in range(scaled(fast=1, system=2)):
        with command("--model", "m", "--uds", str(path), "--python", python) as running:
            assert running.stdout is not None
            assert f"at unix:{path};" in running.stdout.readline()
            assert health(f"unix:{path}") == {}
            running.kill()
            running.wait()
        deadline = time.monotonic() + LIMIT_S
        while connects(path):  # killed by SIGKILL, it leaves the rest to its keeper
            assert time.monotonic() < deadline, "watchdog"
            time.sleep(0.05)


def connects(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


def test_a_server_that_ends_by_itself_is_status_1(python: str) -> None:
    words = ("--model", "m", "--port", str(free_port()), "--python", python, "--", "--ValueError")
    with command(*words) as running:
        out, said = running.communicate(timeout=LIMIT_S)
    assert (running.returncode, out) == (1, "")
    assert "an option that vLLM does not know" in said
    assert said.splitlines()[-1] == "at-grpo serve: the server ended with status 1; it says why above."


# ---- one line for what a user can mend


def refused(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert main(["serve", *argv]) == USAGE_ERROR
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said


def test_a_port_that_is_taken_is_one_line(python: str, capsys: pytest.CaptureFixture[str]) -> None:
    """UC-145."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        number = str(other.getsockname()[1])
        said = refused(capsys, "--model", "m", "--port", number, "--python", python)
    assert f"--port={number}: can't listen at 127.0.0.1 (Address already in use); name a free port." in said
    assert "--port=700000: can't listen" in refused(capsys, "--model", "m", "--port", "700000", "--python", python)


def test_a_port_that_another_server_takes_meanwhile_is_told_and_what_answers_there_is_not_announced(
    python: str, tmp_path: Path
) -> None:
    """UC-145: vLLM listens seconds after it was started; what is well at its port by then may be somebody else's."""
    number, asked = free_port(), threading.Event()

    async def well(request: web.Request) -> web.StreamResponse:
        asked.set()
        return web.json_response({})

    words = ("--model", "m", "--port", str(number), "--python", python, "--", "--late", str(tmp_path / "now"))
    with command(*words) as running:
        wait_until_started(running)
        with serving(well, number):
            assert asked.wait(LIMIT_S)
            time.sleep(0.5)
            (tmp_path / "now").touch()
            out, said = running.communicate(timeout=LIMIT_S)
    assert (running.returncode, out) == (1, "")
    assert said.splitlines()[-1].endswith(f"--port={number} was taken by another program meanwhile; name a free one.")


def wait_until_started(running: "subprocess.Popen[str]") -> None:
    deadline = time.monotonic() + LIMIT_S
    while len(descendants(running.pid)) < 2:  # the keeper and the server
        assert time.monotonic() < deadline, "watchdog"
        time.sleep(0.02)


def test_a_socket_that_is_taken_is_one_line(python: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(tmp_path / "s"))
        other.listen()
        said = refused(capsys, "--model", "m", "--uds", str(tmp_path / "s"), "--python", python)
        assert "another program listens there" in said
    (tmp_path / "file").touch()
    said = refused(capsys, "--model", "m", "--uds", str(tmp_path / "file"), "--python", python)
    assert "is a file already" in said
    assert (tmp_path / "file").exists()


def test_an_interpreter_without_vllm_is_told_with_the_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(capsys, "--model", "m", "--port", str(free_port()), "--python", "/bin/false")
    assert "inference.python='/bin/false': must be a Python interpreter" in said


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["--config", "tiny_cpu"], "tiny_cpu/base is not there yet; serve a finished one by --model DIR"),
        (["--config", "plan_path/shared", "policies.team.weights=full"], "there is nothing to serve for it"),
        (["--config", "tiny_cpu", "optim.stps=3"], "Did you mean 'optim.steps'?"),
        (["--model", "m", "optim.steps=3"], "optim.steps=3: has no effect without --config"),
        (["--model", "m", "--max-len", "0"], "--max-len=0: must be at least 1"),
        (["--model", "m", "--", "stray"], "'stray': after -- come options of vLLM"),
    ],
)
def test_a_wrong_command_line_is_one_line(
    argv: list[str], words: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert words in refused(capsys, *argv)


# ---- what is started


def parsed(*argv: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    serve.add_arguments(parser)
    return parser.parse_args(argv)


def test_a_configuration_with_a_base_model_for_each_role_is_no_single_server() -> None:
    with pytest.raises(
        UsageError, match=r"has 2 pools, and a server has one base model .*start one for each by --model"
    ):
        serve.plan_of(parsed("--config", "plan_path/per_role"), ["policies.tool.base=some/other"], [])


def test_a_configuration_gives_what_its_runs_ask_for_and_the_command_line_wins() -> None:
    config = load_config("plan_path/per_role")
    plan = serve.plan_of(parsed("--config", "plan_path/per_role"), ["roles.tool.max_tokens=99"], [])
    assert (plan.model, plan.dtype, plan.policies, plan.max_rank) == ("Qwen/Qwen3-1.7B", "bfloat16", 2, 16)
    assert plan.max_model_len == config.rollout.max_prompt_tokens + config.roles["planner"].max_tokens
    words = ["--max-len", "77", "--policies", "5", "--max-rank", "64", "--config", "plan_path/per_role"]
    plan = serve.plan_of(parsed(*words), [], ["--seed", "3", "--enforce-eager", "--dtype=half"])
    assert (plan.max_model_len, plan.policies, plan.max_rank) == (77, 5, 64)
    assert plan.options == {"seed": "3", "enforce-eager": True, "dtype": "half"}


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ([], {}),
        (["--a"], {"a": True}),
        (["--a", "1", "--b"], {"a": "1", "b": True}),
        (["--a=1", "--b", "-1"], {"a": "1", "b": "-1"}),
        (["--a=x=y"], {"a": "x=y"}),
    ],
)
def test_options_of_vllm_are_taken_as_on_its_command_line(words: list[str], options: dict[str, object]) -> None:
    assert serve.parse_options(words) == options


@pytest.mark.parametrize("words", [["a"], ["--a", "1", "2"], ["--a=1", "2"]])
def test_a_stray_word_among_them_is_refused(words: list[str]) -> None:
    with pytest.raises(UsageError, match="after -- come options of vLLM"):
        serve.parse_options(words)

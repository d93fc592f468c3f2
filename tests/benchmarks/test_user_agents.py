"""Agents that users write: any program over stdin and stdout, and functions."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from llm_envs.core.errors import UsageError
from llm_envs_bench.agents import Asking, build_cast, plan_run
from llm_envs_bench.agents.retries import Patience
from llm_envs_bench.attempts import Event, Usage, count_events
from llm_envs_bench.runner import evaluate
from llm_envs_bench.spec import RunSpec
from llm_envs_bench.store import Run
from tests.architecture.markdown_blocks import blocks
from tests.architecture.paths import ROOT
from tests.benchmarks import corridor

WALK = "import json, sys\nfor line in sys.stdin:\n    print(json.dumps({'reply': 'step'}), flush=True)\n"
# Keeps what it is told in a file and walks only in the second turn of an episode.
REMEMBERS = """
import json, os, sys
episode, turns = "", 0
for line in sys.stdin:
    question = json.loads(line)
    if question["episode"] != episode:
        episode, turns = question["episode"], 0
    turns += 1
    with open(sys.argv[1], "a") as log:
        log.write(json.dumps({**question, "turns": turns, "pid": os.getpid()}) + "\\n")
    print(json.dumps({"reply": "step", "prompt_tokens": 5, "completion_tokens": turns}), flush=True)
"""
FAULTS = {
    "ends": ("import sys; input(); sys.exit('my last words')", Event.AGENT_FAILED, "my last words"),
    "never starts": ("import no_such_module", Event.AGENT_FAILED, "no_such_module"),
    "says nothing": ("import time; input(); time.sleep(60)", Event.TIMEOUT, "no answer within"),
    "no json": ("input(); print('step')", Event.AGENT_FAILED, "answered 'step"),
    "no reply": ("input(); print('{}')", Event.AGENT_FAILED, "answered '{}"),
    "no text": ("input(); print('{\"reply\": 3}')", Event.AGENT_FAILED, "an answer is"),
    "no number": ('input(); print(\'{"reply": "step", "prompt_tokens": "5"}\')', Event.AGENT_FAILED, "whole numbers"),
    "too deep": ("input(); print('[' * 100000)", Event.AGENT_FAILED, "answered '[["),
    "half a line": ("input(); print('{\"reply\": \"st', end='')", Event.AGENT_FAILED, "ended without an answer"),
}


def command(tmp_path: Path, code: str, *arguments: object) -> str:
    script = tmp_path / "agent.py"
    script.write_text(code)
    return "command:" + shlex.join([sys.executable, str(script), *map(str, arguments)])


def walked(agent: str, out: Path, *, instances: int = 3, timeout_s: float = 60.0, **options: Any) -> Run:
    """The agent walks, the oracle scouts."""
    spec = RunSpec(env=corridor.ENV_ID, agents={"scout": "oracle", "walker": agent}, instances=instances)
    return evaluate(spec, out, cast=build_cast(spec, Asking(Patience(timeout_s=timeout_s))), **options)


# ---- programs


def test_the_program_of_the_page_is_benchmarked_as_printed(tmp_path: Path) -> None:
    (printed,) = (block.code for block in blocks(ROOT / "docs/evaluation.md", "python") if "sys.stdin" in block.code)
    agent = command(tmp_path, printed)
    for roles, difficulty in (("team", "easy"), ("single", "easy"), ("team", "hard")):
        options = {"roles": roles, "difficulty": difficulty}
        run = evaluate(plan_run("plan_path_v0", agent, {}, options=options, instances=4), tmp_path / roles / difficulty)
        assert [episode.success for episode in run.episodes] == [True] * 4
        assert {turn.invalid for episode in run.episodes for turn in episode.turns} == {None}
    assert len(printed.splitlines()) <= 30


@pytest.mark.parametrize("concurrency", [1, 3])
def test_a_program_is_asked_about_one_episode_at_a_time_and_sees_what_a_model_sees(
    concurrency: int, tmp_path: Path
) -> None:
    log = tmp_path / "log.jsonl"
    run = walked(command(tmp_path, REMEMBERS, log), tmp_path / "run", concurrency=concurrency)
    asked = [json.loads(line) for line in log.read_text().splitlines()]
    assert len(asked) == 9
    for episode in run.episodes:
        own = [line for line in asked if line["episode"] == episode.id]
        assert [line["observation"] for line in own] == [
            turn.observation for turn in episode.turns if turn.role == "walker"
        ]
        assert [(line["turn"], line["turns"]) for line in own] == [(0, 1), (1, 2), (2, 3)]
        assert {(line["agent"], line["role"]) for line in own} == {("walker_0", "walker")}
        assert len({line["pid"] for line in own}) == 1
    assert len({line["pid"] for line in asked}) == concurrency
    assert len({line["seed"] for line in asked}) == 9
    usages = [call.usage for attempt in run.attempts for call in attempt.calls if call.role == "walker"]
    assert usages == [Usage(5, turns) for turns in (1, 2, 3)] * 3


@pytest.mark.parametrize("fault", FAULTS)
def test_a_program_that_fails_is_owed_with_its_reason_and_asked_anew_in_the_next_episode(
    fault: str, tmp_path: Path
) -> None:
    code, event, reason = FAULTS[fault]
    run = walked(command(tmp_path, code), tmp_path / "run", timeout_s=1.0 if event is Event.TIMEOUT else 60.0)
    assert run.owed == 3
    assert all(str(failure.error).startswith(f"{event}: ") for failure in run.failures)
    assert all(reason in str(failure.error) for failure in run.failures)
    assert count_events(run.attempts) == {event: 3}


def test_an_episode_that_a_program_did_not_survive_costs_only_itself(tmp_path: Path) -> None:
    code = WALK.replace("    print", "    if 'corridor 1' in line: sys.exit()\n    print")
    run = walked(command(tmp_path, code), tmp_path / "run", concurrency=1)
    assert [failure.index for failure in run.failures] == [1]
    assert [episode.success for episode in run.episodes] == [True, True]
    mended = walked(command(tmp_path, WALK), tmp_path / "run", resume=True)
    assert mended.owed == 0


def test_a_program_may_write_more_to_its_standard_error_than_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a bar of progress does, which never ends its line; a pipe that nobody reads would stop the program."""
    monkeypatch.setattr("llm_envs_bench.agents.command.LONGEST_LINE", 1 << 12)
    code = WALK.replace("    print", "    sys.stderr.write('\\r50%' * 100_000)\n    print")
    run = walked(command(tmp_path, code), tmp_path / "run", timeout_s=5.0)
    assert (run.owed, [episode.success for episode in run.episodes]) == (0, [True] * 3)


def test_no_process_outlives_its_run(tmp_path: Path) -> None:
    stubborn = WALK.replace("import json, sys", "import json, os, signal, sys, time") + "time.sleep(60)\n"
    stubborn = stubborn.replace("for line", "open(sys.argv[1], 'w').write(str(os.getpid()))\nfor line")
    pid = tmp_path / "pid"
    walked(command(tmp_path, stubborn, pid), tmp_path / "run", instances=1)
    assert not Path("/proc", pid.read_text()).exists()


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        ("command:no-such-program --x", "can't be run"),
        ("command:'", "can't be read"),
        ("command:", "must name a program"),
    ],
)
def test_a_command_that_cannot_be_run_is_refused(agent: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        walked(agent, tmp_path / "run")


# ---- functions


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module of the user's in the working directory."""
    (tmp_path / "my_agents.py").write_text(
        """
import asyncio

def make(role):
    async def answer(question):
        assert question.role == role and question.agent == role + "_0"
        await asyncio.sleep(0)
        return "step" if question.seed else ""
    return answer

def plain(role):
    return lambda question: "step" if question.turn < 2 else question.turn

def broken(role):
    return lambda question: 1 / (0 if "corridor 1" in question.observation else 1) and "step"

def nothing(role):
    return None
"""
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    monkeypatch.delitem(sys.modules, "my_agents", raising=False)


@pytest.mark.usefixtures("module")
def test_a_function_of_the_users_plays(tmp_path: Path) -> None:
    run = walked("python:my_agents:make", tmp_path / "run")
    assert [episode.success for episode in run.episodes] == [True] * 3
    assert run.episodes[0].players["walker"] == "python:my_agents:make"


@pytest.mark.usefixtures("module")
def test_a_function_that_raises_or_gives_no_text_is_owed_with_its_reason(tmp_path: Path) -> None:
    run = walked("python:my_agents:broken", tmp_path / "broken")
    assert [failure.index for failure in run.failures] == [1]
    assert "ZeroDivisionError" in str(run.failures[0].error)
    run = walked("python:my_agents:plain", tmp_path / "plain")
    assert run.owed == 3
    assert "gave 2; a reply is a str" in str(run.failures[0].error)


@pytest.mark.usefixtures("module")
@pytest.mark.parametrize(
    ("agent", "message"),
    [
        ("python:my_agents", "must be python:MODULE:FACTORY"),
        ("python:no_such_agents:make", "No module named 'no_such_agents'"),
        ("python:my_agents:no_such", "no attribute 'no_such'"),
        ("python:my_agents:nothing", "gave None; it must give a function"),
    ],
)
def test_a_function_that_is_not_there_is_refused(agent: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        walked(agent, tmp_path / "run")

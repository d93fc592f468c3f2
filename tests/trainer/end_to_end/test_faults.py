"""What keeps a run from going on ends it with a message that names the part and the remedy, and with nothing else.

Servers that can't be used are ours here; real ones are in `test_vllm_runs`.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from at_grpo.cli import FAILURE, USAGE_ERROR
from at_grpo.config import InferenceSection, TrainConfig
from at_grpo.loading import dump_config
from tests.trainer.end_to_end import process
from tests.trainer.end_to_end.settings import small
from tests.trainer.inference.http_server import Handler, serving


def outcome(config: TrainConfig, fault: str = "") -> tuple[int, list[str]]:
    """The exit status of `at-grpo train`, and the lines that it said from its own message on."""
    folder = Path(config.run.output_dir)
    folder.mkdir()
    path = folder.with_suffix(".yaml")
    path.write_text(dump_config(config))
    status = process.command_line(folder, "train", "--config", str(path), fault=fault)
    lines = (folder / process.OUTPUT).read_text().splitlines()
    assert not any("Traceback" in line for line in lines)
    return status, lines[next(number for number, line in enumerate(lines) if line.startswith("at-grpo:")) :]


async def silent(request: web.Request) -> web.StreamResponse:
    await asyncio.sleep(600)
    return web.Response()


def listing(**base: Any) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        return web.json_response({"data": [base]})

    return handle


async def broken(request: web.Request) -> web.StreamResponse:
    return web.json_response({"error": {"message": "the engine is dead"}}, status=500)


@pytest.mark.parametrize(
    ("handler", "status", "words"),
    [
        (silent, FAILURE, "no answer within 1 s (inference.timeout_s)"),
        (broken, FAILURE, "the engine is dead; tried for 1 s (inference.patience_s)"),
        (listing(id="some-model"), USAGE_ERROR, "serves some-model; must serve the base model as 'base'"),
        (listing(id="base", max_model_len=137), USAGE_ERROR, "has room for 137 tokens"),
    ],
    ids=["accepts and never answers", "broken", "another model", "too short"],
)
def test_a_server_that_can_not_be_used_ends_the_run(
    handler: Handler, status: int, words: str, base: Path, tmp_path: Path
) -> None:
    """UC-143: within the time configured, and the endpoint is named."""
    with serving(handler) as url:
        section = InferenceSection(backend="vllm", urls=(url,), timeout_s=1.0, patience_s=1.0)
        ended, lines = outcome(replace(small(tmp_path / "run", base), inference=section))
    assert ended == status
    assert len(lines) == 1
    assert lines[0].startswith(f"at-grpo: {url}")
    assert words in lines[0]


def test_nobody_at_the_url_ends_the_run(base: Path, tmp_path: Path) -> None:
    section = InferenceSection(backend="vllm", urls=("http://127.0.0.1:9",), patience_s=0.5)
    ended, lines = outcome(replace(small(tmp_path / "run", base), inference=section))
    assert (ended, len(lines)) == (FAILURE, 1)
    assert "http://127.0.0.1:9" in lines[0]
    assert "Is the server running?" in lines[0]


def with_python(config: TrainConfig) -> TrainConfig:
    return replace(config, inference=InferenceSection(backend="vllm", python="/bin/false"))


def with_gpu(config: TrainConfig) -> TrainConfig:
    return replace(config, inference=InferenceSection(backend="vllm", gpus=(99,)))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (with_python, "inference.python='/bin/false': must be a Python interpreter"),
        (with_gpu, "inference.gpus=[99]: must be"),
    ],
)
def test_what_a_run_needs_and_this_machine_lacks_is_one_line(
    change: Callable[[TrainConfig], TrainConfig], words: str, base: Path, tmp_path: Path
) -> None:
    ended, lines = outcome(change(small(tmp_path / "run", base)))
    assert (ended, len(lines)) == (USAGE_ERROR, 1)
    assert words in lines[0]


def test_a_full_disk_ends_the_run_with_what_to_do(base: Path, tmp_path: Path) -> None:
    """A checkpoint that does not fit, written by safetensors."""
    ended, lines = outcome(small(tmp_path / "run", base), fault="disk full")
    assert (ended, len(lines)) == (FAILURE, 1)
    assert lines[0].startswith(f"at-grpo: run.output_dir={str(tmp_path / 'run')!r}: a file could not be written")
    assert "Make room there" in lines[0]

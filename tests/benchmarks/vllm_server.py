"""A real vLLM server on loopback, for as long as a test module needs it."""

import json
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.commands import free_port

START_S = 600.0


@contextmanager
def serving(base: Path, log: Path, *, longest: int, adapters: int = 2) -> Iterator[str]:
    """The root of the server's URLs; the model is called `base`.

    Args:
        base: folder of the model.
        log: what the server says.
        longest: prompt and reply together, in tokens.
        adapters: how many may be loaded.
    """
    if find_spec("vllm") is None:
        pytest.skip("vllm is not installed")
    from at_grpo.inference.plan import ServerPlan
    from at_grpo.inference.server import end, launch

    plan = ServerPlan(str(base), "float32", longest, adapters, 8, options={"enforce-eager": True, "max-num-seqs": 16})
    port = free_port()
    folder = Path(tempfile.mkdtemp())
    with log.open("wb") as output:
        process = launch(plan, ["--host", "127.0.0.1", "--port", str(port)], folder, output)
    root, deadline = f"http://127.0.0.1:{port}", time.monotonic() + START_S
    try:
        while not answers(f"{root}/health"):
            assert process.poll() is None, log.read_text()[-3000:]
            assert time.monotonic() < deadline, log.read_text()[-3000:]
            time.sleep(0.5)
        yield root
    finally:
        end(process, folder)


def answers(url: str) -> bool:
    """Whether whoever listens there is well."""
    try:
        with urllib.request.urlopen(url, timeout=5) as response:
            return bool(response.status == 200)
    except OSError:
        return False


def post(url: str, body: dict[str, str]) -> None:
    """Ask for something to be done."""
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as response:
        assert response.status == 200


def has_lines(path: Path, so_many: int) -> bool:
    """Whether that file holds so many lines already."""
    return so_many == 0 or (path.exists() and path.read_bytes().count(b"\n") >= so_many)

"""The real vLLM server that tests share, since one takes most of a minute to start; who ends a server has its own.

The files that share it run one after the other on one worker (`tests/conftest.py`), and each leaves no adapter behind.
"""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from at_grpo.inference.endpoint import Endpoint
from at_grpo.inference.keeper import descendants
from at_grpo.loading import dump_config
from at_grpo.warm_start import build_base
from tests.commands import PATHS, free_port
from tests.trainer.end_to_end import vllm_runs
from tests.trainer.inference import processes, vllm_fixtures


@dataclass(frozen=True)
class SharedServer:
    """A server on loopback, and the base model that it serves.

    Attributes:
        url: as in `inference.urls`.
        base: folder of the model.
        log: what the server says.
        pid: of the command that has started it.
    """

    url: str
    base: Path
    log: Path
    pid: int

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint(self.url, patience_s=5.0)

    @property
    def adapters(self) -> set[str]:
        models = asyncio.run(self.endpoint.get("/v1/models"))["data"]
        return {entry["id"] for entry in models} - {"base"}

    def loads(self) -> int:
        """How many adapters it says to have loaded."""
        return self.log.read_text().count('"POST /v1/load_lora_adapter HTTP/1.1" 200')

    def memory(self) -> int:
        """Resident bytes of the server and its workers."""
        return processes.memory(descendants(self.pid))


@contextmanager
def shared_server(folder: Path) -> Iterator[SharedServer]:
    """`at-grpo serve`, as a user starts it, with room for what every test asks of it; Ctrl-C ends it."""
    base = build_base(vllm_runs.warm(folder), folder / "base")
    config, log = folder / "config.yaml", folder / "log"
    config.write_text(dump_config(vllm_runs.served(folder / "run", base)))
    room = ["--max-len", str(vllm_fixtures.MAX_LEN), "--policies", "3", "--max-rank", str(vllm_fixtures.RANK)]
    port = free_port()
    with log.open("w") as output:
        serving = subprocess.Popen(
            [sys.executable, "-m", "at_grpo", "serve", "--config", str(config), "--port", str(port), *room],
            env=os.environ | {"PYTHONPATH": PATHS},
            stdout=output,
            stderr=subprocess.STDOUT,
        )

    def ready() -> bool:
        assert serving.poll() is None, log.read_text()[-3000:]
        return "Serving " in log.read_text()

    try:
        vllm_runs.wait_for(ready, "at-grpo serve")
        yield SharedServer(f"http://127.0.0.1:{port}", base, log, serving.pid)
    finally:
        serving.send_signal(signal.SIGINT)
        status = serving.wait(vllm_runs.LIMIT_S)
    assert status == 0

"""Commands of this checkout in processes of their own, as a user starts them."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tests.architecture.paths import ROOT

PATHS = os.pathsep.join(str(ROOT / part) for part in (".", "trainer", "benchmarks"))


@contextmanager
def running(
    module: str, *words: str, environment: Mapping[str, str] | None = None
) -> Iterator["subprocess.Popen[str]"]:
    """`python -m MODULE WORDS`, what it prints in pipes, as long as the block runs.

    Args:
        module: what is started.
        words: its arguments.
        environment: variables, by default those of the tests; the checkout's paths are added.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", module, *words],
        env={**(os.environ if environment is None else environment), "PYTHONPATH": PATHS},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def free_port() -> int:
    """A port of loopback that nobody has at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number: int = probe.getsockname()[1]
        return number

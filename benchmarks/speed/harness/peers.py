"""Libraries of others, each kept at work in a process of its own: they pin other versions than this project.

python3.11 -m venv peers && peers/bin/pip install -r benchmarks/speed/peers.txt
make bench PEERS=peers/bin/python
"""

import argparse
import json
import os
import subprocess
from pathlib import Path
from typing import Any

WORKERS = Path(__file__).parent / "workers"


class PeerMissingError(RuntimeError):
    """The peers' environment lacks a library; the message names it."""


def add_peers(parser: argparse.ArgumentParser) -> None:
    """`--peers PYTHON`, by default the variable PEERS."""
    parser.add_argument(
        "--peers",
        metavar="PYTHON",
        default=os.environ.get("PEERS") or None,
        help="the Python of an environment with what benchmarks/speed/peers.txt names (default: $PEERS); without one, "
        "comparisons with peers are left out",
    )


def start_worker(python: str | None, program: str, *arguments: str) -> "Worker | None":
    """The worker, or None and a line that says what is left out and why."""
    if python is None:
        print(f"no --peers: {program} is left out")
        return None
    try:
        return Worker(python, program, *arguments)
    except PeerMissingError as missing:
        print(f"left out: {missing}")
        return None


class Worker:
    """A program of `workers/`, run by a Python; it does one named job at a time and says how long it took."""

    def __init__(self, python: str, program: str, *arguments: str) -> None:
        """Start it.

        Raises:
            PeerMissingError: it can't be started, or a library that it imports is not there.
        """
        command = [python, str(WORKERS / program), *arguments]
        pipe = subprocess.PIPE
        try:
            self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        except OSError as error:
            raise PeerMissingError(f"{python}: {error}") from error
        self.name = program
        if self._line() is None:
            said = (self._process.stderr.read() if self._process.stderr else "").strip().splitlines()
            raise PeerMissingError(f"{program}: {said[-1] if said else 'died at its start'}")

    def ask(self, job: str, argument: Any) -> tuple[float, Any]:
        """CPU seconds, and the result; the argument is plain data."""
        if self._process.stdin is None:
            raise RuntimeError(f"{self.name}: has no input")
        self._process.stdin.write(json.dumps([job, argument]) + "\n")
        self._process.stdin.flush()
        reply = self._line()
        if reply is None:
            said = self._process.stderr.read() if self._process.stderr else ""
            raise RuntimeError(f"{self.name}: its worker died doing {job}: {said[-2000:]}")
        seconds, result = reply
        return float(seconds), result

    def _line(self) -> Any:
        line = self._process.stdout.readline() if self._process.stdout else ""
        return json.loads(line) if line else None

    def close(self) -> None:
        """End the worker, which reads to the end of its input."""
        self._process.communicate(timeout=60)

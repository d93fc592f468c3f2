"""The script `llm-envs` in processes that are forked from one that has its libraries, so that a start costs nothing."""

import os
import signal
import sys
import time
from collections.abc import Callable
from multiprocessing.context import ForkServerProcess

from llm_envs.cli import main
from tests import forked


def start(*arguments: str) -> ForkServerProcess:
    """Run a command; what it prints is thrown away."""
    return forked.start(_run, arguments, daemon=True)


def run_to_its_end(*arguments: str) -> int:
    """The command's exit status."""
    return forked.wait(start(*arguments))


def stop_when(due: Callable[[], bool], signal_number: int, *arguments: str) -> int:
    """Run the command until it is due and send it a signal; its exit status, negative for a signal."""
    process = start(*arguments)
    while not due():
        assert process.exitcode is None, "it ended by itself"
        time.sleep(0.002)
    os.kill(int(process.pid or 0), signal_number)
    return forked.wait(process)


def _run(arguments: tuple[str, ...]) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has its background commands ignore it
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    sys.exit(main(arguments))

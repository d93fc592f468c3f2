"""Processes that are forked from one that has imported what they need, which takes longer than most of what they do.

Python has one such process for all: whoever starts it decides what it has imported, so all tests start it here.
"""

import functools
import multiprocessing
import os
import sys
from collections.abc import Callable
from multiprocessing.context import ForkServerProcess
from multiprocessing.process import BaseProcess

import pytest

from tests.commands import PATHS
from tests.scale import scaled

TIMEOUT_S = scaled(fast=280, system=1100, long=6 * 3600)  # just under the watchdog of a test, to say what hangs
_CONTEXT = multiprocessing.get_context("forkserver")
_IMPORTED = (
    "tests.trainer.end_to_end.inside",
    "tests.benchmarks.command_process",
    "llm_envs_bench.commands.evaluate",
    "openai.resources.chat",
)


def start(function: Callable[..., object], *args: object, daemon: bool = False) -> ForkServerProcess:
    """Begin a function in a new process.

    Args:
        function: of a module.
        args: its arguments.
        daemon: whether the process ends with this one.
    """
    prepare()
    return _begin(function, *args, daemon=daemon)


@functools.cache
def prepare() -> None:
    """Start the process that the others are forked from, on the code of this checkout."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [PATHS, os.environ.get("PYTHONPATH")])))
        _CONTEXT.set_forkserver_preload(list(_IMPORTED))
        process = _begin(_check_imported)
    assert wait(process) == 0, f"the process that others are forked from could not import {', '.join(_IMPORTED)}"


def wait(process: BaseProcess) -> int:
    """Wait for the end of a process; returns its exit status, negative for a signal."""
    process.join(TIMEOUT_S)
    status = process.exitcode
    if status is None:
        process.kill()
    assert status is not None, f"no end after {TIMEOUT_S} s"
    return status


def _begin(function: Callable[..., object], *args: object, daemon: bool = False) -> ForkServerProcess:
    process = _CONTEXT.Process(target=function, args=args, daemon=daemon)
    process.start()
    return process


def _check_imported() -> None:
    sys.exit(any(module not in sys.modules for module in _IMPORTED))

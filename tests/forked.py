"""Processes that are forked from one that has imported what they need, which takes longer than most of what they do.

Python has one such process for all: whoever starts it decides what it has imported, so all tests start it here.
"""

import functools
import multiprocessing
import os
import sys
from collections.abc import Callable
from multiprocessing.context import ForkServerProcess

import pytest

from tests.architecture.paths import ROOT

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
    paths = [str(ROOT / part) for part in (".", "trainer", "benchmarks")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([*paths, *filter(None, [os.environ.get("PYTHONPATH")])]))
        _CONTEXT.set_forkserver_preload(list(_IMPORTED))
        process = _begin(_check_imported)
    process.join()
    assert process.exitcode == 0, f"the process that others are forked from could not import {', '.join(_IMPORTED)}"


def _begin(function: Callable[..., object], *args: object, daemon: bool = False) -> ForkServerProcess:
    process = _CONTEXT.Process(target=function, args=args, daemon=daemon)
    process.start()
    return process


def _check_imported() -> None:
    sys.exit(any(module not in sys.modules for module in _IMPORTED))

"""Benchmark suite for LLM agents on the `llm_envs` environments."""

from importlib import import_module
from typing import Any

__all__ = ["ChatHarness", "SuiteEnv", "SuiteTaskset"]  # verifiers finds a plugin's parts by its package's name


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("llm_envs_bench.exports.verifiers"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""Multi-agent LLM tasks as PettingZoo AEC environments with text spaces.

    from llm_envs import plan_path_v0
    env = plan_path_v0.env()

or `pettingzoo.make("aec", "llm_envs/plan_path-v0")` after `import llm_envs`.
"""

import importlib
from types import ModuleType
from typing import Any

from llm_envs.registry import MODULES, make, register_all

__version__ = "0.1.0"
__all__ = ["__version__", "fork", "make"]

register_all()


def __getattr__(name: str) -> Any:
    """Environment modules and `fork` load on first use, so that `import llm_envs` stays quick."""
    if name == "fork":
        from llm_envs.core.fork import fork

        return fork
    if f"llm_envs.{name}" in MODULES.values():
        module: ModuleType = importlib.import_module(f"llm_envs.{name}")
        return module
    raise AttributeError(f"module 'llm_envs' has no attribute {name!r}")

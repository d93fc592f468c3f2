"""The environments by id. Only names are listed here; a module is imported when one of its environments is made.

Any distribution adds an environment by an entry point: its id, and the module that holds `env` and `parallel_env`.

    [project.entry-points."llm_envs.environments"]
    my_env-v0 = "my_env_v0"
"""

import importlib
import logging
from importlib.metadata import entry_points
from typing import Any

import pettingzoo

from llm_envs.core.errors import unknown_choice

logger = logging.getLogger(__name__)

GROUP = "llm_envs.environments"
MODULES = {
    "llm_envs/code-v0": "llm_envs.code_v0",
    "llm_envs/math-v0": "llm_envs.math_v0",
    "llm_envs/plan_path-v0": "llm_envs.plan_path_v0",
    "llm_envs/sokoban-v0": "llm_envs.sokoban_v0",
    "llm_envs/sudoku-v0": "llm_envs.sudoku_v0",
}
# PettingZoo's games in words; making one needs the extra `classic`.
CLASSICS = {
    "llm_envs/chess-v0": "llm_envs.classic.chess_v0",
    "llm_envs/connect_four-v0": "llm_envs.classic.connect_four_v0",
    "llm_envs/hanabi-v0": "llm_envs.classic.hanabi_v0",
    "llm_envs/leduc_holdem-v0": "llm_envs.classic.leduc_holdem_v0",
    "llm_envs/rps-v0": "llm_envs.classic.rps_v0",
    "llm_envs/texas_holdem-v0": "llm_envs.classic.texas_holdem_v0",
    "llm_envs/tictactoe-v0": "llm_envs.classic.tictactoe_v0",
}
ENVIRONMENTS = MODULES | CLASSICS


def environments() -> dict[str, str]:
    """Id -> module of every environment, those of other distributions last; nothing is imported."""
    offered = sorted(entry_points(group=GROUP), key=lambda entry: entry.name)
    return ENVIRONMENTS | {entry.name: entry.module for entry in offered if entry.name not in ENVIRONMENTS}


def register_all() -> None:
    """Enter the ids into PettingZoo's registries; ids already there are left alone, so importing twice is harmless.

    An id of another distribution that PettingZoo refuses is left out with a warning: it must not keep ours away.
    """
    from pettingzoo.env_registry.exceptions import PettingZooRegistryError
    from pettingzoo.env_registry.registration import aec_registry, parallel_registry, register

    for env_id, module in environments().items():
        try:
            if env_id not in aec_registry:
                register("aec", env_id, entry_point=f"{module}:env")
            if env_id not in parallel_registry:
                register("parallel", env_id, entry_point=f"{module}:parallel_env")
        except PettingZooRegistryError as error:
            logger.warning("the entry point %s = %s of the group %s is left out: %s", env_id, module, GROUP, error)


def normalise_id(name: str) -> str:
    """`plan_path_v0`, `plan_path-v0` and `llm_envs/plan_path-v0` all name the same environment.

    A name without a namespace is one of ours where we have it, else another distribution's where it registered one.
    """
    if "/" in name:
        return name
    stem, mark, version = name.rpartition("_v")
    bare = f"{stem}-v{version}" if mark and version.isdigit() else name
    ours = f"llm_envs/{bare}"
    return bare if ours not in ENVIRONMENTS and bare in pettingzoo.aec_registry else ours


def make(name: str, **options: Any) -> Any:
    """Make an environment by id; ids that others registered with PettingZoo go to `pettingzoo.make`.

    Raises:
        UsageError: an id or an option that does not exist, with the nearest one that does.
        ImportError: the environment's module, or an extra that it needs, is not installed.
    """
    env_id = normalise_id(name)
    modules = ENVIRONMENTS if env_id in ENVIRONMENTS else environments()
    if env_id in modules:
        return importlib.import_module(modules[env_id]).env(**options)
    if env_id not in pettingzoo.aec_registry:
        raise unknown_choice("env", env_id, modules)
    return pettingzoo.make("aec", env_id, **options)

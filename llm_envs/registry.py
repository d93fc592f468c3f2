"""The environments by id. Only names are listed here; a module is imported when one of its environments is made."""

import importlib
from typing import Any

import pettingzoo

from llm_envs.core.errors import unknown_choice

MODULES = {
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


def register_all() -> None:
    """Enter the ids into PettingZoo's registries; ids already there are left alone, so importing twice is harmless."""
    from pettingzoo.env_registry.registration import aec_registry, parallel_registry, register

    for env_id, module in ENVIRONMENTS.items():
        if env_id not in aec_registry:
            register("aec", env_id, entry_point=f"{module}:env")
        if env_id not in parallel_registry:
            register("parallel", env_id, entry_point=f"{module}:parallel_env")


def normalise_id(name: str) -> str:
    """`plan_path_v0`, `plan_path-v0` and `llm_envs/plan_path-v0` all name the same environment."""
    if "/" in name:
        return name
    stem, mark, version = name.rpartition("_v")
    return f"llm_envs/{stem}-v{version}" if mark and version.isdigit() else f"llm_envs/{name}"


def make(name: str, **options: Any) -> Any:
    """Make an environment by id; ids of other packages go to `pettingzoo.make`.

    Raises:
        UsageError: an id or an option that does not exist, with the nearest one that does.
        ImportError: the environment needs an extra that is not installed.
    """
    env_id = normalise_id(name)
    if env_id in ENVIRONMENTS:
        return importlib.import_module(ENVIRONMENTS[env_id]).env(**options)
    from pettingzoo.env_registry.registration import aec_registry

    if env_id not in aec_registry:
        raise unknown_choice("env", env_id, ENVIRONMENTS)
    return pettingzoo.make("aec", env_id, **options)

"""`llm-envs list`: the environments."""

import argparse
import importlib

from rich import box
from rich.console import Console
from rich.table import Table

from llm_envs.core.roles import role_of
from llm_envs.registry import MODULES, make

HELP = "list the environments"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """None."""


def run(args: argparse.Namespace) -> int:  # noqa: ARG001  # the protocol's signature
    """Print id, roles and summary of every environment."""
    table = Table(box=box.SIMPLE)
    for heading in ("id", "roles", "about"):
        table.add_column(heading, no_wrap=heading != "about")
    for env_id, module in MODULES.items():
        roles = dict.fromkeys(role_of(agent) for agent in make(env_id).possible_agents)
        summary = (importlib.import_module(module).__doc__ or "").partition("\n")[0]
        table.add_row(env_id, ", ".join(roles), summary)
    Console().print(table)
    return 0

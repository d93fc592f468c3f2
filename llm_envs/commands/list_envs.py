"""`llm-envs list`: the environments."""

import argparse
import importlib

from llm_envs.commands.arguments import make_env
from llm_envs.commands.output import print_table
from llm_envs.core.errors import UsageError
from llm_envs.core.roles import role_of
from llm_envs.registry import environments

HELP = "list the environments"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """None."""


def run(args: argparse.Namespace) -> int:  # noqa: ARG001  # the protocol's signature
    """Print id, roles and summary of every environment, those of other distributions among them."""
    rows: list[tuple[str, str, str]] = []
    for env_id, module in environments().items():
        try:
            roles = ", ".join(dict.fromkeys(role_of(agent) for agent in make_env(env_id, {}).possible_agents))
        except UsageError:
            roles = "needs an extra"  # which one, `show` says
        rows.append((env_id, roles, _about(module)))
    print_table(("id", "roles", "about"), rows)
    return 0


def _about(module: str) -> str:
    """The first line of the module's page."""
    try:
        return (importlib.import_module(module).__doc__ or "").partition("\n")[0]
    except ImportError as error:  # one distribution's fault must not hide the others' environments
        return f"can't be imported: {error}"

"""Subcommands of the `llm-envs` script.

A command is a module or object with the three names of `Command`. Any distribution adds one by an entry point:

    [project.entry-points."llm_envs.commands"]
    eval = "my_package.commands.evaluate"
"""

import argparse
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol

from llm_envs.core.errors import UsageError, unknown_choice

GROUP = "llm_envs.commands"


class Command(Protocol):
    """A subcommand. `HELP` is one line for the overview; the exit status that `run` returns is the script's."""

    HELP: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the command's arguments."""
        ...

    def run(self, args: argparse.Namespace) -> int:
        """Do it; `UsageError` for what the user can mend."""
        ...


def installed_commands() -> dict[str, EntryPoint]:
    """Command name -> where it is, from all installed distributions; nothing is imported yet.

    Raises:
        UsageError: no distribution offers one, since the package was not installed but only put on the path.
    """
    found = {entry.name: entry for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name)}
    if not found:
        raise UsageError("no commands are installed: run `pip install -e .` (or `pip install llm-envs`) first.")
    return found


def load_command(name: str) -> Command:
    """Import one command.

    Raises:
        UsageError: no such command, or one whose libraries are not installed.
    """
    commands = installed_commands()
    if name not in commands:
        raise unknown_choice("command", name, commands)
    try:
        command: Command = commands[name].load()
    except ImportError as error:
        raise UsageError(f"command {name!r} can't be loaded ({error}): install the extra that brings it.") from error
    return command

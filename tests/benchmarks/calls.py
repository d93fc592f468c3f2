"""Commands as the `llm-envs` script calls them, in this process."""

import argparse
import tomllib
from importlib import import_module

from tests.architecture.paths import ROOT

ENTRY_POINTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["llm_envs.commands"]


def call(command: str, *arguments: object) -> int:
    """What the script does once it has found the command."""
    module = import_module(ENTRY_POINTS[command])
    parser = argparse.ArgumentParser(prog=f"llm-envs {command}", description=module.HELP)
    module.add_arguments(parser)
    return int(module.run(parser.parse_args([str(argument) for argument in arguments])))

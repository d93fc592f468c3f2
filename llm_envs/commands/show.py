"""`llm-envs show ENV`: an environment's page and what its agents see."""

import argparse
import importlib

from rich.console import Console
from rich.markdown import Markdown

from llm_envs.commands.arguments import add_env, add_instance, env_options, make_env
from llm_envs.registry import environments, normalise_id

HELP = "show an environment's page and what its agents see first"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which environment, which instance."""
    add_env(parser)
    add_instance(parser)


def run(args: argparse.Namespace) -> int:
    """Print the page, then the first observation of each agent."""
    env = make_env(args.env, env_options(args.set))
    module = environments().get(normalise_id(args.env))  # None for an id that was registered with PettingZoo only
    page = (importlib.import_module(module).__doc__ if module else None) or f"{env} has no page here."
    console = Console()
    console.print(Markdown(page)) if console.is_terminal else print(page)
    wanted = {"split": args.split, "index": 0 if args.index is None and args.seed is None else args.index}
    env.reset(seed=args.seed, options={key: value for key, value in wanted.items() if value is not None})
    for agent in env.agents:
        print(f"--- what {agent} sees first\n{env.observe(agent)}")
    return 0

"""`llm-envs new NAME`: a small environment of one's own to start from."""

import argparse
from pathlib import Path

from llm_envs.scaffold import scaffold

HELP = "write a small environment of your own to start from"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its name and where to put it."""
    parser.add_argument("name", metavar="NAME", help="words of a-z and digits joined by underscores, e.g. my_env")
    parser.add_argument("--dir", type=Path, default=Path(), metavar="DIR", help="where its folder is made (default: .)")


def run(args: argparse.Namespace) -> int:
    """Write it, and say what to do next."""
    files = scaffold(args.name, args.dir)
    print("\n".join(map(str, files)))
    print(
        f"\nA working environment. Change {files[0].name} part by part, and let its test say what is missing:\n"
        f"  pip install -e '{files[0].parent}[test]'\n"
        f"  python -m pytest {files[1]}\n"
        f"  llm-envs play {args.name}_v0 --role guesser=human"
    )
    return 0

"""`llm-envs report`: runs side by side in one table."""

import argparse
from pathlib import Path

from llm_envs_bench.metrics import summarise
from llm_envs_bench.report import leaderboard, output_console
from llm_envs_bench.store import load_run

HELP = "compare runs in a table"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which runs, which form."""
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="folder written by llm-envs eval")
    parser.add_argument("--markdown", action="store_true", help="print the table as markdown")


def run(args: argparse.Namespace) -> int:
    """Print the table."""
    runs = [load_run(folder) for folder in args.runs]
    grid = leaderboard([summarise(one) for one in runs])
    if args.markdown:
        print(grid.to_markdown(), end="")
    else:
        games = dict.fromkeys(f"{one.spec.env}, {one.spec.split} split" for one in runs)
        output_console().print(grid.to_rich("; ".join(games)))
    return 0

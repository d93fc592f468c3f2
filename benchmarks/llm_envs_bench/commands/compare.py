"""`llm-envs compare`: two runs on the same instances, and whether they differ."""

import argparse
from pathlib import Path

from llm_envs_bench.compare import compare_runs, comparison_table, overall, verdict
from llm_envs_bench.report import output_console
from llm_envs_bench.store import load_plan, load_runs

HELP = "compare two runs instance by instance"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which runs, which form."""
    parser.add_argument("first", type=Path, metavar="A", help="folder written by llm-envs eval")
    parser.add_argument("second", type=Path, metavar="B", help="another of the same suite or environment")
    parser.add_argument("--markdown", action="store_true", help="print the table as markdown")


def run(args: argparse.Namespace) -> int:
    """Print the comparison and what it comes to."""
    folders = (args.first, args.second)
    comparisons = compare_runs(*map(load_runs, folders))
    labels = [load_plan(folder).label for folder in folders]
    if labels[0] == labels[1]:
        labels = [f"{label} ({folder.name})" for label, folder in zip(labels, folders, strict=True)]
    grid = comparison_table(comparisons, (labels[0], labels[1]))
    if args.markdown:
        print(grid.to_markdown(), end="")
    else:
        output_console().print(grid.to_rich("Paired by instance, with 95% intervals"))
        print(f"{verdict(overall(comparisons))}.")
    return 0

"""`llm-envs demo-compare`: the demo's team beside a shared adapter and a single agent."""

import argparse
import shlex
from pathlib import Path

from rich.console import Console

from llm_envs_bench.commands.demo import add_common, say_how_to_go_on
from llm_envs_bench.demo_compare import comparison_table, reference_page, run_variants
from llm_envs_bench.report import output_console
from llm_envs_bench.training import TrainingError

HELP = "compare the demo's team with a shared adapter and a single agent"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How much, and where the results go."""
    parser.add_argument(
        "--out", type=Path, default=Path("runs/demo-compare"), metavar="DIR", help="default: runs/demo-compare"
    )
    add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Train three times and compare; 1 if some instance is owed, the trainer's status if it fails."""
    console, progress = output_console(), Console(stderr=True)
    try:
        results = run_variants(args.out, args.set, instances=args.instances, seed=args.seed, console=progress)
    except TrainingError as failure:
        say_how_to_go_on(failure, progress)
        return failure.status
    page = args.out / "table.md"
    page.write_text(reference_page(results, command=_command(args)), encoding="utf-8")
    console.print(comparison_table(results).to_rich("test split, one episode an instance, temperature 1"))
    console.print(f"table: {page}", markup=False, highlight=False, soft_wrap=True)
    return 1 if any(one.owed for result in results for one in result.runs.values()) else 0


def _command(args: argparse.Namespace) -> str:
    """The command as it would be typed, without its output folder."""
    words = ["llm-envs", "demo-compare", "--seed", str(args.seed), "--instances", str(args.instances)]
    for text in args.set:
        words += ["--set", text]
    return shlex.join(words)

"""`llm-envs view`: a page that replays episodes turn by turn, one run or two side by side."""

import argparse
from pathlib import Path

from llm_envs.core.errors import UsageError
from llm_envs_bench.plan import RunPlan
from llm_envs_bench.store import load_plan, load_runs
from llm_envs_bench.viewer import EPISODES, write_page

HELP = "write an HTML page that replays the episodes of a run"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which runs, how much of them, where the page goes."""
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="one run, or two of the same instances")
    parser.add_argument("--out", type=Path, default=Path("page.html"), metavar="FILE", help="default: page.html")
    parser.add_argument(
        "--label", action="append", default=[], metavar="TEXT", help="name of a run, one each, in order"
    )
    parser.add_argument("--title", metavar="TEXT", help="heading of the page")
    parser.add_argument(
        "--episodes",
        type=int,
        default=EPISODES,
        metavar="N",
        help=f"shown at most (default: {EPISODES}; what fits into 30 MB)",
    )


def run(args: argparse.Namespace) -> int:
    """Write the page and say where it is."""
    plans = [load_plan(folder) for folder in args.runs]
    if args.label and len(args.label) != len(plans):
        raise UsageError(f"label={args.label}: must be one for each of the {len(plans)} runs, in their order.")
    labels = args.label or [plan.label for plan in plans]
    if len(set(labels)) < len(labels):
        labels = [f"{label} ({folder.name})" for label, folder in zip(labels, args.runs, strict=True)]
    named = {label: load_runs(folder) for label, folder in zip(labels, args.runs, strict=True)}
    write_page(args.out, named, title=args.title or _title(plans[0]), episodes=args.episodes)
    print(args.out)
    return 0


def _title(plan: RunPlan) -> str:
    """The suite's name, or the game's: `llm_envs/plan_path-v0` -> `Plan path`."""
    name = plan.suite or plan.specs[0].env.rpartition("/")[2].rpartition("-")[0]
    return name.replace("_", " ").capitalize()

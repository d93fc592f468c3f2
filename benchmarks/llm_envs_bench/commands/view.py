"""`llm-envs view`: a page that replays episodes turn by turn, one run or two side by side."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from llm_envs.core.errors import UsageError, whole_number
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
    whole_number("episodes", args.episodes, least=1)
    plans = [load_plan(folder) for folder in args.runs]
    if args.label and len(args.label) != len(plans):
        raise UsageError(f"label={args.label}: must be one for each of the {len(plans)} runs, in their order.")
    labels = _told_apart(args.label or [plan.label for plan in plans], args.runs)
    named = {label: load_runs(folder) for label, folder in zip(labels, args.runs, strict=True)}
    write_page(args.out, named, title=args.title or _title(plans[0]), episodes=args.episodes)
    print(args.out)
    return 0


def _told_apart(labels: Sequence[str], folders: Sequence[Path]) -> Sequence[str]:
    """The labels of runs, with their folders where they are the same.

    Raises:
        UsageError: a run that is named twice.
    """
    if len(set(labels)) == len(labels):
        return labels
    names = [folder.name for folder in folders]
    if len(set(names)) < len(names):
        names = [str(folder) for folder in folders]
    if len(set(names)) < len(names):
        raise UsageError(f"runs={names}: must be different ones; name each once.")
    return [f"{label} ({name})" for label, name in zip(labels, names, strict=True)]


def _title(plan: RunPlan) -> str:
    """The suite's name, or the game's: `llm_envs/plan_path-v0` -> `Plan path`."""
    name = plan.suite or plan.specs[0].env.rpartition("/")[2].rpartition("-")[0]
    return name.replace("_", " ").capitalize()

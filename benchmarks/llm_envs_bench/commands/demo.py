"""`llm-envs demo`: train two roles, compare them before and after, leave a table, a curve and a page."""

import argparse
from pathlib import Path

from rich.console import Console

from llm_envs_bench.demo import SPLIT, Clock, comparison_rows, evaluate_rows, table, write_results
from llm_envs_bench.report import output_console
from llm_envs_bench.training import TrainingError, train

INTERRUPTED = 130  # 128 + SIGINT, as the trainer and shells report it
HELP = "train a team and compare it before and after"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to train, how much to evaluate, where the results go."""
    parser.add_argument("--config", default="tiny_cpu", metavar="NAME", help="of the trainer (default: tiny_cpu)")
    parser.add_argument("--out", type=Path, default=Path("runs/demo"), metavar="DIR", help="default: runs/demo")
    add_common(parser)


def add_common(parser: argparse.ArgumentParser) -> None:
    """What `demo` and `demo-compare` share."""
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of training and evaluation (default: 0)")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="SECTION.KEY=VALUE",
        help="a value of the configuration, e.g. optim.steps=3",
    )
    parser.add_argument("--instances", type=int, default=200, metavar="N", help="held-out instances (default: 200)")


def say_how_to_go_on(failure: TrainingError, console: Console) -> None:
    """After an interruption; what else can end the trainer it has explained itself."""
    if failure.status == INTERRUPTED:
        console.print("Or the same command again, which also evaluates once the training is done.")


def run(args: argparse.Namespace) -> int:
    """Train and compare; 1 if some instance is owed, the trainer's status if it fails."""
    console, progress, clock = output_console(), Console(stderr=True), Clock()
    try:
        with clock.time("training"):
            trained = train(args.config, args.out / "train", [f"run.seed={args.seed}", *args.set])
    except TrainingError as failure:
        say_how_to_go_on(failure, progress)
        return failure.status
    with clock.time("evaluation"):
        runs = evaluate_rows(
            trained,
            comparison_rows(trained),
            args.out / "eval",
            instances=args.instances,
            seed=args.seed,
            console=progress,
        )
    files = write_results(args.out, trained, runs, clock.seconds)
    console.print(table(runs).to_rich(f"{trained.env}, {SPLIT} split, one episode an instance, temperature 1"))
    for name, path in files.items():
        console.print(f"{name + ':':<16}{path}", markup=False, highlight=False, soft_wrap=True)
    owed = sum(one.owed for one in runs.values())
    if owed:
        console.print(f"{owed} episodes are owed since infrastructure failed; run the same command again.")
    return 1 if owed else 0

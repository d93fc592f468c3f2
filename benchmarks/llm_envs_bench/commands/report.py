"""`llm-envs report`: the numbers of runs, beside what reference players reach."""

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from llm_envs.core.errors import UsageError
from llm_envs_bench.ablation import Losses, load_ablations, role_losses
from llm_envs_bench.costs import RoleCost
from llm_envs_bench.grid import Grid
from llm_envs_bench.metrics import Estimators, Summary
from llm_envs_bench.prices import read_prices
from llm_envs_bench.references import references_for
from llm_envs_bench.report import cost_table, leaderboard, loss_table, output_console, suite_table
from llm_envs_bench.report_csv import to_csv
from llm_envs_bench.report_plots import write_plots
from llm_envs_bench.standing import Standing, load_standing
from llm_envs_bench.stats import bootstrap
from llm_envs_bench.store import load_runs

HELP = "print the numbers of runs as tables, CSV or LaTeX, and draw them"
FORMATS = ("table", "markdown", "csv", "latex", "json")
STANDARD, BOOTSTRAP = "standard", "bootstrap"
INSTANT_S = 0.05  # seconds of a reply below which nobody waited for it
Titled = tuple[str, Grid]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which runs, which form."""
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="folder written by llm-envs eval")
    parser.add_argument(
        "--format", choices=FORMATS, default="table", help="csv holds every number; json is one run (default: table)"
    )
    parser.add_argument("--plots", type=Path, metavar="DIR", help="also draw success and pass@k into this folder")
    parser.add_argument("--prices", type=Path, metavar="FILE", help="prices of models, for costs (see llm-envs eval)")
    parser.add_argument("--no-references", action="store_true", help="without the committed results of the same suite")
    parser.add_argument(
        "--intervals",
        choices=(STANDARD, BOOTSTRAP),
        default=STANDARD,
        help="of success and return: Wilson and t, clustered by instance, or drawn instances (default: standard)",
    )
    parser.add_argument("--seed", type=int, metavar="N", help="of the drawn instances (default: 0)")


def run(args: argparse.Namespace) -> int:
    """Print the numbers."""
    prices = None if args.prices is None else read_prices(args.prices)
    standings = [load_standing(folder, prices=prices, by=_estimators(args)) for folder in args.runs]
    if prices is not None and not any(
        cost.money for one in standings for row in one.summaries for cost in row.costs.values()
    ):
        raise UsageError(f"prices={str(args.prices)!r}: no agent of these runs has a price there and counted tokens.")
    references = [] if args.no_references or args.format == "json" else references_for(standings)
    if args.format == "json":
        if len(standings) > 1:
            raise UsageError(f"runs={len(standings)}: --format json writes one run; csv holds several.")
        print(standings[0].to_json(), end="")
    elif args.format == "csv":
        print(to_csv([*standings, *references]), end="")
    else:
        losses = [found for folder in args.runs for found in _losses(folder)]
        _print_tables(args.format, tables(standings, references, losses))
    if args.plots is not None:
        write_plots(args.plots, standings, references)
    return 0


def tables(
    standings: Sequence[Standing], references: Sequence[Standing], losses: Sequence[Losses] = ()
) -> Iterator[Titled]:
    """Title and table: the score where there are several entries, each entry, costs, and whose loss it is."""
    entries = list(dict.fromkeys(summary.entry for one in standings for summary in one.summaries))
    suites = dict.fromkeys(one.suite for one in standings if one.suite)
    if len(entries) > 1:
        yield (
            f"{', '.join(suites) or 'All entries'}: success on each entry, and its average",
            suite_table(standings, references),
        )
    for entry in entries:
        yield entry, leaderboard(_on(standings, entry), _on(references, entry))
    timed = [summary for one in standings for summary in one.summaries if any(map(_took, summary.costs.values()))]
    if timed:
        yield "What an episode took", cost_table(timed)
    if losses:
        yield "Whose loss it is", loss_table(losses)


def _print_tables(form: str, titled: Iterator[Titled]) -> None:
    console = output_console()
    for place, (title, grid) in enumerate(titled):
        if form == "table":
            console.print(grid.to_rich(title))
        elif form == "latex":
            print(grid.to_latex(title), end="")
        else:
            print(f"{'' if place == 0 else chr(10)}**{title}**\n\n{grid.to_markdown()}", end="")


def _on(standings: Sequence[Standing], entry: str) -> list[Summary]:
    return [summary for one in standings for summary in one.summaries if summary.entry == entry]


def _took(cost: RoleCost) -> bool:
    """Whether it is worth a line; reference players take nothing."""
    return cost.prompt_tokens is not None or cost.slow_seconds >= INSTANT_S


def _losses(folder: Path) -> list[Losses]:
    ablations = load_ablations(folder)
    found = (role_losses(one, ablations) for one in load_runs(folder)) if ablations else ()
    return [one for one in found if one is not None]


def _estimators(args: argparse.Namespace) -> Estimators:
    if args.intervals == STANDARD:
        if args.seed is not None:
            raise UsageError(f"seed={args.seed}: only --intervals bootstrap draws anything; leave it out.")
        return Estimators()
    drawn = partial(bootstrap, seed=args.seed or 0)
    return Estimators(rate=drawn, mean=drawn)

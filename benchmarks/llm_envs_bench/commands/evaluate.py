"""`llm-envs eval`: play agents on a suite or an environment and say how often they succeed."""

import argparse
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial

from rich.console import Console

from llm_envs.core.errors import require
from llm_envs_bench.ablation import FOLDER, ablated_plans
from llm_envs_bench.agents import build_casts
from llm_envs_bench.attempts import count_events
from llm_envs_bench.budget import Spending
from llm_envs_bench.dry_run import print_forecast
from llm_envs_bench.evaluate_options import (
    add_limits,
    add_what,
    add_who,
    asking_of,
    folder_of,
    is_human,
    limits_of,
    plan_of,
)
from llm_envs_bench.grid import ENTRY, Grid
from llm_envs_bench.metrics import summarise
from llm_envs_bench.plan import RunPlan
from llm_envs_bench.progress import follow
from llm_envs_bench.report import leaderboard, output_console, percent, percent_interval
from llm_envs_bench.runner import Observer, Watch, play_run, unwatched
from llm_envs_bench.standing import Standing
from llm_envs_bench.store import FAILURES, Run, is_run, load_runs

HELP = "evaluate agents on a suite or an environment"
EXITS = "exit status: 0 everything has a score, 1 something is owed, 2 wrong usage, 3 success is below --fail-under"
OK, RUN_ERROR, BELOW = 0, 1, 3
SHOWN_FAILURES = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What is played by whom, within which limits, and what is to be said about it."""
    add_what(parser)
    add_who(parser)
    add_limits(parser)
    parser.add_argument("--dry-run", action="store_true", help="show the first prompts and what the run would take")
    parser.add_argument("--ablate-roles", action="store_true", help="also play each role by the oracle and at random")
    parser.add_argument("--fail-under", type=float, metavar="SHARE", help="exit with 3 if success is below (0 to 1)")
    parser.epilog = EXITS


def run(args: argparse.Namespace) -> int:
    """Evaluate; the exit status is explained in `EXITS`."""
    require(args.fail_under is None or 0 <= args.fail_under <= 1, "fail_under", args.fail_under, "a number from 0 to 1")
    plan, console = plan_of(args), output_console()
    limits, asking, out = limits_of(args, plan), asking_of(args, plan), folder_of(args, plan)
    if args.dry_run:
        build_casts(plan, asking)  # whether they can be used is told here, too
        print_forecast(plan, limits.prices, console)
        return OK
    plans = {out: plan}
    if args.ablate_roles:
        plans |= {out / FOLDER / name: other for name, other in ablated_plans(plan).items()}
    spending = Spending(limits.budget, plan, limits.prices)
    stopped = ""
    for folder, other in plans.items():
        watch: Watch = unwatched if is_human(plan) else partial(_follow, other.label, Console(stderr=True))
        stopped = stopped or play_run(
            other, folder, asking=asking, limits=limits, spending=spending, resume=args.resume, watch=watch
        )
    standing = _standing(plan, load_runs(out))
    if standing.summaries:
        _print_table(plan, standing, console)
    owed = _print_troubles([one for folder in plans if is_run(folder) for one in load_runs(folder)], stopped, console)
    console.print(f"run: {out}", markup=False, highlight=False, soft_wrap=True)
    if owed or stopped:
        return RUN_ERROR
    return BELOW if args.fail_under is not None and standing.score.value < args.fail_under else OK


def _standing(plan: RunPlan, runs: Sequence[Run]) -> Standing:
    """The numbers of the entries that have any."""
    summaries = tuple(summarise(one, plan.label) for one in runs if one.episodes)
    return Standing(plan.label, plan.suite, plan.suite_hash, max(spec.samples for spec in plan.specs), summaries)


def _follow(label: str, console: Console, owed: int) -> AbstractContextManager[Observer]:
    return follow(label, owed, console)


def _print_table(plan: RunPlan, standing: Standing, console: Console) -> None:
    if len(plan.specs) == 1:
        (spec,) = plan.specs
        title = f"{spec.env}, {spec.split} split, {spec.instances} instances"
        console.print(leaderboard(standing.summaries).to_rich(title))
        return
    table = leaderboard([replace(summary, label=summary.entry) for summary in standing.summaries])
    rows = Grid((ENTRY, *table.header[1:]), table.rows)
    console.print(rows.to_rich(f"{plan.suite}, {plan.label}"))
    score = standing.score
    console.print(
        f"score, the average of the entries: {percent(score)} (95%: {percent_interval(score)})", highlight=False
    )


def _print_troubles(runs: Sequence[Run], stopped: str, console: Console) -> int:
    """Say what went wrong and what to do; the number of episodes that are owed."""

    def say(text: str) -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    failures = [(one.folder, failure) for one in runs for failure in one.failures]
    for _, failure in failures[:SHOWN_FAILURES]:
        say(f"{failure.id} is owed: {failure.error}")
    if len(failures) > SHOWN_FAILURES:
        files = ", ".join(dict.fromkeys(str(folder / FAILURES) for folder, _ in failures))
        say(f"{len(failures) - SHOWN_FAILURES} more failed; {files} has them all.")
    if events := count_events(attempt for one in runs for attempt in one.attempts):
        say("endpoint and models: " + ", ".join(f"{name} {count}" for name, count in events.items()))
    if stopped:
        say(f"stopped: {stopped}")
    owed = sum(one.owed for one in runs)
    if owed:
        say(f"{owed} episodes are owed; play them with --resume.")
    return owed

"""`llm-envs eval`: play agents on a suite or an environment and say how often they succeed."""

import argparse
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path

from rich.console import Console

from llm_envs.core.errors import require
from llm_envs_bench.ablation import FOLDER, ablated_plans
from llm_envs_bench.agents import Asking, build_casts
from llm_envs_bench.attempts import count_events
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
from llm_envs_bench.runner import Limits, Observer, Watch, play_run, unwatched
from llm_envs_bench.standing import Standing
from llm_envs_bench.store import FAILURES, Run, load_runs

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
    limits, asking, out = limits_of(args, plan), asking_of(args), folder_of(args, plan)
    if args.dry_run:
        build_casts(plan, asking)  # whether they can be used is told here, too
        print_forecast(plan, limits.prices, console)
        return OK
    plans = {out: plan}
    if args.ablate_roles:
        plans |= {out / FOLDER / name: other for name, other in ablated_plans(plan).items()}
    stopped = ""
    for folder, other in plans.items():
        stopped = stopped or _play(other, folder, limits, asking, resume=args.resume)
    runs = load_runs(out)
    scored = [one for one in runs if one.episodes]
    if scored:
        summaries = tuple(summarise(one, plan.label) for one in scored)
        samples = max(spec.samples for spec in plan.specs)
        standing = Standing(plan.label, plan.suite, plan.suite_hash, samples, summaries)
        _print_table(plan, standing, console)
    owed = _print_troubles(runs, stopped, out, console)
    if owed or not scored:
        return RUN_ERROR
    return BELOW if args.fail_under is not None and standing.score.value < args.fail_under else OK


def _play(plan: RunPlan, out: Path, limits: Limits, asking: Asking, *, resume: bool) -> str:
    progress = Console(stderr=True)
    watch: Watch = unwatched if is_human(plan) else partial(_follow, plan.label, progress)
    return play_run(plan, out, asking=asking, limits=limits, resume=resume, watch=watch)


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


def _print_troubles(runs: Sequence[Run], stopped: str, out: Path, console: Console) -> int:
    """Say what went wrong and what to do; the number of episodes that are owed."""

    def say(text: str) -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    failures = [failure for one in runs for failure in one.failures]
    for failure in failures[:SHOWN_FAILURES]:
        say(f"{failure.id} is owed: {failure.error}")
    if len(failures) > SHOWN_FAILURES:
        say(f"{len(failures) - SHOWN_FAILURES} more failed; {out / FAILURES} has them all.")
    if events := count_events(attempt for one in runs for attempt in one.attempts):
        say("endpoint and models: " + ", ".join(f"{name} {count}" for name, count in events.items()))
    if stopped:
        say(f"stopped: {stopped}")
    owed = sum(one.owed for one in runs)
    if owed:
        say(f"{owed} episodes are owed; play them with --resume.")
    say(f"run: {out}")
    return owed

"""`llm-envs eval`: play an agent on the instances of an environment and say how often it succeeds."""

import argparse
from pathlib import Path

from rich.console import Console

from llm_envs.commands.arguments import env_options, pairs
from llm_envs.core.task import Split
from llm_envs_bench.agents import plan_run
from llm_envs_bench.metrics import summarise
from llm_envs_bench.progress import follow
from llm_envs_bench.report import leaderboard, output_console
from llm_envs_bench.runner import evaluate
from llm_envs_bench.spec import Sampling

HELP = "evaluate an agent on an environment"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to play, who plays, where the result goes."""
    parser.add_argument("--env", required=True, metavar="ID", help="environment, e.g. plan_path_v0")
    parser.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE", help="option of the environment")
    parser.add_argument(
        "--split", default="test", choices=[split.value for split in Split], help="instances to play (default: test)"
    )
    parser.add_argument("--instances", type=int, default=200, metavar="N", help="how many (default: 200)")
    parser.add_argument("--first", type=int, default=0, metavar="INDEX", help="index of the first (default: 0)")
    parser.add_argument(
        "--agent",
        metavar="AGENT",
        help="who plays every role that --role does not name: a reference player (oracle, greedy, random, …), "
        "checkpoint:FOLDER or openai:MODEL@URL",
    )
    parser.add_argument("--role", action="append", default=[], metavar="ROLE=AGENT", help="who plays one role")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="run folder, e.g. runs/oracle")
    parser.add_argument("--resume", action="store_true", help="go on with the run in --out, playing only what it owes")
    parser.add_argument("--seed", type=int, default=0, help="of every chance that is not the model's server's")
    parser.add_argument("--concurrency", type=int, default=32, metavar="N", help="episodes at once (default: 32)")
    parser.add_argument("--temperature", type=float, metavar="T", help="of models (default: the agent's own)")
    parser.add_argument("--max-tokens", type=int, metavar="N", help="most tokens of a model's reply")


def run(args: argparse.Namespace) -> int:
    """Evaluate; 0 if every instance has a score, 1 if some are owed."""
    spec = plan_run(
        args.env,
        args.agent,
        pairs("role", args.role),
        options=env_options(args.set),
        split=args.split,
        first=args.first,
        instances=args.instances,
        seed=args.seed,
        sampling=Sampling(args.temperature, args.max_tokens),
    )
    progress = Console(stderr=True)
    result = evaluate(
        spec,
        args.out,
        concurrency=args.concurrency,
        resume=args.resume,
        watch=lambda owed: follow(spec.label, owed, progress),
    )
    console = output_console()
    for failure in result.failures:
        console.print(f"instance {failure.index} is owed: {failure.error}", markup=False, soft_wrap=True)
    if result.episodes:
        title = f"{spec.env}, {spec.split} split, {len(result.episodes)} instances"
        console.print(leaderboard([summarise(result)]).to_rich(title))
    if result.owed:
        console.print(f"{result.owed} instances are owed; play them with --resume.", markup=False)
    return 1 if result.owed else 0

"""The options of `llm-envs eval`, and the plan and limits that they come to."""

import argparse
import re
from pathlib import Path

from llm_envs.commands.arguments import env_options, pairs
from llm_envs.core.errors import UsageError
from llm_envs.core.task import Split
from llm_envs_bench.agents import Asking, plan_run
from llm_envs_bench.agents.names import OPENAI, agent_name
from llm_envs_bench.agents.references import HUMAN
from llm_envs_bench.agents.retries import Patience
from llm_envs_bench.budget import Budget
from llm_envs_bench.plan import RunPlan
from llm_envs_bench.prices import read_prices
from llm_envs_bench.runner import Limits
from llm_envs_bench.spec import Sampling
from llm_envs_bench.suites import load_suite, plan_suite

INSTANCES = 200  # of an environment that is named
ONLY_ENV = ("set", "split", "first")  # a suite has its own


def add_what(parser: argparse.ArgumentParser) -> None:
    """What is played, and where the results go."""
    group = parser.add_argument_group("what is played")
    what = group.add_mutually_exclusive_group(required=True)
    what.add_argument("--suite", metavar="NAME", help="a frozen suite (`llm-envs suites` lists them), or its file")
    what.add_argument("--env", metavar="ID", help="one environment, e.g. plan_path_v0")
    group.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE", help="option of the environment")
    group.add_argument("--split", choices=[split.value for split in Split], help="of the environment (default: test)")
    group.add_argument("--first", type=int, metavar="INDEX", help="first instance of the environment (default: 0)")
    group.add_argument(
        "--instances",
        type=int,
        metavar="N",
        help=f"how many (default: {INSTANCES} of an environment, all of a suite's; fewer of a suite: the first ones)",
    )
    group.add_argument(
        "--samples", type=int, metavar="N", help="episodes of each instance (default: 1, or the suite's)"
    )
    group.add_argument("--out", type=Path, metavar="DIR", help="run folder (default: runs/<suite>-<agents>)")
    group.add_argument("--resume", action="store_true", help="go on with the run in --out, playing only what it owes")


def add_who(parser: argparse.ArgumentParser) -> None:
    """Who plays, and how models are asked."""
    group = parser.add_argument_group("who plays")
    group.add_argument(
        "--agent",
        metavar="AGENT",
        help="every role that --role does not name: oracle, greedy, random, human, MODEL@URL, a folder of the "
        "trainer's, command:PROGRAM or python:MODULE:FACTORY",
    )
    group.add_argument("--model", metavar="M", help="the same, for a model at --base-url (or OpenAI's)")
    group.add_argument("--base-url", metavar="URL", help="an OpenAI-compatible endpoint, e.g. http://localhost:8000/v1")
    group.add_argument("--role", action="append", default=[], metavar="ROLE=AGENT", help="who plays one role")
    group.add_argument(
        "--key-env",
        action="append",
        default=[],
        metavar="[ROLE=]VARIABLE",
        help="environment variable with the endpoint's key (default: OPENAI_API_KEY)",
    )
    group.add_argument("--seed", type=int, default=0, help="of every chance that is not the model's server's")
    group.add_argument("--temperature", type=float, metavar="T", help="of models (default: the agent's own)")
    group.add_argument("--reply-tokens", type=int, metavar="N", help="most tokens of a served model's reply")


def add_limits(parser: argparse.ArgumentParser) -> None:
    """How much at once and in all."""
    group = parser.add_argument_group("limits")
    group.add_argument("--concurrency", type=int, default=32, metavar="N", help="episodes at once (default: 32)")
    group.add_argument(
        "--retries", type=int, default=5, metavar="N", help="after 429, 5xx, lost connections (default: 5)"
    )
    group.add_argument("--timeout", type=float, default=120.0, metavar="S", help="seconds for a reply (default: 120)")
    group.add_argument("--max-tokens", type=int, metavar="N", help="stop when so many are used, over all resumptions")
    group.add_argument("--max-cost", type=float, metavar="X", help="stop when so much is spent, by --prices")
    group.add_argument("--max-minutes", type=float, metavar="M", help="stop after so many minutes")
    group.add_argument("--prices", type=Path, metavar="FILE", help="what a million tokens cost, as TOML")


def plan_of(args: argparse.Namespace) -> RunPlan:
    """What is asked for.

    Raises:
        UsageError: options that don't go together, or a suite, environment, role or agent that does not exist.
    """
    everyone = _everyone(args)
    by_role = pairs("role", args.role)
    rest = {"seed": args.seed, "sampling": Sampling(args.temperature, args.reply_tokens)}
    if args.suite is not None:
        for name in ONLY_ENV:
            if getattr(args, name) not in (None, []):
                raise UsageError(f"--{name}: belongs to --env; a suite has its own. Leave it out.")
        return plan_suite(
            load_suite(args.suite), everyone, by_role, samples=args.samples, instances=args.instances, **rest
        )
    spec = plan_run(
        args.env,
        everyone,
        by_role,
        options=env_options(args.set),
        split=args.split or Split.TEST.value,
        first=args.first or 0,
        instances=INSTANCES if args.instances is None else args.instances,
        samples=1 if args.samples is None else args.samples,
        **rest,
    )
    return RunPlan((spec,))


def _everyone(args: argparse.Namespace) -> str | None:
    if args.model is None:
        if args.base_url is not None:
            raise UsageError(f"--base-url {args.base_url}: needs --model, the model's name there.")
        return str(args.agent) if args.agent is not None else None
    if args.agent is not None:
        raise UsageError("--model: plays what --agent would play; give one of the two.")
    return agent_name(OPENAI + args.model + (f"@{args.base_url}" if args.base_url else ""))


def asking_of(args: argparse.Namespace, plan: RunPlan) -> Asking:
    """How agents outside this process are asked.

    Raises:
        UsageError: a key for a role that no served model plays.
    """
    variables = dict(text.split("=", 1) if "=" in text else ("", text) for text in args.key_env)
    served = {role for spec in plan.specs for role, agent in spec.agents.items() if agent.startswith(OPENAI)}
    for role in variables:
        if role not in served and (role or not served):
            raise UsageError(f"--key-env {role}: no served model plays {role or 'any role'}; leave it out.")
    return Asking(Patience(args.retries, args.timeout), variables)


def is_human(plan: RunPlan) -> bool:
    """Whether a person at the terminal plays."""
    return any(agent == HUMAN for spec in plan.specs for agent in spec.agents.values())


def limits_of(args: argparse.Namespace, plan: RunPlan) -> Limits:
    """How much at once and in all; a person plays one episode at a time."""
    return Limits(
        1 if is_human(plan) else args.concurrency,
        Budget(args.max_tokens, args.max_cost, args.max_minutes),
        {} if args.prices is None else read_prices(args.prices),
    )


def folder_of(args: argparse.Namespace, plan: RunPlan) -> Path:
    """`--out`, or a name made of what is played by whom."""
    if args.out is not None:
        return Path(args.out)
    name = plan.suite or plan.specs[0].entry
    return Path("runs") / f"{name}-{re.sub(r'[^A-Za-z0-9.=-]+', '_', plan.label)[:80].strip('_')}"

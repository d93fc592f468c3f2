"""`llm-envs suites`: what the frozen suites hold; freezes one of your own."""

import argparse
from pathlib import Path

from llm_envs_bench.report import output_console
from llm_envs_bench.suites import load_suite, suite_names
from llm_envs_bench.suites.freeze import freeze

HELP = "list the frozen suites, or freeze one of your own"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which suite to show, or to freeze."""
    parser.add_argument("suite", nargs="?", metavar="SUITE", help="show the entries of this one")
    parser.add_argument(
        "--freeze",
        type=Path,
        metavar="FILE",
        help="fill in the digests of a suite's file (see llm_envs_bench.suites.suite)",
    )


def run(args: argparse.Namespace) -> int:
    """Print a line for each suite, or for each entry of one."""
    console = output_console()
    if args.freeze is not None:
        suite = freeze(args.freeze)
        lines = [f"{args.freeze}: {suite.episodes} episodes, hash {suite.hash[:12]}"]
    elif args.suite is not None:
        lines = _entries(args.suite)
    else:
        suites = [load_suite(name) for name in suite_names()]
        lines = [f"{one.name:<14} {one.episodes:>5} episodes  {one.hash[:12]}  {one.about}" for one in suites]
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    return 0


def _entries(name: str) -> list[str]:
    suite = load_suite(name)
    lines = [f"{suite.name}: {suite.about} (hash {suite.hash[:12]})"]
    for entry in suite.entries:
        options = " ".join(f"{key}={value}" for key, value in entry.options.items())
        last = entry.first + entry.instances - 1
        lines.append(
            f"  {entry.name:<22} {entry.env}, {entry.split} {entry.first}-{last}, {entry.samples} each  {options}"
        )
    return lines

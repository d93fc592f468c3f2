"""`llm-envs rescore`: grade the recorded replies of a run anew."""

import argparse
from pathlib import Path

from llm_envs.core.errors import UsageError
from llm_envs_bench.rescore import Changes, rescore

HELP = "grade the recorded replies of a run with the environments as they are now"
SHOWN = 10  # ids of one kind
MEANINGS = {
    "gained": "solved now and not before",
    "lost": "not solved any more",
    "repaid": "other returns, solved or not as before",
    "diverged": "an agent would see something else now; the score is that of its old replies",
    "shorter": "ended before all replies were used",
    "owed": "could not be played to the end, and have no score",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which run, and where the new one goes."""
    parser.add_argument("run", type=Path, metavar="RUN", help="folder written by llm-envs eval")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder of the new run (default: RUN-rescored)")


def run(args: argparse.Namespace) -> int:
    """Write the new run and say what has changed; 1 if an episode lost its score."""
    out = args.out or args.run.with_name(args.run.name + "-rescored")
    if out.exists():
        raise UsageError(f"out={str(out)!r}: exists; name a new folder with --out.")
    changes = rescore(args.run, out)
    print(describe(changes))
    print(out)
    return 1 if changes.owed else 0


def describe(changes: Changes) -> str:
    """How many episodes changed in which way, and which."""
    lines = []
    for name, meaning in MEANINGS.items():
        if ids := sorted(getattr(changes, name)):
            more = f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
            lines.append(f"{len(ids)} {name} ({meaning}): {', '.join(ids[:SHOWN])}{more}")
    return "\n".join(lines) or "nothing changed"

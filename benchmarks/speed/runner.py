"""What the benchmark suite's runner adds to the episodes that it plays.

- Episodes of Plan-Path alone, without programs: planned, played 32 at a time, stored and read again, beside a bare loop
  of the same episodes. The aim is 300 a second.
- Episodes with one program each, beside the sandbox alone with as many calls in flight. The aim is 70% of its rate.
- Resident memory while 10,000 episodes are played.

Wall time, since programs run in other processes. The oracle plays; every episode must be solved and every program end
well before anything is timed.

    python benchmarks/speed/runner.py [--markdown] [--rounds 5] [--episodes 400] [--memory 10000]
"""

import argparse

from harness.runs import compare_runs, memory_growth
from harness.timing import machine, table


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each arm")
    parser.add_argument("--episodes", type=int, default=400, help="episodes a turn")
    parser.add_argument("--memory", type=int, default=10_000, help="episodes of the look at the memory")
    options = parser.parse_args()
    rows = compare_runs(options.rounds, options.episodes)
    print(f"{machine()}\n\n{table(rows, markdown=options.markdown)}\n")
    print(memory_growth(options.memory))


if __name__ == "__main__":
    main()

"""What judging costs: programs a second in each cage, and answers a second, beside what people do without them.

- Programs: small distinct ones, one test each, in every cage that works here, beside a `python -I` for each and a
  hardened container for each (Docker's SDK). Wall time, since the work is in other processes; as many at once as cores.
- One program with 20 inputs, in one call beside 20 calls: trivial code, and code that takes 50 ms to compile.
- 2,000 calls in flight on one event loop, which must answer all the while.
- Answers in the forms in which models give the numbers of GSM8K, beside math-verify in a pool of as many processes.

Before anything is timed, every arm gives the same verdict on each of a table of programs, and our verdicts on answers
are math-verify's wherever that calls an answer right. Starting cages and workers is not timed. Docker's rows need an
engine and an image with Python (`DOCKER_HOST`, `LLM_ENVS_SANDBOX_IMAGE`).

    python benchmarks/speed/judge.py [--markdown] [--turns 7]
"""

import argparse
from contextlib import ExitStack

from harness.answers import compare_answers
from harness.cages import cages, compare_inputs, compare_programs, in_flight
from harness.timing import machine, table


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--turns", type=int, default=7, help="turns of each arm")
    options = parser.parse_args()
    with ExitStack() as stack:
        ours, plain = cages(stack)
        rows = compare_programs(ours, plain, options.turns)
        rows += [row for cage in ours for row in compare_inputs(cage, options.turns)]
        flights = [in_flight(cage) for cage in ours]
    rows += compare_answers(options.turns)
    print(f"{machine()}\n\n{table(rows, markdown=options.markdown)}\n")
    print("\n".join(flights))


if __name__ == "__main__":
    main()

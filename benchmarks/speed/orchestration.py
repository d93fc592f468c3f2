"""What the client of a rollout server costs, and what streaming hides.

- A sampled turn (prompt, request, fork, step, group, record) with 8 to 4,096 episodes in flight, by a scripted model:
  CPU time, in units of the turn with 8 in flight. It must stay within 1.2.
- Requests through the real sampler, routed between two endpoints over kept connections to a server in another process
  that says the same to everyone, its answers parsed and checked: requests a CPU second of the client, for several
  sizes of an answer. The first one must reach 5,000.
- The share of the shorter of rollouts and training that goes on behind the other one, where both are made equally long
  by waiting: with a server, where micro-batches are streamed, beside the sampler in the trainer's own process, where
  they take turns. It must reach 80%.

    python benchmarks/speed/orchestration.py [--markdown] [--rounds 5]
"""

import argparse
import logging
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

from harness.in_flight import compare_in_flight
from harness.null_server import Shape, requests_a_cpu_second
from harness.overlap import hidden_share
from harness.timing import machine, table

IN_FLIGHT = (8, 64, 512, 4096)
SHAPES = (Shape(64, 1, 1), Shape(64, 4, 16), Shape(512, 4, 128))


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each arm")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    rows = compare_in_flight(IN_FLIGHT, options.rounds)
    print(f"{machine()}\n\n{table(rows, markdown=options.markdown)}\n")
    for shape in SHAPES:
        figure = requests_a_cpu_second(shape, options.rounds)
        print(
            f"requests with {shape.prompt} tokens, answered by {shape.siblings} x {shape.tokens}: "
            f"{figure:,.0f} a CPU second of the client"
        )
    for what, backend in (("a server", "vllm"), ("this process", "transformers")):
        times = hidden_share(backend)
        print(
            f"sampling in {what}: rollouts {times['rollout']:.1f} s, training {times['train']:.1f} s, waited "
            f"{times['wait']:.1f} s; {times['hidden_share']:.0%} of the shorter one is hidden"
        )


if __name__ == "__main__":
    main()

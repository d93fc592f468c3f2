"""What turns, forks, resets and instances cost: beside an environment in which nothing happens, and beside peers.

A turn is `last()`, the prompt built and its length taken, an answer of three moves or placements parsed, and `step()`,
on the environment without wrappers, with two agents. The floor, `harness.null_env.NullEnv`, has a constant observation
and the bookkeeping that PettingZoo asks of every `step`. Beside peers a turn has one move, since that is what theirs
take. Peers of the generators and solvers of Sudoku and Sokoban are in `sudoku.py` and `sokoban.py`.

The work is checked before anything is timed: every answer is valid and changes the state; forks go on alike and leave
their original alone; both arms of a game play the same puzzle to its solution; every path of either arm is a shortest
one, says another search. Arms take turns, ratios are of medians, and no instance is timed twice.

    python benchmarks/speed/envs.py [--peers PYTHON] [--markdown] [--rounds 60]
"""

import argparse
from contextlib import closing

from harness.beside_null import compare_with_null
from harness.beside_reasoning_gym import compare_paths
from harness.beside_textarena import compare_games
from harness.peers import add_peers, start_worker
from harness.timing import machine, table


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_peers(parser)
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--rounds", type=int, default=60, help="turns of each arm")
    options = parser.parse_args()
    rows = compare_with_null(options.rounds)
    for program, compare in (("textarena_games.py", compare_games), ("shortest_paths.py", compare_paths)):
        worker = start_worker(options.peers, program)
        if worker is not None:
            with closing(worker):
                rows += compare(worker, options.rounds)
    print(f"{machine()}\n\n{table(rows, markdown=options.markdown)}")


if __name__ == "__main__":
    main()

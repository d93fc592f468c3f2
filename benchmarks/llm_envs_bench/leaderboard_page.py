"""The page that lists the committed results: `python -m llm_envs_bench.leaderboard_page > docs/leaderboard.md`."""

import sys
from collections.abc import Sequence
from itertools import groupby

from llm_envs_bench.references import Reference, committed
from llm_envs_bench.report import leaderboard, suite_table
from llm_envs_bench.suites import load_suite

HEAD = """# Leaderboard

What reference players and trained models reach on the suites, beside which your agent stands. Success is the share of
episodes solved. The score of a suite is the average of its entries. Intervals are 95%, see
[statistics.md](statistics.md).

`random` makes legal moves without looking, `greedy` does what looks best at once. `oracle` knows a solution and is the
ceiling; its optimality gap is that of the solutions that rooms are made with. `demo_v0` shows what training is worth:
the demo's team before and after, and with one role trained only. The planner's training solves instances; the tool's
shows in its return and in the quality of its programs. A shared adapter and a single agent stand beside it in
[demo-compare.md](../benchmarks/llm_envs_bench/results/demo-compare.md).

```bash
llm-envs eval --suite core_v0 --agent your-model@http://localhost:8000/v1 --samples 4 --out runs/mine
llm-envs report runs/mine                  # with the rows of this page below yours
llm-envs report runs/mine --format json    # what is kept in benchmarks/llm_envs_bench/results
```

This page is generated from `benchmarks/llm_envs_bench/results` by `python -m llm_envs_bench.leaderboard_page`.
"""

# What must be done before the agents of a suite's results exist.
TRAINING = {
    "demo_v0": (
        "# Minutes on a core or two. Other machines, versions or threads give other weights and numbers near these.",
        "OMP_NUM_THREADS=1 llm-envs demo --config tiny_cpu --seed 0 --out runs/demo",
    )
}


def leaderboard_page(references: Sequence[Reference]) -> str:
    """The page in markdown: for each suite a table of scores, the commands, and a table for each entry."""
    by_suite = groupby(sorted(references, key=_suite), key=_suite)
    return HEAD + "".join(_section(suite, list(found)) for suite, found in by_suite)


def _suite(reference: Reference) -> str:
    return reference.standing.suite


def _section(suite: str, references: list[Reference]) -> str:
    ranked = sorted(references, key=lambda one: -one.standing.score.value)
    standings, about = [one.standing for one in ranked], load_suite(suite).about
    commands = "\n".join([*TRAINING.get(suite, ()), *map(_command, ranked)])
    parts = [
        f"\n## {suite}\n\n{about[:1].upper()}{about[1:]} (hash `{standings[0].suite_hash[:12]}`).\n",
        suite_table(standings).to_markdown(),
        f"```bash\n{commands}\n```\n",
    ]
    for entry in dict.fromkeys(summary.entry for one in standings for summary in one.summaries):
        rows = [summary for one in standings for summary in one.summaries if summary.entry == entry]
        parts.append(f"### {entry}\n\n{leaderboard(rows).to_markdown()}")
    return "\n".join(parts)


def _command(reference: Reference) -> str:
    standing = reference.standing
    who = " ".join(f"--{'role' if '=' in one else 'agent'} {one}" for one in reference.players.split(", "))
    samples = "" if standing.samples == 1 else f" --samples {standing.samples}"
    return f"llm-envs eval --suite {standing.suite} {who}{samples} --out runs/{reference.name.replace(' ', '_')}"


if __name__ == "__main__":
    sys.stdout.write(leaderboard_page(committed()))

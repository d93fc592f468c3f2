"""The page that lists the committed results: `python -m llm_envs_bench.leaderboard_page > docs/leaderboard.md`."""

import sys
from collections.abc import Sequence
from itertools import groupby

from llm_envs_bench.references import committed
from llm_envs_bench.report import leaderboard, suite_table
from llm_envs_bench.standing import Standing
from llm_envs_bench.suites import load_suite

HEAD = """# Leaderboard

What reference players reach on the suites, beside which your agent stands. Success is the share of episodes solved. The
score of a suite is the average of its entries. Intervals are 95%, see [statistics.md](statistics.md).

`random` makes legal moves without looking, `greedy` does what looks best at once. `oracle` knows a solution and is the
ceiling; its optimality gap is that of the solutions that rooms are made with. A trained team of tiny models on one easy
environment stands in [demo-compare.md](../benchmarks/llm_envs_bench/results/demo-compare.md).

```bash
llm-envs eval --suite core_v0 --agent your-model@http://localhost:8000/v1 --samples 4 --out runs/mine
llm-envs report runs/mine                  # with the rows of this page below yours
llm-envs report runs/mine --format json    # what is kept in benchmarks/llm_envs_bench/results
```

This page is generated from `benchmarks/llm_envs_bench/results` by `python -m llm_envs_bench.leaderboard_page`.
"""


def leaderboard_page(standings: Sequence[Standing]) -> str:
    """The page in markdown: for each suite a table of scores, the commands, and a table for each entry."""
    by_suite = groupby(sorted(standings, key=lambda one: one.suite), key=lambda one: one.suite)
    return HEAD + "".join(_section(suite, list(found)) for suite, found in by_suite)


def _section(suite: str, standings: list[Standing]) -> str:
    ranked = sorted(standings, key=lambda one: -one.score.value)
    commands = "\n".join(_command(one) for one in ranked)
    parts = [
        f"\n## {suite}\n\n{load_suite(suite).about.capitalize()}. Hash `{ranked[0].suite_hash[:12]}`.\n",
        suite_table(ranked).to_markdown(),
        f"```bash\n{commands}\n```\n",
    ]
    for entry in dict.fromkeys(summary.entry for one in ranked for summary in one.summaries):
        rows = [summary for one in ranked for summary in one.summaries if summary.entry == entry]
        parts.append(f"### {entry}\n\n{leaderboard(rows).to_markdown()}")
    return "\n".join(parts)


def _command(standing: Standing) -> str:
    samples = "" if standing.samples == 1 else f" --samples {standing.samples}"
    return f"llm-envs eval --suite {standing.suite} --agent {standing.label}{samples} --out runs/{standing.label}"


if __name__ == "__main__":
    sys.stdout.write(leaderboard_page(committed()))

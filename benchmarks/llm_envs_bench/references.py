"""Committed results: what reference players and trained models reach on the suites, and the page that lists them.

`results/<suite>/<name>.json` is what `llm-envs report --format json` writes. A result counts only for the very suite
that it was made with, told by its hash.
"""

from collections.abc import Iterable
from pathlib import Path

from llm_envs_bench.standing import Standing

RESULTS = Path(__file__).parent / "results"


def committed() -> list[Standing]:
    """All committed results, by suite and name."""
    return [Standing.from_json(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob("*/*.json"))]


def references_for(standings: Iterable[Standing]) -> list[Standing]:
    """The committed results of the suite that all of these runs played; none where they differ, or named no suite."""
    played = {(standing.suite, standing.suite_hash) for standing in standings}
    return [one for one in committed() if one.suite and played == {(one.suite, one.suite_hash)}]

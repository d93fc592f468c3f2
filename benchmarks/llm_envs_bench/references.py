"""Committed results: what reference players and trained models reach on the suites, and the page that lists them.

`results/<suite>/<name>.json` is what `llm-envs report --format json` writes. A result counts only for the very suite
that it was made with, told by its hash.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from llm_envs_bench.standing import Standing

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, slots=True)
class Reference:
    """A committed result.

    Attributes:
        name: what tables call it; its file's, with blanks.
        players: who played, as the label of a run says it: one agent, or `role=agent` where they differ.
        standing: the numbers, under the name.
    """

    name: str
    players: str
    standing: Standing

    @classmethod
    def read(cls, path: Path) -> Self:
        """From its file; `UsageError` for one that holds no result."""
        name, found = path.stem.replace("_", " "), Standing.from_json(path.read_text(encoding="utf-8"))
        summaries = tuple(replace(summary, label=name) for summary in found.summaries)
        return cls(name, found.label, replace(found, label=name, summaries=summaries))


def committed() -> list[Reference]:
    """All committed results, by suite and name."""
    return [Reference.read(path) for path in sorted(RESULTS.glob("*/*.json"))]


def references_for(standings: Iterable[Standing]) -> list[Standing]:
    """The committed results of the suite that all of these runs played; none where they differ, or named no suite."""
    played = {(standing.suite, standing.suite_hash) for standing in standings}
    found = [one.standing for one in committed()]
    return [one for one in found if one.suite and played == {(one.suite, one.suite_hash)}]

"""The tables of `docs/math_judging.md`."""

import re
from dataclasses import dataclass

from llm_envs.math.judging import Verdict
from tests.architecture.paths import ROOT

PAGE = ROOT / "docs" / "math_judging.md"
_ROW = re.compile(r"\| `(?P<gold>.+?)` \| `(?P<answer>.+?)` \| (?P<verdict>\w+) \| (?P<why>.+?) \|")


@dataclass(frozen=True)
class Row:
    """What the page promises of one answer."""

    gold: str
    answer: str
    verdict: Verdict
    why: str


def rows(heading: str) -> list[Row]:
    """The rows of the table under a heading; a line of the table that is no row fails here."""
    section = PAGE.read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    found = [_ROW.fullmatch(line) for line in lines]
    assert lines
    assert None not in found, [line for line, match in zip(lines, found, strict=True) if match is None]
    return [Row(m["gold"], m["answer"], Verdict(m["verdict"]), m["why"]) for m in found if m is not None]


@dataclass(frozen=True)
class Work:
    """What the page says of an answer that has the right value."""

    question: str
    gold: str
    answer: str
    done: bool


_WORK = re.compile(r"\| `(?P<question>.+?)` \| `(?P<gold>.+?)` \| `(?P<answer>.+?)` \| (?P<done>yes|no) \|")


def work_rows() -> list[Work]:
    """The rows of the table of what is worked out."""
    section = PAGE.read_text().partition("\n## What is not worked out\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    found = [_WORK.fullmatch(line) for line in lines]
    assert lines
    assert None not in found, [line for line, match in zip(lines, found, strict=True) if match is None]
    return [Work(m["question"], m["gold"], m["answer"], m["done"] == "yes") for m in found if m is not None]

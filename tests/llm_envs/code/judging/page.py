"""The tables of `docs/code_judging.md`."""

import re

from tests.architecture.paths import ROOT

PAGE = ROOT / "docs" / "code_judging.md"


def rows(heading: str) -> list[list[str]]:
    """The cells of the table below a heading, without their backticks."""
    section = PAGE.read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    return [[re.sub(r"^`(.*)`$", r"\1", cell) for cell in row] for row in cells]

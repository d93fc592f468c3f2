"""A table before it has a form, and the forms that it can take."""

import re
from dataclasses import dataclass

from rich import box
from rich.console import Console, JustifyMethod
from rich.table import Table

AGENT, ROLE, ENTRY = "agent", "role", "entry"
TEXTS = {AGENT, ROLE, ENTRY}  # columns that read from the left; numbers stand on the right
FILE_WIDTH = 160  # columns where no terminal limits them
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "−": "$-$",
    "–": "--",
    **{character: "\\" + character for character in "&%$#_{}"},
}


def output_console() -> Console:
    """Standard output; in a file or pipe wide enough that no table is folded."""
    console = Console()
    return console if console.is_terminal else Console(width=FILE_WIDTH)


@dataclass(frozen=True, slots=True)
class Grid:
    """A table. A cell may have several lines.

    Attributes:
        references: how many of the last rows are there to compare with.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    references: int = 0

    def to_rich(self, title: str) -> Table:
        """For the terminal."""
        table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE)
        table.padding = (0, 1, 0, 0)
        for name in self.header:
            if name == AGENT:
                table.add_column(name, min_width=10, overflow="fold")
            else:
                justify: JustifyMethod = "left" if name in TEXTS else "right"
                table.add_column(name.replace(" ", "\n"), justify=justify, no_wrap=True)
        for place, row in enumerate(self.rows, 1):
            table.add_row(*row, end_section=place == len(self.rows) - self.references)
        return table

    def to_markdown(self) -> str:
        """GitHub-flavoured."""
        rule = tuple("---" if name in TEXTS else "---:" for name in self.header)
        lines = (self.header, rule, *self.rows)
        return "".join("| " + " | ".join(_markdown_cell(cell) for cell in line) + " |\n" for line in lines)

    def to_latex(self, caption: str) -> str:
        """A table that needs the packages booktabs and makecell; a rule sets the references apart."""
        columns = "".join("l" if name in TEXTS else "r" for name in self.header)
        lines = [_latex_row(row, columns) for row in self.rows]
        if 0 < self.references < len(lines):
            lines.insert(len(lines) - self.references, "\\midrule")
        return "\n".join(
            [
                "\\begin{table}",
                "\\centering",
                f"\\caption{{{_latex(caption)}}}",
                f"\\begin{{tabular}}{{{columns}}}",
                "\\toprule",
                _latex_row(self.header, columns),
                "\\midrule",
                *lines,
                "\\bottomrule",
                "\\end{tabular}",
                "\\end{table}\n",
            ]
        )


def _markdown_cell(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", "<br>")


def _latex_row(row: tuple[str, ...], columns: str) -> str:
    return " & ".join(_latex_cell(cell, place) for cell, place in zip(row, columns, strict=True)) + r" \\"


def _latex_cell(cell: str, place: str) -> str:
    lines = [_latex(line) for line in cell.split("\n")]
    if len(lines) == 1:
        return lines[0]
    return f"\\makecell[{place}]{{" + r" \\ ".join(lines) + "}"


def _latex(text: str) -> str:
    return re.sub(r"[\\~^±−–×&%$#_{}]", lambda found: _LATEX[found[0]], text)

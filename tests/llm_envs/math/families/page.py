"""The page that lists all families. `python -m tests.llm_envs.math.families.page` writes it anew."""

from llm_envs.math.families.base import Family
from llm_envs.math.families.generator import LEAST_QUESTIONS
from llm_envs.math.families.table import FAMILIES
from tests.architecture.paths import ROOT

PAGE = ROOT / "docs" / "math_families.md"
INTRODUCTION = f"""\
# Families of generated mathematics questions

Each family needs another idea. Its questions differ in numbers, wording and level; every one has an exact answer and
comes with a program that finds the answer in another way. Each family has at least {LEAST_QUESTIONS} different
questions at each level, not counting wordings. "Levels" says what those of levels 1 / 2 / 3 are like.

| family | topic | idea | levels | form of the answer |
|---|---|---|---|---|
"""


def page() -> str:
    """The whole page."""
    return INTRODUCTION + "".join(f"{_row(family)}\n" for family in FAMILIES.values())


def _row(family: Family) -> str:
    topic = family.topic.replace("_", " ")
    return f"| `{family.name}` | {topic} | {family.idea} | {' / '.join(family.levels)} | {_code(family.form)} |"


def _code(form: str) -> str:
    r"""The form with its LaTeX, which begins at the first backslash, as code."""
    words, backslash, latex = form.partition("\\")
    return f"{words}`{backslash}{latex}`" if backslash else words


def main() -> None:
    """Write the page."""
    PAGE.write_text(page())


if __name__ == "__main__":
    main()

"""The page that lists all families. `python -m tests.llm_envs.code.families.page` writes it anew."""

import random

from llm_envs.code.families.base import LEVELS, Family
from llm_envs.code.families.table import FAMILIES
from llm_envs.code.families.values import to_stdin
from tests.architecture.paths import ROOT

PAGE = ROOT / "docs" / "code_families.md"
DRAWS = 200  # on which the dials are measured
INTRODUCTION = f"""\
# Families of generated programming problems

Each family asks for another algorithm. Its problems differ in parameters, inputs and size; every problem comes with a
reference program and with mutants, the reference with one plausible mistake each. Parameters and the length of an
input (characters of its text, the longest of {DRAWS} draws) are those of levels 1 / 2 / 3.

| family | idea | parameters | input | mistakes of its mutants |
|---|---|---|---|---|
"""


def page() -> str:
    """The whole page."""
    return INTRODUCTION + "".join(f"{_row(family)}\n" for family in FAMILIES.values())


def _row(family: Family) -> str:
    dials = [_dials(family, level) for level in LEVELS]
    names = dials[0][0]
    parameters = "; ".join(f"{name} {' / '.join(dial[0][name] for dial in dials)}" for name in names)
    longest = " / ".join(str(dial[1]) for dial in dials)
    mistakes = "; ".join(mutant.mistake for mutant in family.mutants)
    return f"| `{family.name}` | {family.idea} | {parameters} | {longest} | {mistakes} |".replace("  ", " ")


def _dials(family: Family, level: int) -> tuple[dict[str, str], int]:
    """The parameters as ranges, and the characters of the longest input."""
    rng = random.Random(f"{family.name}:{level}")
    kinds = tuple(argument.kind for argument in family.arguments)
    seen: dict[str, set[int | str | bool]] = {}
    longest = 0
    for _ in range(DRAWS):
        parameters = family.parameters(rng, level)
        for name, value in parameters.items():
            seen.setdefault(name, set()).add(value)
        longest = max(longest, len(to_stdin(kinds, family.draw(rng, level, parameters))))
    return {name: _range(values) for name, values in seen.items()}, longest


def _range(values: set[int | str | bool]) -> str:
    if all(isinstance(value, bool) for value in values) or any(isinstance(value, str) for value in values):
        return ", ".join(sorted(str(value).lower() for value in values))
    least, *_, most = [*sorted(values), max(values)]  # type: ignore[type-var]
    return f"{least}" if least == most else f"{least} to {most}"


def main() -> None:
    """Write the page."""
    PAGE.write_text(page())


if __name__ == "__main__":
    main()

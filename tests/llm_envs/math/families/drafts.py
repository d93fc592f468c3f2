"""What the tests of the families share: questions drawn from one family, and programs taken apart."""

import ast
import random
from typing import Any, NamedTuple

from llm_envs.math.families.base import LEVELS, Draft, Family


class Parts(NamedTuple):
    """A program as the numbers of its question and the way it deals with them."""

    numbers: dict[str, Any]
    body: str


def take_apart(program: str) -> Parts:
    """The assignments up to the first empty line, and the rest."""
    head, _, body = program.partition("\n\n")
    statements = [line for line in ast.parse(head).body if isinstance(line, ast.Assign)]
    names = [target.id for line in statements for target in line.targets if isinstance(target, ast.Name)]
    return Parts(dict(zip(names, [ast.literal_eval(line.value) for line in statements], strict=True)), body)


def put_together(parts: Parts) -> str:
    """The program again."""
    return "".join(f"{name} = {value!r}\n" for name, value in parts.numbers.items()) + f"\n{parts.body}"


def drafts(family: Family, level: int, count: int, seed: str = "") -> list[Draft]:
    """Questions of a family, the same ones in every run."""
    rng = random.Random(f"{family.name}:{level}:{seed}")
    return [family.draw(rng, level) for _ in range(count)]


def drafts_of_all_levels(family: Family, count: int, seed: str = "") -> list[Draft]:
    """The same number of each level."""
    return [draft for level in LEVELS for draft in drafts(family, level, count, seed)]


def integers(value: Any) -> set[int]:
    """All whole numbers in a value of a program's head."""
    if isinstance(value, tuple):
        return {number for part in value for number in integers(part)}
    return {value} if isinstance(value, int) else set()

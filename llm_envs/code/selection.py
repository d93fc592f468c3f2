"""Which families problems come from."""

from collections.abc import Sequence

from llm_envs.code.families.table import FAMILIES
from llm_envs.core.errors import require, unknown_choice

Names = str | Sequence[str]


def select_families(families: Names | None) -> tuple[str, ...]:
    """The names of the families that were asked for, in the order of the table; None for all.

    Raises:
        UsageError: a name that does not exist, or no name at all.
    """
    if families is None:
        return tuple(FAMILIES)
    names = (families,) if isinstance(families, str) else families
    require(isinstance(names, Sequence) and len(names) > 0, "families", families, "a name, names, or None for all")
    for name in names:
        if name not in FAMILIES:
            raise unknown_choice("families", name, FAMILIES)
    return tuple(name for name in FAMILIES if name in names)

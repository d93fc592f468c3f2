"""Which families questions come from."""

from collections.abc import Sequence

from llm_envs.core.errors import UsageError, require, unknown_choice
from llm_envs.math.families.base import Topic
from llm_envs.math.families.table import FAMILIES

Names = str | Sequence[str]


def select_families(topics: Names | None, families: Names | None) -> tuple[str, ...]:
    """The names of the families that were asked for, in the order of the table.

    Args:
        topics: one or several topics; None for all.
        families: one or several families; None for all.

    Raises:
        UsageError: a name that does not exist, or no family that is in both.
    """
    within = _names("topics", topics, tuple(Topic))
    named = _names("families", families, tuple(FAMILIES))
    chosen = tuple(name for name, family in FAMILIES.items() if name in named and family.topic in within)
    if not chosen:
        raise UsageError(f"topics={topics!r}, families={families!r}: no family is in both; leave one of them out.")
    return chosen


def _names(option: str, given: Names | None, known: Sequence[str]) -> Sequence[str]:
    if given is None:
        return known
    names = (given,) if isinstance(given, str) else given
    require(isinstance(names, Sequence) and len(names) > 0, option, given, "a name, several names, or None for all")
    for name in names:
        if name not in known:
            raise unknown_choice(option, name, known)
    return names

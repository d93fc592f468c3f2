"""Which families questions come from."""

from llm_envs.core.errors import UsageError
from llm_envs.core.names import Names, chosen_names
from llm_envs.math.families.base import Topic
from llm_envs.math.families.table import FAMILIES


def select_families(topics: Names | None, families: Names | None) -> tuple[str, ...]:
    """The names of the families that were asked for, in the order of the table.

    Args:
        topics: one or several topics; None for all.
        families: one or several families; None for all.

    Raises:
        UsageError: a name that does not exist, or no family that is in both.
    """
    within = chosen_names("topics", topics, Topic)
    named = chosen_names("families", families, FAMILIES)
    chosen = tuple(name for name in named if FAMILIES[name].topic in within)
    if not chosen:
        raise UsageError(f"topics={topics!r}, families={families!r}: no family is in both; leave one of them out.")
    return chosen

"""Options that name some of what there is: one name, several, or none for all."""

from collections.abc import Iterable, Sequence

from llm_envs.core.errors import require, unknown_choice

Names = str | Sequence[str]


def chosen_names(option: str, given: Names | None, known: Iterable[str]) -> tuple[str, ...]:
    """The names that were asked for, in the order of `known`; None asks for all of them.

    Raises:
        UsageError: a name that does not exist, or no name at all.
    """
    known = tuple(known)
    if given is None:
        return known
    names = (given,) if isinstance(given, str) else given
    require(isinstance(names, Sequence) and len(names) > 0, option, given, "a name, several names, or None for all")
    for name in names:
        if name not in known:
            raise unknown_choice(option, name, known)
    return tuple(name for name in known if name in names)

"""The legal actions of a Gymnasium action space in words, with or without a mask."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import Space, spaces

from llm_envs.core.errors import UsageError, require
from llm_envs.wrappers.action_text import Choices, Entry, FreeText, Labels, Numbers, Several, folded

LISTED = 64  # more actions than these, all legal and without names, are described by their range


def choices_of(space: Space[Any], names: Sequence[str] | None = None, mask: Any = None) -> Choices:
    """The actions that a mask leaves of a space.

    Args:
        space: Discrete, MultiDiscrete, MultiBinary, Box, Text, or a Dict or Tuple of such.
        names: the words for the actions of a Discrete space, in their order; by default their numbers.
        mask: in the form that the space's own `sample` takes: for Discrete an array of 0 and 1; for MultiDiscrete a
            tuple of such. For other spaces it must be None.

    Raises:
        UsageError: another kind of space, or names that do not fit it.
    """
    if isinstance(space, spaces.Discrete):
        return _discrete(space, names, mask)
    require(names is None, "action_names", names, f"None: only actions of a Discrete space have names, not of {space}")
    if isinstance(space, spaces.MultiDiscrete):
        return _multi_discrete(space, mask)
    if isinstance(space, spaces.MultiBinary):
        count = int(np.prod(space.shape))
        return Numbers((Entry(0, 1),) * count, space.shape, np.dtype(np.int8))
    if isinstance(space, spaces.Box):
        pairs = zip(space.low.flatten().tolist(), space.high.flatten().tolist(), strict=True)
        return Numbers(tuple(Entry(low, high) for low, high in pairs), space.shape, np.dtype(space.dtype))
    if isinstance(space, spaces.Dict):
        return Several(tuple(choices_of(part) for part in space.spaces.values()), tuple(space.spaces))
    if isinstance(space, spaces.Tuple):
        return Several(tuple(choices_of(part) for part in space.spaces), None)
    if isinstance(space, spaces.Text):
        return FreeText(space.min_length, space.max_length, frozenset(space.character_set))
    raise UsageError(
        f"action space {type(space).__name__}: has no form in words; give textualize() a GameText with a choices()."
    )


def _discrete(space: spaces.Discrete, names: Sequence[str] | None, mask: Any) -> Choices:
    first, count = int(space.start), int(space.n)
    if names is None:
        if mask is None and count > LISTED:
            return Numbers((Entry(first, first + count - 1),), (), np.dtype(np.int64))
        names = [str(first + number) for number in range(count)]
    require(len(names) == count, "action_names", names, f"{count} names, one for each action")
    different = len(set(map(folded, names))) == count
    require(different, "action_names", names, "names that differ in more than case and spacing")
    legal = range(count) if mask is None else np.flatnonzero(mask).tolist()
    return Labels({names[number]: first + number for number in legal}, frozenset(names))


def _multi_discrete(space: spaces.MultiDiscrete, mask: Any) -> Numbers:
    starts, counts = space.start.flatten().tolist(), space.nvec.flatten().tolist()
    masks = [None] * len(counts) if mask is None else list(mask)
    entries = tuple(
        Entry(
            start, start + count - 1, None if part is None else tuple(start + i for i in np.flatnonzero(part).tolist())
        )
        for start, count, part in zip(starts, counts, masks, strict=True)
    )
    return Numbers(entries, space.shape, np.dtype(space.dtype))

"""Draws that are the same in every version of Python: all of them go through `rng.random()`, whose sequence alone is
promised.
"""

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def whole(rng: random.Random, least: int, most: int) -> int:
    """A whole number from `least` to `most`, both included, each as likely."""
    return least + int(rng.random() * (most - least + 1))


def pick(rng: random.Random, items: Sequence[T]) -> T:
    """One of the items, each as likely."""
    return items[int(rng.random() * len(items))]


def sample(rng: random.Random, items: Sequence[T], count: int) -> list[T]:
    """`count` different places of the items, or all of them, in random order (Fisher and Yates)."""
    pool = list(items)
    for place in range(min(count, len(pool))):
        other = place + int(rng.random() * (len(pool) - place))
        pool[place], pool[other] = pool[other], pool[place]
    return pool[:count]


def shuffled(rng: random.Random, items: Sequence[T]) -> list[T]:
    """The items in random order."""
    return sample(rng, items, len(items))

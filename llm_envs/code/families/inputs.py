"""Draws of lists that many families share."""

import random

from llm_envs.code.families.shapes import size, words
from llm_envs.core.draws import whole

LONGEST = (7, 14, 28)  # items of a list, letters of a text, by level


def length(rng: random.Random, level: int, least: int = 0) -> int:
    """How long an input is: long for its level, or as short as a corner case is."""
    return size(rng, level, least, LONGEST)


def numbers(rng: random.Random, count: int, least: int, most: int) -> list[int]:
    """Whole numbers between the bounds."""
    return [whole(rng, least, most) for _ in range(count)]


def word_list(rng: random.Random, count: int, longest: int, letters: str) -> list[str]:
    """Texts of these letters, none of them empty."""
    return [words(rng, letters, whole(rng, 1, longest)) for _ in range(count)]

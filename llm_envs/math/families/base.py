"""What a family of generated questions is."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

LEVELS = (1, 2, 3)  # of difficulty


class Topic(StrEnum):
    """The part of mathematics that a family belongs to."""

    ARITHMETIC = "arithmetic"
    ALGEBRA = "algebra"
    NUMBER_THEORY = "number_theory"
    COUNTING = "counting"
    PROBABILITY = "probability"
    GEOMETRY = "geometry"
    SEQUENCES = "sequences"
    LINEAR_ALGEBRA = "linear_algebra"
    CALCULUS = "calculus"


class Draft(NamedTuple):
    """A question before it has a name; see `llm_envs.math.question.Question`."""

    text: str
    answer: str
    program: str


@dataclass(frozen=True, slots=True)
class Family:
    """Questions that take the same idea, with other numbers and in other words.

    Attributes:
        name: unique, lower case with underscores.
        topic: see `Topic`.
        idea: what one has to know or think of, in one line; no two families share it.
        draw: (rng, level) -> a question. All chance comes from `rng`, through `rng.random()` alone, since only its
            sequence is promised across versions of Python. The answer is exact. The program finds it in another way
            than the family itself (by search, or by simulation with exact fractions), so that each checks the other.
    """

    name: str
    topic: Topic
    idea: str
    draw: Callable[[random.Random, int], Draft]

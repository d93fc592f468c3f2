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


class Form(StrEnum):
    """What an answer looks like, in words that end the sentence "Give the answer as ..."."""

    INTEGER = "an integer"
    FRACTION = "an integer or a fraction in lowest terms"
    DIGITS = "a number written in the base asked for, without the base"
    TRIPLE = "an ordered triple (a, b, c)"
    VECTOR = "a tuple of integers and fractions in lowest terms, such as (1, 1/2)"
    SET = r"a set in braces, such as \{1/2, 3\}"
    INTERVALS = r"an interval, or a union of intervals joined by \cup"
    MATRIX = r"a matrix: \begin{pmatrix} ... \end{pmatrix}, & between columns, \\ between rows"
    SURD = r"an exact value in simplest form: a number, or a number times \sqrt{n}"
    PI = r"an exact multiple of \pi"
    POLYNOMIAL = "a polynomial in x, its coefficients exact"


class Draft(NamedTuple):
    """A question before it has a name; see `llm_envs.math.question.Question`. Its text does not say the form yet."""

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
        form: of the answer at every level.
        levels: what the questions of each level are like, in a few words.
        draw: (rng, level) -> a question. All chance comes from `rng`, through `rng.random()` alone, since only its
            sequence is promised across versions of Python. The answer is exact. The program finds it in another way
            than the family itself (by search, or by simulation with exact fractions), so that each checks the other.
            It holds every number of the question and none of its words: equal programs are the same question.
    """

    name: str
    topic: Topic
    idea: str
    form: Form
    levels: tuple[str, str, str]
    draw: Callable[[random.Random, int], Draft]

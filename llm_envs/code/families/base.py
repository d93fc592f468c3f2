"""What a family of generated programming problems is."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llm_envs.code.families.values import Argument, Kind

LEVELS = (1, 2, 3)  # of difficulty: the size of inputs, and what the statement asks for beyond the plain case


@dataclass(frozen=True, slots=True)
class Mutant:
    """A wrong program, as a plausible mistake in the reference.

    Attributes:
        mistake: what the author got wrong, in a few words.
        old, new: the change. `old` stands exactly once in the source of `solve`; the result compiles and ends on every
            input.
    """

    mistake: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Family:
    """Problems that take the same algorithm, with other inputs, parameters and words.

    Attributes:
        name: unique, lower case with underscores.
        idea: the algorithm that is needed, in one line; no two families share it.
        arguments, result: of `solve`, and how they are written.
        solve: the reference, as a function of the arguments (by position) and the parameters (keyword-only). Its
            source becomes a program: it may use nothing but what it imports or defines inside itself.
        parameters: (rng, level) -> keyword arguments that the statement spells out, each a plain int, str or bool.
            Different values may ask for different results on the same input.
        statement: parameters -> what to compute, in words that leave nothing open (ties, empty inputs, order).
        draw: (rng, level, parameters) -> arguments for one test. Now and then it draws the corner cases in which
            programs go wrong.
        mutants: at least five.
    """

    name: str
    idea: str
    arguments: tuple[Argument, ...]
    result: Kind
    solve: Callable[..., Any]
    parameters: Callable[[random.Random, int], dict[str, Any]]
    statement: Callable[[dict[str, Any]], str]
    draw: Callable[[random.Random, int, dict[str, Any]], tuple[Any, ...]]
    mutants: tuple[Mutant, ...]

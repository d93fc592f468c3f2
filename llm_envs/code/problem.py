"""What a programming problem is, wherever it comes from."""

from dataclasses import dataclass
from enum import StrEnum


class Comparison(StrEnum):
    """When an output counts as the expected one.

    EXACT: character by character, but for blanks at line ends and empty lines at the end.
    TOKENS: the same words in the same order, however they are spaced.
    FLOATS: as TOKENS, where numbers with a point or an exponent may differ by the problem's tolerance.
    UNORDERED: the same lines in any order, each compared as TOKENS.
    CHECKER: the problem's own checker program decides.
    """

    EXACT = "exact"
    TOKENS = "tokens"
    FLOATS = "floats"
    UNORDERED = "unordered"
    CHECKER = "checker"


@dataclass(frozen=True, slots=True)
class Case:
    """One test.

    Attributes:
        stdin: what the program reads; where the problem asks for a function, its arguments, each as JSON on a line.
        expected: what it must print; where the problem asks for a function, its result as JSON. Empty where a checker
            needs none.
    """

    stdin: str
    expected: str


@dataclass(frozen=True, slots=True)
class Problem:
    """A task for a program, and what decides whether a program does it.

    Attributes:
        name: where it comes from: a family, or a data set and the id of its row.
        statement: the task in words, with the format of input and output.
        visible: tests that the roles may see.
        hidden: tests that decide. At least one; never part of an observation.
        reference: a program of the form asked for that passes all of them; empty where none is known.
        mutants: wrong programs of that form, each passing some visible and failing some hidden test.
        entry_point: the function asked for, or None where a program from standard input to standard output is.
        signature: the `def` line of that function, or empty.
        comparison: how outputs are compared. Results of functions are compared as JSON values.
        tolerance: absolute or relative, for numbers that are not whole.
        checker: a trusted program that reads `{"stdin": ..., "expected": ..., "output": ...}` as JSON and accepts by
            exit code 0, refuses by 1; empty without one.
        cpu_s, memory_mb: what a program may take on each test.
    """

    name: str
    statement: str
    visible: tuple[Case, ...]
    hidden: tuple[Case, ...]
    reference: str = ""
    mutants: tuple[str, ...] = ()
    entry_point: str | None = None
    signature: str = ""
    comparison: Comparison = Comparison.TOKENS
    tolerance: float = 1e-6
    checker: str = ""
    cpu_s: float = 2.0
    memory_mb: int = 256

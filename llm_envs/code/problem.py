"""What a programming problem is, wherever it comes from."""

import json
import math
from dataclasses import dataclass
from enum import StrEnum

from llm_envs.code.families.values import Kind
from llm_envs.core.errors import UsageError, require


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
        form: how the arguments are written, as `families.values.Kind` names it; empty where that is not known. An input
            of another form is no test case.
        spare: further tests, few of which find every mutant out. They are neither shown nor decide; a reference tester
            gives them. Empty where none are known.

    Raises:
        UsageError: a problem that can't be judged, such as one without hidden tests: an empty list is passed by all.
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
    spare: tuple[Case, ...] = ()
    form: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require(len(self.hidden) > 0, "Problem.hidden", self.hidden, f"at least one test ({self.name})")
        require(0 <= self.tolerance < math.inf, "Problem.tolerance", self.tolerance, "a finite number >= 0")
        require(0 < self.cpu_s < math.inf, "Problem.cpu_s", self.cpu_s, "seconds above 0")
        require(self.memory_mb >= 1, "Problem.memory_mb", self.memory_mb, "a whole number >= 1")
        if (self.comparison == Comparison.CHECKER) != bool(self.checker):
            raise UsageError(
                f"Problem.checker={self.checker[:60]!r} with comparison={str(self.comparison)!r} ({self.name}): a "
                "checker belongs to the comparison 'checker', and to no other."
            )
        for kind in self.form:
            require(kind in set(Kind), "Problem.form", kind, f"one of {', '.join(Kind)} ({self.name})")
        if self.entry_point is not None:
            name = self.entry_point
            require(name.isidentifier(), "Problem.entry_point", name, "the name of a function, or None for a program")
            for case in (*self.visible, *self.hidden, *self.spare):
                self._require_json(case)

    def _require_json(self, case: Case) -> None:
        """Arguments and result of a function must be JSON, or no program could ever be right."""
        results = [] if self.comparison == Comparison.CHECKER else [case.expected]
        for text in [*filter(None, case.stdin.split("\n")), *results]:
            try:
                json.loads(text)
            except ValueError as error:
                raise UsageError(
                    f"a test of {self.name} holds {text[:60]!r}: must be JSON, since a function is asked for ({error})."
                ) from error

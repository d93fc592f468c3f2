"""What a mathematics question is, wherever it comes from."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Question:
    r"""A question with one right answer.

    Attributes:
        name: where it comes from: a family, or a data set and the id of its row.
        text: the question in words and LaTeX, with all that the form of the answer depends on.
        answer: the right answer in LaTeX, without `\boxed` or `$`. Never part of an observation.
        exact: whether the question asks for an exact answer, so that no rounded decimal is one.
        program: Python that works the answer out and prints it; empty where none is known.
    """

    name: str
    text: str
    answer: str
    program: str = ""
    exact: bool = False

"""The three things that a judge can say."""

from enum import StrEnum


class Verdict(StrEnum):
    """Whether an answer is the right one.

    `UNDECIDED` says that the judge cannot tell: it is counted, never paid and never punished.
    """

    RIGHT = "right"
    WRONG = "wrong"
    UNDECIDED = "undecided"

    @classmethod
    def of(cls, right: bool) -> "Verdict":
        """The verdict of a comparison that can always tell."""
        return cls.RIGHT if right else cls.WRONG


def all_right(verdicts: "list[Verdict]") -> Verdict:
    """The conjunction in Kleene's three-valued logic: one `WRONG` decides, whatever is undecided beside it."""
    if Verdict.WRONG in verdicts:
        return Verdict.WRONG
    return Verdict.UNDECIDED if Verdict.UNDECIDED in verdicts else Verdict.RIGHT

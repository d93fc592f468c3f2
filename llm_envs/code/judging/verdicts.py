"""What a program is worth on each test, and on all of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from llm_envs.sandbox.base import SandboxError


class Verdict(StrEnum):
    """How a program did on one test. `LOST` means that the sandbox failed: it is never scored."""

    PASS = "pass"  # noqa: S105  # no password
    WRONG = "wrong"
    ERROR = "error"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    OUTPUT = "output"
    LOST = "lost"


# The program came to its end by itself, with a right or a wrong result.
RAN = frozenset({Verdict.PASS, Verdict.WRONG})


def share_passed(verdicts: Sequence[Verdict]) -> float:
    """The share of tests that were passed; 1.0 only where all were.

    Raises:
        ValueError: no verdicts: nothing was tested, which is not a pass.
        SandboxError: a verdict is `LOST`.
    """
    if not verdicts:
        raise ValueError("verdicts=(): must hold at least one, since a program that was not tested has passed nothing.")
    if Verdict.LOST in verdicts:
        raise SandboxError("a test was lost by the sandbox: it has no score; judge the program again.")
    return sum(verdict is Verdict.PASS for verdict in verdicts) / len(verdicts)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdicts on a program, in the order of the problem's tests."""

    visible: tuple[Verdict, ...]
    hidden: tuple[Verdict, ...]

    @property
    def share(self) -> float:
        """The share of hidden tests that were passed."""
        return share_passed(self.hidden)

    @property
    def passed(self) -> bool:
        """Whether all hidden tests were passed, which is what counts as solved."""
        return self.share == 1.0

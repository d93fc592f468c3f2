"""The state of a math episode and its text form."""

from typing import NamedTuple

from llm_envs.math.question import Question


class State(NamedTuple):
    """What has been printed and answered so far (a tuple, since one is made on every turn).

    Attributes:
        output: what the latest program printed, where that can be an answer.
        report: in words, what the latest program did; only its author sees it.
        answer: the latest answer.
        right: whether the latest answer that the judge could decide on is right.
        agreed: whether what was last said or printed is what somebody else, or a program, had come to before.
        undecided: how many answers and outputs of the episode the judge could not decide on.
    """

    question: Question
    output: str | None = None
    report: str = ""
    answer: str | None = None
    right: bool = False
    agreed: bool = False
    undecided: int = 0


def render(state: State) -> str:
    """The question, what the latest program printed, and the latest answer, where there is one."""
    text = state.question.text
    if state.output is not None:
        text += f"\noutput: {state.output}"
    return text if state.answer is None else f"{text}\nanswer: {state.answer}"

"""What an agent of the math environment sees.

`full` is a prompt for a language model: rules, format of the reply, question, news. Its rules are rendered once per
role. `local` is one line for tiny models. Nothing in either depends on the right answer.
"""

from collections.abc import Callable
from enum import StrEnum
from functools import cache

from llm_envs.core.prompts import prompt_template
from llm_envs.math.state import State


class View(StrEnum):
    """How much an observation says."""

    FULL = "full"
    LOCAL = "local"


class Stop(StrEnum):
    """What ends an episode before its horizon: a right answer, agreement (which takes no gold answer), or nothing."""

    CORRECT = "correct"
    AGREEMENT = "agreement"
    BUDGET = "budget"


@cache
def rules(role: str, stop: Stop) -> str:
    """The part of a full observation that is the same for all questions."""
    template = prompt_template("llm_envs.math", f"{role}.jinja")
    return template.render(stop=stop, alone=role == "solver").rstrip()


def observe_full(state: State, role: str, feedback: str, stop: Stop) -> str:
    """The prompt: rules and format, the question, what the program came to, the latest answer, how the last reply
    went.
    """
    news = [*_NEWS[role](state)]
    if state.answer is not None:
        news.append(f"The last answer: {state.answer}")
    if feedback:
        news.append(f"Your last reply was not valid and had no effect: {feedback}.")
    asked = f"{rules(role, stop)}\n\nThe question:\n{state.question.text}"
    return "\n".join([f"{asked}\n", *news]) if news else asked


def observe_local(state: State, role: str, feedback: str) -> str:
    """One line: role, question, what the latest program printed (not for the tool), the latest answer.

    For example `reasoner What is 17 + 25? output 42 answer none`. `invalid` at the end says that the last reply was not
    valid.
    """
    line = f"{role} {' '.join(state.question.text.split())}"
    if role != "tool":
        line += f" output {_or_none(state.output)}"
    line += f" answer {_or_none(state.answer)}"
    return f"{line} invalid" if feedback else line


def _or_none(text: str | None) -> str:
    return "none" if text is None else " ".join(text.split())


def _author_news(state: State) -> tuple[str, ...]:
    return (f"The last program {state.report}",) if state.report else ()


def _reasoner_news(state: State) -> tuple[str, ...]:
    return ("There is no output of the tool." if state.output is None else f"The tool's output: {state.output}",)


_NEWS: dict[str, Callable[[State], tuple[str, ...]]] = {
    "tool": _author_news,
    "reasoner": _reasoner_news,
    "solver": _author_news,
}

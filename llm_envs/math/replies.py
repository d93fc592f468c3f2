r"""What an agent's reply says: an answer in a box, or a program."""

from dataclasses import dataclass

from llm_envs.core.parsing import Unparsed, strip_thinking
from llm_envs.core.tool_use import Script, is_python, read_program
from llm_envs.math.judging import extract_answer

LONGEST_ANSWER = 500  # characters, of an answer and of what a program prints


@dataclass(frozen=True, slots=True)
class Answer:
    r"""What stands in a reply's last `\boxed{}`."""

    text: str


def read_reply(role: str, text: str) -> Answer | Script | Unparsed:
    """The action in a reply of the role `tool`, `reasoner` or `solver`."""
    text = strip_thinking(text)
    if role == "tool":
        return read_program(text, bare=True)
    return read_answer(text) if role == "reasoner" else read_answer_or_program(text)


def read_answer(text: str) -> Answer | Unparsed:
    """The answer in a reply."""
    answer = extract_answer(text)
    if answer is None:
        return Unparsed(r"your reply holds no answer in \boxed{}")
    if not answer.strip():
        return Unparsed("your box is empty")
    if len(answer) > LONGEST_ANSWER:
        return Unparsed(f"your answer has {len(answer)} characters, at most {LONGEST_ANSWER} are read")
    return Answer(answer.strip())


def read_answer_or_program(text: str) -> Answer | Script | Unparsed:
    """A single agent's reply: a box is an answer, a program without one is run.

    A box inside a program is part of it, since programs print boxes too; in a block that is no Python it is an answer.
    """
    program = read_program(text, bare=True)
    if isinstance(program, Unparsed):
        answer = read_answer(text)
        none = isinstance(answer, Unparsed) and extract_answer(text) is None
        return Unparsed(r"your reply holds neither an answer in \boxed{} nor a program") if none else answer
    around = text.replace(program.code, "\n")
    if extract_answer(around) is not None:
        return read_answer(around)
    boxed = extract_answer(program.code) is not None and not is_python(program.code)
    return read_answer(program.code) if boxed else program


def read_output(stdout: str) -> str | Unparsed:
    """What a program came to: the one line that it printed."""
    lines = [line.strip() for line in stdout.splitlines() if line.strip()]
    if len(lines) != 1:
        return Unparsed(f"printed {len(lines) or 'no'} lines")
    if len(lines[0]) > LONGEST_ANSWER:
        return Unparsed(f"printed {len(lines[0])} characters")
    return lines[0]

"""What an agent's reply says: placements, or a program whose output is placements."""

from llm_envs.core.parsing import Unparsed, last_answer, strip_thinking
from llm_envs.core.tool_use import Script, read_program
from llm_envs.sudoku.reading import Answer, read_answer


def read_placements(text: str, size: int) -> Answer | Unparsed:
    """The answer in a reply: its last `<answer>` block, else its last fenced block, else the whole reply."""
    tagged = last_answer(text) if "<" in text else None
    if tagged is not None:
        return read_answer(tagged, size)
    found = read_answer(text, size)
    if isinstance(found, Unparsed):
        return Unparsed("your reply has no answer tags, and is neither placements nor a grid by itself")
    return found


def read_either(text: str, size: int) -> Answer | Script | Unparsed:
    """A single agent's reply: an answer is executed, a program without an answer is run."""
    found = read_placements(text, size)
    if not isinstance(found, Unparsed) or last_answer(text) is not None:
        return found
    program = read_program(text)
    return Unparsed("your reply holds neither an answer nor a program") if isinstance(program, Unparsed) else program


def read_reply(role: str, text: str, size: int) -> Answer | Script | Unparsed:
    """The action in a reply of the role `tool`, `planner` or `solver`."""
    text = strip_thinking(text)
    if role == "planner":
        return read_placements(text, size)
    return read_program(text) if role == "tool" else read_either(text, size)

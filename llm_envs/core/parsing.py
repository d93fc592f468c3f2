"""Reading actions out of replies. A reply without one gives `Unparsed` with the reason in words, never an error."""

import re
from dataclasses import dataclass

# Tags are found one by one and paired by hand: a lazy `<a>.*?</a>` is quadratic on a reply of nothing but opening tags.
_ANSWER_TAG = re.compile(r"<(/?)answer>", re.IGNORECASE | re.ASCII)
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+-]*)[^\n]*$", re.MULTILINE)
_PYTHON_TAGS = frozenset({"python", "python3", "py", "py3"})


@dataclass(frozen=True, slots=True)
class Unparsed:
    """A reply without a usable action. `reason` is shown to the agent in its next observation."""

    reason: str


def strip_thinking(text: str) -> str:
    """The reply without its reasoning.

    Closed blocks go, text before a lone `</think>` goes, an unclosed block hides the rest.
    """
    if "think>" not in text:
        return text
    kept: list[str] = []
    opened = ""
    for number, part in enumerate(text.split("</think>")):
        if number and not opened:
            kept.clear()  # the block was opened in the prompt: all before its end is reasoning
        before, opened, _ = part.partition("<think>")
        kept.append(before)
    return "".join(kept)


def last_answer(text: str) -> str | None:
    """The content of the last closed `<answer>…</answer>` block: an agent that corrects itself means its last word."""
    if text.startswith("<answer>") and text.endswith("</answer>") and text.find("<", 8) == len(text) - 9:
        return text[8:-9].strip()  # nothing but one answer: most replies, at a quarter of the time
    found: str | None = None
    begin: int | None = None
    for match in _ANSWER_TAG.finditer(text):
        if not match.group(1):
            begin = match.end()
        elif begin is not None:
            found, begin = text[begin : match.start()], None
    return None if found is None else found.strip()


def last_code_block(text: str) -> str | None:
    """The program in a reply: the last fenced block tagged as Python, else the last fenced block, else None.

    A fence closes only by a line of the same character, at least as long, without a tag, so that a fence inside a
    docstring of a longer fence stays text. A block that no line closes, since the token limit cut it off or its fence
    stands at the end of the last line of code, ends with the reply.
    """
    best: str | None = None
    best_tagged = False
    opened: tuple[str, str, int] | None = None
    for match in _FENCE.finditer(text):
        mark, tag = match.group(1), match.group(2).lower()
        if opened is None:
            opened = (mark, tag, match.end() + 1)
        elif mark[0] == opened[0][0] and len(mark) >= len(opened[0]) and not tag:
            tagged = opened[1] in _PYTHON_TAGS
            if tagged or not best_tagged:
                best, best_tagged = text[opened[2] : match.start()], tagged
            opened = None
    if opened is not None and (opened[1] in _PYTHON_TAGS or not best_tagged):
        best = text[opened[2] :].rstrip().removesuffix(opened[0])
    return best


def clean_text(text: str) -> str:
    """Lone surrogates, which no file and no tokenizer accepts, become U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

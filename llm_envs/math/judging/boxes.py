r"""The answer in a reply: what stands in its last `\boxed{}`."""

import re
from collections import deque

from llm_envs.core.parsing import strip_thinking

_BOX = re.compile(r"\\(?:boxed|fbox)(?![a-zA-Z])\s*")
_BARE = re.compile(r"[^\s${}]+")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)


def extract_answer(reply: str) -> str | None:
    r"""The content of the last `\boxed{...}` outside the reasoning, or None where there is none.

    Nested braces belong to the content; `\fbox{...}` and `\boxed 7` count. The last box is the agent's last word: where
    it is not closed, since the reply was cut off, there is no answer, whatever stood in a box before.
    """
    text = strip_thinking(reply)
    last = deque(_BOX.finditer(text), maxlen=1)
    if not last:
        return None
    begin = last[0].end()
    if not text.startswith("{", begin):
        bare = _BARE.match(text, begin)
        return None if bare is None else bare.group()
    end = closing_brace(text, begin)
    return None if end is None else text[begin + 1 : end].strip()


def closing_brace(text: str, begin: int) -> int | None:
    """Where the brace that opens at `begin` closes; a brace behind a backslash is none. One pass."""
    depth = 0
    for match in _BRACE.finditer(text, begin):
        if match.group() == "{":
            depth += 1
        elif match.group() == "}":
            depth -= 1
            if not depth:
                return match.start()
    return None

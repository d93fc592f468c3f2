"""The code blocks of a Markdown page, and the commands in those of a shell."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^```(?P<language>\w+)[^\n]*\n(?P<code>.*?)^```\s*$", re.MULTILINE | re.DOTALL)
ASSIGNMENT = re.compile(r"[A-Z_]+=")


@dataclass(frozen=True)
class Block:
    """One fenced block; `line` is the page's line number of its fence."""

    page: str
    line: int
    language: str
    code: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(page: Path, language: str) -> Iterator[Block]:
    """The blocks of `page` that are fenced as `language`."""
    text = page.read_text()
    for match in FENCE.finditer(text):
        if match["language"] == language:
            yield Block(page.name, text.count("\n", 0, match.start()) + 1, language, match["code"])


def commands(block: Block) -> Iterator[list[str]]:
    """The words of each command: comments, prompts of continuation lines and leading assignments are dropped."""
    for line in block.code.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        while words and ASSIGNMENT.match(words[0]):
            words.pop(0)
        if words:
            yield words

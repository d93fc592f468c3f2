r"""Answers in words, and the letters of choices."""

import re

from llm_envs.math.judging.containers import REALS
from llm_envs.math.judging.errors import UnreadError
from llm_envs.math.judging.normal_form import normal_form
from llm_envs.math.judging.tokens import Read, Tokens, tokenized
from llm_envs.math.judging.values import Unordered, Value, Words

MOST_WORDS = 8
_LETTER = re.compile(r"\(?([A-Z])\)?")
_LONG_WORD = re.compile(r"[A-Za-z]{4,}|(?:yes|no|odd|all|any|one|two|six|ten|red|inf)(?![A-Za-z])", re.IGNORECASE)
_PROSE = re.compile(r"[A-Za-zÀ-ɏ .,'’/&-]+")
_MEANT: dict[str, Value] = dict.fromkeys(("all real numbers", "all reals", "set of all real numbers"), REALS)
_MEANT["empty set"] = Unordered((), braces=True)
_FORMULA = re.compile(r"(?:a(?:rc)?)?(?:sin|cos|tan)h?|sqrt|infinity|exp|log|pi|or|and|percent|inf")


def read_words(tokens: Tokens, read: Read) -> Value | None:
    r"""A name, a word or a few, in `\text{...}` or plain; or one capital letter, with or without parentheses."""
    text = "".join(tokens)
    if text.startswith(r"\text{") and len(tokens) == 1:
        inside = text[len(r"\text{") : -1].strip()
        return _words(inside) if _is_prose(inside, marked=True) else read(tokenized(normal_form(inside)))
    text = re.sub(r"\\text\{([^{}]*)\}", r"\1", text).strip()
    letter = _LETTER.fullmatch(text)
    if letter is not None and text.startswith("(") == text.endswith(")"):
        return Words(letter.group(1))
    return _words(text) if _is_prose(text, marked=False) else None


def _is_prose(text: str, *, marked: bool) -> bool:
    """Whether the text is words; where nothing marks it as such, letters may be a product of variables."""
    if not _PROSE.fullmatch(text) or "," in text:
        return marked and _LETTER.fullmatch(text) is not None
    if marked:
        return not any(word in {"or", "and"} for word in text.split())
    return _LONG_WORD.search(text) is not None and not any(_FORMULA.fullmatch(word) for word in text.split())


def _words(text: str) -> Value:
    letter = _LETTER.fullmatch(text)
    if letter is not None:
        return Words(letter.group(1))
    meant = _MEANT.get(text.casefold().removeprefix("the ").removesuffix("."))
    if meant is not None:
        return meant
    if len(text.split()) > MOST_WORDS:
        raise UnreadError(f"it is prose of {len(text.split())} words, at most {MOST_WORDS} are an answer")
    return Words(text if len(text) == 1 else text.casefold())

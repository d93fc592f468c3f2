r"""The first tier: one spelling for what LaTeX, Unicode and plain text spell in many ways.

Nothing is evaluated here. Layout goes (`$`, `\left`, `\!`, thin spaces), synonyms become one name (`\dfrac`, `\leq`,
`−`), thousands lose their separators.
"""

import re
from functools import lru_cache

from llm_envs.math.judging.vocabulary import CHARACTERS, FUNCTIONS, LAYOUT, SPACES, SYNONYMS, WORDS_TOO

LONGEST = 1000  # characters; a longer text is not read, only compared as it stands

_COMMAND = re.compile(r"\\(?:left|right) *\.|\\not *=|\\[a-zA-Z]+|\\.|~|\*\*", re.DOTALL)
_STYLED = re.compile(
    r"\\(?:text(?:bf|it|rm|normal|up)?|math(?:rm|bf|it|sf|cal)|[mh]box|bm|boldsymbol|operatorname\*?) *\{([^{}]*)\}"
)
_UNICODE_ROOT = re.compile(r"√ ?(\d+(?:\.\d+)?)")
_BOLD = re.compile(r"\*\*([^*]+)\*\*")
_DOLLAR = re.compile(r"(?<!\\)\$")
_CURRENCY = re.compile(r"^\s*-?\s*\$\s*-?[\d.]")
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?!\d|,\d)")
_BRACED_COMMA = re.compile(r"(?<=\d)\{,\}(?=\d{3})")
_SPACED = re.compile(r"[-+]?\d{1,3}(?: \d{3})+(?:\.\d+)?")
_BLANK = re.compile(r"\s+")
_PLAIN = re.compile(r"[-+]?\d+(?:\.\d+)?")


@lru_cache(maxsize=1 << 14)
def normal_form(text: str) -> str:
    r"""The text in its usual spelling; `\text{...}` is the one command left for words."""
    text = text.strip()
    if _PLAIN.fullmatch(text) or len(text) > LONGEST:
        return text
    if not text.isascii():
        text = _UNICODE_ROOT.sub(r"\\sqrt{\1}", text).translate(CHARACTERS)
    text = _without_dollars(text)
    if bold := _BOLD.fullmatch(text.strip()):
        text = bold.group(1)
    text = _BRACED_COMMA.sub("", text).replace("...", r"\ldots ")
    if "\\" in text or "~" in text or "*" in text:
        text = _COMMAND.sub(_spelling, text)
        text = _STYLED.sub(_styled, text)
    text = _BLANK.sub(" ", text).strip()
    text = text.rstrip(" .,;") if text.endswith((".", ",", ";")) else text
    if "," in text and not any(bracket in text for bracket in ("(", "[", r"\{")):
        text = _GROUPED.sub(lambda match: match.group().replace(",", ""), text)
    return text.replace(" ", "") if _SPACED.fullmatch(text) else text


def squeezed(text: str) -> str:
    """A normal form without the spaces that cannot matter: those not between two letters or digits."""
    if " " not in text:
        return text
    return re.sub(r"(?<![\w}]) | (?![\w\\])", "", text)


def _without_dollars(text: str) -> str:
    if "$" not in text:
        return text
    delimiters = len(_DOLLAR.findall(text))
    if delimiters % 2 and _CURRENCY.match(text):
        text = text.replace("$", r"\$", 1)
    return _DOLLAR.sub(" ", text)  # not without a trace: `5$3` is not 53


def _spelling(match: re.Match[str]) -> str:
    command = match.group()
    if command.startswith(r"\not") and command.endswith("="):
        return r"\ne "
    if command in LAYOUT:
        return ""
    if command in SPACES or command.endswith("."):  # `\left.`, a bracket that is not seen
        return " "
    name = SYNONYMS.get(command, command)
    return name + " " if name is not command and name[-1].isalpha() else name


def _styled(match: re.Match[str]) -> str:
    content = match.group(1).strip()
    if match.group().startswith(r"\operatorname") or (content in FUNCTIONS and content not in WORDS_TOO):
        return f"\\{content} "
    if len(content) == 1 and content.islower() and not match.group().startswith((r"\text", r"\mbox", r"\hbox")):
        return content  # a letter in another face is a letter
    return rf"\text{{{content}}}"

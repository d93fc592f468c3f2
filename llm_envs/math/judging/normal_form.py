r"""The first tier: one spelling for what LaTeX, Unicode and plain text spell in many ways.

Nothing is evaluated here. Layout goes (`$`, `\left`, `\!`, thin spaces), synonyms become one name (`\dfrac`, `\leq`,
`−`), thousands lose their separators.
"""

import re
from functools import lru_cache

LONGEST = 1000  # characters; a longer text is not read, only compared as it stands

_CHARACTERS = str.maketrans(
    {
        "−": "-", "–": "-", "×": "*", "·": "*", "⋅": "*", "∗": "*", "÷": "/", "⁄": "/", "∕": "/",
        "π": r"\pi ", "√": r"\sqrt ", "∞": r"\infty ", "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne ", "≈": r"\approx ",
        "∪": r"\cup ", "∩": r"\cap ", "∈": r"\in ", "∅": r"\emptyset ", "±": r"\pm ", "∓": r"\mp ", "ℝ": r"\mathbb{R}",
        "°": r"^\circ ", "′": "'", "’": "'", "θ": r"\theta ", "α": r"\alpha ", "β": r"\beta ", "λ": r"\lambda ",
        "²": "^2 ", "³": "^3 ", "½": r"\frac{1}{2}", "¼": r"\frac{1}{4}", "¾": r"\frac{3}{4}", "⅓": r"\frac{1}{3}",
        "⅔": r"\frac{2}{3}", "⟨": r"\langle ", "⟩": r"\rangle ", "€": r"\text{€}", "£": r"\text{£}",
        "\N{NO-BREAK SPACE}": " ", "\N{NARROW NO-BREAK SPACE}": " ", "\N{THIN SPACE}": " ", "％": "%", "，": ",",
    }
)  # fmt: skip
_SYNONYMS = {
    r"\dfrac": r"\frac", r"\tfrac": r"\frac", r"\cfrac": r"\frac", r"\dbinom": r"\binom", r"\tbinom": r"\binom",
    r"\leq": r"\le", r"\leqslant": r"\le", r"\geq": r"\ge", r"\geqslant": r"\ge", r"\neq": r"\ne", r"\lt": "<",
    r"\gt": ">", r"\cdot": "*", r"\times": "*", r"\ast": "*", r"\div": "/", r"\lbrace": r"\{", r"\rbrace": r"\}",
    r"\lbrack": "[", r"\rbrack": "]", r"\lparen": "(", r"\rparen": ")", r"\lvert": "|", r"\rvert": "|", r"\vert": "|",
    r"\varnothing": r"\emptyset", r"\infin": r"\infty", r"\degree": r"^\circ", r"\degrees": r"^\circ",
    r"\percent": "%", r"\%": "%", r"\lor": r"\text{or}", r"\land": r"\text{and}", r"\colon": ":", r"\mid": "|",
    r"\dots": r"\ldots", r"\cdots": r"\ldots", r"\rm": "", r"\bf": "", r"\it": "",
}  # fmt: skip
_LAYOUT = frozenset(
    [
        r"\left",
        r"\right",
        r"\middle",
        r"\big",
        r"\Big",
        r"\bigg",
        r"\Bigg",
        r"\bigl",
        r"\bigr",
        r"\Bigl",
        r"\Bigr",
        r"\biggl",
        r"\biggr",
        r"\displaystyle",
        r"\textstyle",
        r"\limits",
        r"\nolimits",
        r"\!",
        r"\(",
        r"\)",
        r"\[",
        r"\]",
    ]
)
_SPACE = frozenset([r"\,", r"\;", r"\:", r"\quad", r"\qquad", r"\thinspace", r"\enspace", r"~"] + ["\\ "])
_COMMAND = re.compile(r"\\[a-zA-Z]+|\\.|~|\*\*", re.DOTALL)
_STYLED = re.compile(
    r"\\(?:text(?:bf|it|rm|normal|up|sf)?|math(?:rm|bf|it|sf|cal)|mbox|hbox|bm|boldsymbol|operatorname\*?) *\{([^{}]*)\}"
)
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
        text = text.translate(_CHARACTERS)
    text = _without_dollars(text)
    text = _BRACED_COMMA.sub("", text)
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
    return _DOLLAR.sub("", text)


def _spelling(match: re.Match[str]) -> str:
    command = match.group()
    if command in _LAYOUT:
        return ""
    if command in _SPACE:
        return " "
    if command == "**":
        return "^"
    synonym = _SYNONYMS.get(command)
    if synonym is None:
        return command
    return synonym + " " if synonym[-1:].isalpha() and synonym.startswith("\\") else synonym


def _styled(match: re.Match[str]) -> str:
    content = match.group(1).strip()
    if match.group().startswith(r"\operatorname"):
        return f"\\{content} "
    if len(content) == 1 and content.islower() and not match.group().startswith((r"\text", r"\mbox", r"\hbox")):
        return content  # a letter in another face is a letter
    return rf"\text{{{content}}}"

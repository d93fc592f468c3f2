r"""Whether an answer says what comes out, or only what to work out: `17 + 25` for 42, or the question's own formula.

Both have the right value, and whoever may copy a question's formula into the box needs no mathematics. So what an
answer leaves to the reader must stand in the gold answer, too: functions, sums, integrals, factorials anywhere, and any
arithmetic where the gold answer holds none. Fractions, mixed numbers, powers of ten and units are ways to write a
number down; `x = 84/2 = 42` ends with one.
"""

import re

from llm_envs.math.judging.normal_form import normal_form
from llm_envs.math.judging.reading import read
from llm_envs.math.judging.values import Scalar

_TRIGONOMETRY = "sin cos tan cot sec csc sinh cosh tanh arcsin arccos arctan"
_KINDS = {  # what leaves something to work out; of one kind, one may stand for another
    "functions of angles": rf"\\?(?:{_TRIGONOMETRY.replace(' ', '|')})",
    "logarithms": r"\\?(?:ln|log)",
    "divisors": r"\\?(?:gcd|lcm)",
    "choices": r"!|\\binom|\\choose",
    "series": r"\\(?:sum|prod|int|iint|oint|lim)",
    "roundings": r"\\(?:lfloor|lceil)|floor|ceil",
    "extremes": r"\\?(?:min|max)(?= *[({\\])",
    "remainders": r"\\(?:b|p)?mod|mod(?![a-z])",
    "determinants": r"\\?det|vmatrix",
    "absolute values": r"\|",
}
_KIND = {name: re.compile(rf"(?<![a-z])(?:{pattern})(?![a-z])") for name, pattern in _KINDS.items()}
_FRAMES = re.compile(
    r"\\(?:begin|end)\{[a-z]*\}(?:\{[lcr|]*\})?"  # of matrices
    r"|(?:\\text\{[^{}]*\}|[A-Za-z]{1,3}) *\^ *\{?[23]\}?|\\text\{[^{}]*\}"  # units
    r"|\^ *\{? *\\circ *\}?|\^ *\{-1\}"  # degrees, names of inverses
    r"|(?:[*] *)?10 *\^ *(?:\{ *[-+]?\d+ *\}|\d+)"  # powers of ten
)
_ARITHMETIC = re.compile(r"[\d)}\]] *[-+*^]|\\sqrt|sqrt|√")
_FACTORS = re.compile(r"\d *\(|\) *[\d(]")
_LAST_SIDE = re.compile(r".*(?:=|\\approx)", re.DOTALL)
_NUMERALS = re.compile(r"\\(?:frac|cup|infty|emptyset|overline|pm)(?![a-z])")  # what is made of numbers alone has these
_OPERATION = re.compile(r"[\w)}\]] *[-+*/^(]|\\sqrt|\\overline")
_PERIOD = r"\overline"
_SHORTEST_COPY = 4


def is_worked_out(*, gold: str, answer: str, question: str) -> bool:
    """Whether a right answer counts as one, given the gold answer and the text of the question."""
    wanted, given = normal_form(gold), normal_form(answer)
    if _packed(wanted) == _packed(given):
        return True
    mine, yours = _LAST_SIDE.sub("", wanted), _LAST_SIDE.sub("", given)
    if any(kind.search(yours) and not kind.search(mine) for kind in _KIND.values()):
        return False
    if _calculates(given) and not _calculates(wanted) and _is_numeral(wanted):
        return False
    if _PERIOD in given and _PERIOD in question and _PERIOD not in wanted:  # to write it otherwise was the question
        return False
    return not _is_copied(given, question)


def _calculates(text: str) -> bool:
    """Whether a number is written as a sum, a product, a power or a root; of an equation the last side counts."""
    text = _bare(text)
    return bool(_ARITHMETIC.search(text) or ("," not in text and _FACTORS.search(text)))


def _is_numeral(text: str) -> bool:
    r"""Whether it is made of numbers alone: no names, no \pi, no words."""
    return re.search("[A-Za-z]", _NUMERALS.sub("", _bare(text))) is None


def _bare(text: str) -> str:
    return _FRAMES.sub(" ", _LAST_SIDE.sub("", text))


def _is_copied(given: str, question: str) -> bool:
    """Whether an expression with something to work out stands in the question as it does in the answer."""
    formula = isinstance(read(given), Scalar) and _OPERATION.search(given) is not None
    fraction = re.fullmatch(r"-? *(?:\\frac *\{?\d+\}? *\{?\d+\}?|\d+ */ *\d+)", given)
    packed = _packed(given)
    return formula and fraction is None and len(packed) >= _SHORTEST_COPY and packed in _packed(question)


def _packed(text: str) -> str:
    return re.sub(r"\\left|\\right|\\displaystyle|\\[,;! ]|[\s$]", "", text.replace(r"\dfrac", r"\frac"))

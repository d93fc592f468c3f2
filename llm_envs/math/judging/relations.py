r"""Equations, inequalities and membership: `x = 5`, `1 < x \le 2`, `x \in (1, 2)`, `2x + 4y = 3`."""

import re
from fractions import Fraction

from llm_envs.math.judging.errors import UnreadError
from llm_envs.math.judging.numeric import real_value
from llm_envs.math.judging.scalars import read_scalar
from llm_envs.math.judging.tokens import Read, Tokens, positions, split
from llm_envs.math.judging.values import Infinity, Named, Ordered, Relation, Scalar, Union, Value
from llm_envs.math.judging.vocabulary import GREEK

_DECIMAL = re.compile(r"-?\d{1,40}(?:\.(\d{1,40}))?")
_ORDERS = {"<": "<", ">": ">", r"\le": "<=", r"\ge": ">="}
_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_SIGNS = frozenset({"=", r"\approx", r"\ne", r"\in", *_ORDERS})
_LETTER = (
    rf"(?:[A-Za-z]|{'|'.join(map(re.escape, sorted(GREEK)))})"
    r"(?:_\w+|_\{(?:\w+,\w+|\\triangle[A-Z]{3}|\\text\{[^{}]*\})\})?'*"
)
_OPERANDS = r"\((?:[A-Za-z]|-?\d+)(?:,(?:[A-Za-z]|-?\d+))*\)"
_NAME = re.compile(
    rf"{_LETTER}(?:\^\{{-1\}})?(?:{_OPERANDS})?"  # x, \lambda_1, f'(2), f^{{-1}}(x), P(A)
    rf"|\({_LETTER}(?:,{_LETTER})+\)"  # (x,y)
    r"|[A-Z]{2,4}|\|[A-Z]{2}\||\\overline\{[A-Z]{2}\}|m?\\angle[A-Z]{1,3}|\[[A-Z]{3,4}\]"  # AB, angle ABC, area [ABC]
    r"|\\text\{[^{}]*\}"
)
_SUBSCRIPT = re.compile(r"_\{(\w+)\}")
_LEAST, _MOST = Infinity(positive=False), Infinity(positive=True)


def read_relation(tokens: Tokens, read: Read) -> Value | None:
    """What signs of relation say; None where there is none outside all brackets."""
    signs = [tokens[index] for index in positions(tokens, _SIGNS.__contains__)]
    if not signs:
        return None
    parts = split(tokens, _SIGNS.__contains__)
    if all(sign in {"=", r"\approx"} for sign in signs):
        return _read_equation(_without_roundings(parts, signs), read)
    if len(signs) == 1:
        return _read_single(signs[0], parts[0], parts[1], read)
    if len(signs) == 2 and all(sign in _ORDERS for sign in signs):
        return _read_between(signs, parts, read)
    raise UnreadError("a chain of relations")


def _read_equation(parts: list[Tokens], read: Read) -> Value:
    """`x = 5`, `5 = x`, `x = 10/2 = 5`, `2 + 3 = 5`, or an equation that gives no name a value."""
    if len(parts) == 1:
        return read(parts[0])
    if not parts[0]:
        return read(parts[1]) if len(parts) == 2 else _chain(parts[1:], read)
    if not all(parts):
        raise UnreadError("a side of an equation is missing")
    if _is_name(parts[0]):
        return Named(_name(parts[0]), _chain(parts[1:], read))
    if len(parts) == 2 and _is_name(parts[1]):
        return Named(_name(parts[1]), read(parts[0]))
    if len(parts) > 2:
        return _chain(parts, read)
    difference = read_scalar(parts[0]) - read_scalar(parts[1])
    return read(parts[1]) if not difference.top else Relation("=", difference, "".join([*parts[0], "=", *parts[1]]))


def _without_roundings(parts: list[Tokens], signs: list[str]) -> list[Tokens]:
    r"""Without what only says once more, as a decimal, what stands beside it: `\frac23 \approx 0.667`."""
    kept = [parts[0]]
    for sign, part in zip(signs, parts[1:], strict=True):
        if sign == r"\approx" and kept[-1] and part:
            if _is_rounding(part, kept[-1]):
                continue
            if _is_rounding(kept[-1], part):
                kept.pop()
        kept.append(part)
    return kept


def _is_rounding(decimal: Tokens, exact: Tokens) -> bool:
    """Whether a decimal is less than one unit of its last place away from a number."""
    match = _DECIMAL.fullmatch("".join(decimal).replace(" ", ""))
    if match is None:
        return False
    try:
        value = read_scalar(exact)
    except UnreadError:
        return False
    number = value.rational if value.rational is not None else real_value(value)
    return number is not None and abs(number - Fraction(match.group())) * 10 ** len(match.group(1) or "") < 1


def _chain(parts: list[Tokens], read: Read) -> Value:
    """The last of several values that are said to be equal, if they are: a chain is no way to give two answers."""
    if len(parts) > 1:
        last = read_scalar(parts[-1])
        if any((read_scalar(part) - last).top for part in parts[:-1]):
            raise UnreadError("a chain of values that are not the same")
    return read(parts[-1])


def _read_single(sign: str, left: Tokens, right: Tokens, read: Read) -> Value:
    if not left or not right:
        raise UnreadError("a side of a relation is missing")
    if sign == r"\in":
        if not _is_name(left):
            raise UnreadError("an element that is no name")
        return Named(_name(left), read(right))
    if _is_name(left):
        return Named(_name(left), _region(sign, read(right)))
    if _is_name(right):
        order = _ORDERS.get(sign)
        return Named(_name(right), _region(sign if order is None else _FLIPPED[order], read(left)))
    if sign == r"\ne":
        raise UnreadError("an inequation that gives no name a value")
    order = _ORDERS[sign]
    difference = read_scalar(left) - read_scalar(right)
    if order in {">", ">="}:
        order, difference = _FLIPPED[order], -difference
    return Relation(order, difference, "".join([*left, sign, *right]))


def _region(sign: str, bound: Value) -> Value:
    """The numbers that stand to a bound as the sign says."""
    if not isinstance(bound, Scalar):
        raise UnreadError("a bound that is no number")
    order = _ORDERS.get(sign, sign)
    below = Ordered("(", "]" if order == "<=" else ")", (_LEAST, bound))
    above = Ordered("[" if order == ">=" else "(", ")", (bound, _MOST))
    if order == r"\ne":
        return Union((below, above))
    return below if order in {"<", "<="} else above


def _read_between(signs: list[str], parts: list[Tokens], read: Read) -> Value:
    """`1 < x <= 2`."""
    if not _is_name(parts[1]):
        raise UnreadError("bounds of something other than a name")
    first, second = (_ORDERS[sign] for sign in signs)
    low, high = read(parts[0]), read(parts[2])
    if first[0] != second[0]:
        raise UnreadError("bounds of different directions")
    if first[0] == ">":
        first, second, low, high = second, first, high, low
    interval = Ordered("[" if first.endswith("=") else "(", "]" if second.endswith("=") else ")", (low, high))
    return Named(_name(parts[1]), interval)


def _is_name(tokens: Tokens) -> bool:
    text = _name(tokens)
    return _NAME.fullmatch(text) is not None and text not in {"i", "e", r"\pi", r"\infty", r"\emptyset"}


def _name(tokens: Tokens) -> str:
    """The name that they are; `a_{n}` is `a_n`."""
    return _SUBSCRIPT.sub(r"_\1", "".join(filter(str.strip, tokens)))

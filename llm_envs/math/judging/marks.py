r"""What stands beside a number: a percent sign, a currency, a unit, a base."""

import re

from llm_envs.math.judging.errors import UnreadError
from llm_envs.math.judging.exact import Expression
from llm_envs.math.judging.functions import read_number
from llm_envs.math.judging.tokens import Read, Tokens, stripped
from llm_envs.math.judging.units import MULTIPLES, is_known_unit, unit_named
from llm_envs.math.judging.values import InBase, Percent, Quantity, Scalar, Value

_PERCENT = frozenset({"%", "percent", r"\text{percent}", r"\text{%}", r"\text{percent.}"})
_CURRENCIES = {r"\$": "dollar", r"\text{€}": "€", r"\text{£}": "£", r"\text{\$}": "dollar"}
_IN_BASE = re.compile(r"\(?([0-9A-Za-z]*\d[0-9A-Za-z]*|[A-Fa-f]{2,}(?=\)?_\{?16))\)?_(?:\{(\w+)\}|(\d))")
_BASES = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
_WORD = re.compile(r"[A-Za-z]+|\\text\{[^{}]*\}")
_EXPONENTS = (["^", "2"], ["^", "3"], ["^", "{", "2", "}"], ["^", "{", "3", "}"])
_ANGLE_FUNCTIONS = frozenset({r"\sin", r"\cos", r"\tan", r"\cot", r"\sec", r"\csc", "sin", "cos", "tan"})
_TEMPERATURES = frozenset({"C", "F", r"\text{C}", r"\text{F}"})
_DEGREES = (["^", r"\circ"], ["^", "{", r"\circ", "}"], [r"\circ"])


def read_percent(tokens: Tokens, read: Read) -> Value | None:
    """A number with a percent sign, or the word."""
    if tokens[-1] not in _PERCENT:
        return None
    value = read(tokens[:-1])
    if not isinstance(value, Scalar):
        raise UnreadError("a percent sign behind something other than a number")
    return Percent(value)


def read_currency(tokens: Tokens, read: Read) -> Value | None:
    """A number behind the sign of a currency, or in front of it."""
    negative = tokens[0] == "-" and len(tokens) > 2
    first = tokens[1 if negative else 0]
    if first in _CURRENCIES:
        return _quantity(read([*(["-"] if negative else []), *tokens[2 if negative else 1 :]]), _CURRENCIES[first])
    if tokens[-1] in _CURRENCIES:
        return _quantity(read(tokens[:-1]), _CURRENCIES[tokens[-1]])
    return None


def read_unit(tokens: Tokens, read: Read) -> Value | None:
    """A value with a unit behind it. Words for what is counted go; `5 million` is a number."""
    cut = _unit_begin(tokens)
    amount, unit = stripped(tokens[:cut]), "".join(tokens[cut:])
    if not amount or cut == len(tokens):
        return None
    plain = " ".join(re.sub(r"\\text\{([^{}]*)\}", r"\1", unit).split())
    first, _, rest = plain.partition(" ")
    if first in MULTIPLES:
        value = _times_ten_to(read(amount), MULTIPLES[first])
        plain = rest
        if not rest:
            return value
    else:
        value = read(amount)
    name = unit_named(plain)
    if name is None:
        raise UnreadError(f"{plain!r} behind a number is no unit")
    return _quantity(value, name) if is_known_unit(name.partition("^")[0]) else value


def read_base(tokens: Tokens, _read: Read) -> Value | None:
    r"""Digits with a base below them: `101_2`, `2A_{16}`."""
    text = re.sub(r"\\text\{([^{}]*)\}", r"\1", "".join(tokens).replace(" ", ""))
    match = _IN_BASE.fullmatch(text)
    if match is None:
        return None
    digits, written = match.group(1).upper(), match.group(2) or match.group(3)
    base = _BASES.get(written, int(written) if written.isdecimal() and len(written) < 3 else 0)
    if not 2 <= base <= 36 or any(int(digit, 36) >= base for digit in digits):
        raise UnreadError("no digits of such a base")
    if base == 10:
        return Scalar(digits, Expression.number(read_number(digits)))
    return InBase(digits.lstrip("0") or "0", base)


def _unit_begin(tokens: Tokens) -> int:
    r"""Where the unit behind a value begins; the number of tokens where there is none."""
    end = len(tokens)
    if (begin := _degrees_begin(tokens)) < end:
        return end if _ANGLE_FUNCTIONS.intersection(tokens) else begin
    for ending in _EXPONENTS:
        if list(tokens[-len(ending) :]) == ending and len(tokens) > len(ending):
            before = tokens[-len(ending) - 1]
            end -= len(ending) if _WORD.fullmatch(before) and _may_be_unit(before) else 0
            break
    begin = end
    while begin and (tokens[begin - 1] in {" ", "/"} or _WORD.fullmatch(tokens[begin - 1])):
        begin -= 1
    while begin < end and not _begins_unit(tokens, begin, end):
        begin += 1
    return begin if 0 < begin < end else len(tokens)


def _degrees_begin(tokens: Tokens) -> int:
    """Where a sign of degrees at the end begins, which may be followed by the letter of a scale of temperature."""
    end = len(tokens)
    if end > 2 and tokens[-1] in _TEMPERATURES:
        end -= 1 + (tokens[-2] == " ")
    for ending in _DEGREES:
        if list(tokens[end - len(ending) : end]) == ending:
            return end - len(ending)
    return len(tokens)


def _begins_unit(tokens: Tokens, begin: int, end: int) -> bool:
    """Whether a word begins a unit and is no variable behind a number: one that stands apart, is known or long."""
    word = tokens[begin]
    if word in {" ", "/", "i", "e", "pi"} or not begin:
        return False
    if word.startswith(r"\text") or len(word) > 3 or word == "sq":
        return True
    whole = "".join(tokens[begin:end])
    if tokens[begin - 1] != " ":
        return len(whole) > 1 and tokens[begin - 1][-1].isdigit() and is_known_unit(whole)
    return is_known_unit(word) or (len(word) == 3 and tokens[begin - 2][-1].isdigit())


def _may_be_unit(word: str) -> bool:
    return word.startswith(r"\text") or len(word) > 3 or is_known_unit(word)


def _quantity(value: Value, unit: str) -> Value:
    return Quantity(value.amount if isinstance(value, Quantity) else value, unit)


def _times_ten_to(value: Value, power: int) -> Value:
    if not isinstance(value, Scalar) or value.value is None:
        raise UnreadError("a multiple of something other than a number")
    return Scalar(f"{value.text}e{power}", value.value * Expression.number(10**power))

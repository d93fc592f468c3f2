r"""The reader of scalar expressions: a recursive descent over tokens that evaluates as it goes.

    sum     = ["+" | "-" | "\pm"] product {("+" | "-" | "\pm") product}
    product = (mixed number | factor) {["*" | "/"] factor}
    factor  = base {"!" | "!!" | "^" exponent | "^\circ"}

What may mean two things is not read: `4 10/3` is no mixed number, and no product either; `\sqrt23` is set as the root
of 2, times 3, and often meant as the root of 23.
"""

import re
from fractions import Fraction

from llm_envs.math.judging.cursor import Cursor
from llm_envs.math.judging.errors import AmbiguousError, UnreadError
from llm_envs.math.judging.exact import Expression
from llm_envs.math.judging.functions import absolute, apply_function, binomial, factorial, read_number
from llm_envs.math.judging.polynomials import EULER, IMAGINARY, PI, Atom
from llm_envs.math.judging.powers import power
from llm_envs.math.judging.tokens import Tokens, split
from llm_envs.math.judging.vocabulary import FUNCTIONS, GREEK

_DIGITS = re.compile(r"\d+")
_BESIDE = (  # what makes a mixed number of the whole number before it, and how many tokens that is
    (re.compile(r"(\d+) / (\d+)(?: .*)?"), 3),
    (re.compile(r"\\frac \{ (\d+) \} \{ (\d+) \}(?: .*)?"), 7),
    (re.compile(r"\\frac \{ (\d+) \} (\d)(?: .*)?"), 5),
    (re.compile(r"\\frac (\d) \{ (\d+) \}(?: .*)?"), 5),
    (re.compile(r"\\frac (\d)(\d)(?: .*)?"), 2),
)
_CONSTANTS = {r"\pi": PI, "pi": PI, "e": EULER, "i": IMAGINARY}
_SIGNS = frozenset({"+", "-", r"\pm", r"\mp"})
_OPENING = {"(": ")", "[": "]", "{": "}"}
_COMMANDS = frozenset({r"\frac", r"\sqrt", r"\binom"})
_LONGEST_PERIOD = 100
_DEGREE = Expression.atom(PI) / Expression.number(180)


def read_scalar(tokens: Tokens, sign: int = 1) -> Expression:
    r"""The value of a scalar expression; `sign` is what `\pm` stands for. Raises UnreadError, TooLargeError."""
    return _read(list(filter(str.strip, tokens)), sign, 0)


def _read(tokens: Tokens, sign: int, depth: int) -> Expression:
    reader = _Reader(tokens, sign, depth)
    value = reader.sum()
    left = reader.next
    if left is not None:
        raise (AmbiguousError if left[0].isdigit() else UnreadError)(f"{left!r} follows an expression")
    return value


class _Reader(Cursor):
    """The rules of the grammar, a method each."""

    def __init__(self, tokens: Tokens, sign: int, depth: int) -> None:
        super().__init__(tokens, depth)
        self._sign = sign

    def sum(self) -> Expression:
        value = self._signed(self.take()) if self.next in _SIGNS else self._product()
        while self.next in _SIGNS:
            value = value + self._signed(self.take())
        return value

    def _signed(self, sign: str) -> Expression:
        negative = sign == "-" or (sign == r"\pm" and self._sign < 0) or (sign == r"\mp" and self._sign > 0)
        negative ^= self._minus()
        value = self._product()
        return -value if negative else value

    def _product(self) -> Expression:
        value = self._mixed_number() or self._factor()
        while True:
            if self.next == "*":
                self.take()
                value = value * self._signed_factor()
            elif self.next == "/":
                self.take()
                value = value / self._signed_factor()
            elif self._begins_factor() or self._follows_a_factorial():
                value = value * self._factor()
            else:
                return value

    def _follows_a_factorial(self) -> bool:
        """Whether a number stands behind a factorial: `4!4!`."""
        return self.last == "!" and self.next is not None and self.next[0].isdigit()

    def _signed_factor(self) -> Expression:
        return -self._factor() if self._minus() else self._factor()

    def _minus(self) -> bool:
        """Pass the signs in front of a value, one by one, without recursion; whether they make it negative."""
        negative = False
        while self.next in {"+", "-"}:
            negative ^= self.take() == "-"
        return negative

    def _begins_factor(self) -> bool:
        """Whether a factor follows without a sign of multiplication; a number never does."""
        token = self.next
        if token is None:
            return False
        known = token in _OPENING or token in GREEK or token in _CONSTANTS or token in _COMMANDS
        return known or token[0].isalpha() or token[1:] in FUNCTIONS

    def _mixed_number(self) -> Expression | None:
        r"""`2\frac{2}{3}` or `2 2/3`. A fraction of one or more behind a whole number may mean anything."""
        whole, *beside = self.ahead(8) or [""]
        if not beside or not _DIGITS.fullmatch(whole):
            return None
        for form, length in _BESIDE:
            match = form.fullmatch(" ".join(beside))
            if match is not None:
                part = read_number(match.group(1)) / (read_number(match.group(2)) or 1)
                if part >= 1:
                    raise AmbiguousError("a whole number beside a fraction that is not less than 1")
                self.skip(1 + length)
                return Expression.number(read_number(whole) + part)
        return None

    def _factor(self) -> Expression:
        value = self._base()
        while self.next in {"!", "^"}:
            if self.take() == "!":
                value = factorial(value, every=1 + self._pass_marks())
            elif self.next == r"\circ":
                self.take()
                value = value * _DEGREE
            else:
                value = power(value, self._exponent())
        return value

    def _pass_marks(self) -> int:
        """Pass further signs of a factorial; how many there are. `5!!` is 5 * 3 * 1, not the factorial of 5!."""
        count = 0
        while self.next == "!":
            self.take()
            count += 1
        return count

    def _exponent(self) -> Expression:
        """What stands behind `^`: a group, or a factor with a sign; `2^3^4` is 2^(3^4)."""
        if self.next == "{":
            return self._argument()
        self.deeper()
        value = self._signed_factor()
        self.shallower()
        return value

    def _base(self) -> Expression:
        token = self.take()
        if token[0].isdigit() or (token[0] == "." and len(token) > 1):
            return self._decimal(token)
        if token == "." and self.next == r"\overline":  # noqa: S105
            return self._decimal("0.")
        if token in _OPENING:
            self.skip(-1)
            return self._inside(self.take_group(token, _OPENING[token]))
        if token == "|":  # noqa: S105
            return absolute(self._inside(self.take_until("|")))
        if token == r"\frac":  # noqa: S105
            return self._argument() / self._argument()
        if token in {r"\sqrt", "sqrt"}:
            return self._root(token)
        if token == r"\binom":  # noqa: S105
            return binomial(self._argument(), self._argument())
        name = token.removeprefix("\\")
        return self._function(name) if name in FUNCTIONS else self._symbol(token)

    def _decimal(self, digits: str) -> Expression:
        r"""A number; `0.1\overline{6}` has a period."""
        value = read_number(digits)
        if self.next != r"\overline" or "." not in digits:
            return Expression.number(value)
        self.take()
        period = "".join(self.take_group("{", "}") if self.next == "{" else [self.take()])
        if not _DIGITS.fullmatch(period) or len(period) > _LONGEST_PERIOD:
            raise UnreadError("a line over something other than a period")
        places = len(digits.partition(".")[2])
        return Expression.number(value + Fraction(int(period), (10 ** len(period) - 1) * 10**places))

    def _inside(self, tokens: Tokens) -> Expression:
        return _read(tokens, self._sign, self._depth + 1)

    def _argument(self) -> Expression:
        r"""The argument of a command: a group, else one character, as in `\frac12`."""
        return self._inside(self.take_group("{", "}") if self.next == "{" else [self.take_character()])

    def _root(self, command: str) -> Expression:
        degree = self._inside(self.take_group("[", "]")) if self.next == "[" else Expression.number(2)
        if command.startswith("\\") and (self.next or "")[:1].isdigit() and len(self.next or "") > 1:
            raise AmbiguousError("a root of the first digit, or of all of them")
        self.deeper()
        value = self._base()
        self.shallower()
        return power(value, Expression.number(1) / degree)

    def _function(self, name: str) -> Expression:
        exponent = base = None
        for _ in range(2):
            if self.next == "^" and exponent is None:
                self.take()
                exponent = self._exponent()
            elif self.next == "_" and base is None:
                self.take()
                base = self._argument()
        value = apply_function(name, [*([] if base is None else [base]), *self._operands()])
        if exponent is None:
            return value
        if exponent.rational is None or exponent.rational < 0:
            raise UnreadError(f"{name}^-1 may be the inverse or the reciprocal")
        return power(value, exponent)

    def _operands(self) -> list[Expression]:
        r"""`\sin(x)`, `\gcd(12, 18)`, or `\sin 2x`, which reaches up to the next sign or function."""
        if self.next in _OPENING:
            inside = self.take_group(self.next, _OPENING[self.next])
            return [self._inside(part) for part in split(inside, lambda mark: mark == ",")]
        self.deeper()
        value = self._factor()
        while self._begins_factor() and (self.next or "").removeprefix("\\") not in FUNCTIONS:
            value = value * self._factor()
        self.shallower()
        return [value]

    def _symbol(self, token: str) -> Expression:
        if token in _CONSTANTS:
            return Expression.atom(_CONSTANTS[token])
        if token not in GREEK and not (token.isalpha() and token.isascii()):
            raise UnreadError(f"{token!r} is not known")
        if len(token) > 1 and token not in GREEK:  # letters in a row are a product
            self.skip(-1)
            token = self.take_character()
            if token in _CONSTANTS:
                return Expression.atom(_CONSTANTS[token])
        name = token
        if self.next == "_":
            self.take()
            name += "_" + "".join(self.take_group("{", "}") if self.next == "{" else [self.take()])
        while self.next == "'":
            name += self.take()
        return Expression.atom(Atom(name, "symbol"))

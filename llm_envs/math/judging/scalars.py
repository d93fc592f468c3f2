r"""The reader of scalar expressions: a recursive descent over tokens that evaluates as it goes.

    sum     = ["+" | "-" | "\pm"] product {("+" | "-" | "\pm") product}
    product = factor {["*" | "/"] factor}
    factor  = base {"!" | "^" argument | "^\circ"}

What it is not sure of it does not read: `4 10/3` is no mixed number and no product either.
"""

import math
import re
from fractions import Fraction

from llm_envs.math.judging.errors import AmbiguousError, TooLargeError, UnreadError
from llm_envs.math.judging.exact import Expression, opaque
from llm_envs.math.judging.polynomials import EULER, IMAGINARY, MOST_BITS, PI, Atom
from llm_envs.math.judging.powers import power
from llm_envs.math.judging.tokens import DEEPEST, Tokens, partner

_NUMBER = re.compile(r"(\d*)(?:\.(\d*))?(?:[eE]([-+]?\d+))?")
_WHOLE = re.compile(r"\d+")
_LONGEST_NUMBER = 4000  # digits; Python's own limit is 4300
_LARGEST_FACTORIAL = 3000
_HALF = Expression.number(Fraction(1, 2))
_FUNCTIONS = frozenset(
    [
        "sin",
        "cos",
        "tan",
        "cot",
        "sec",
        "csc",
        "sinh",
        "cosh",
        "tanh",
        "arcsin",
        "arccos",
        "arctan",
        "ln",
        "log",
        "exp",
        "gcd",
        "lcm",
        "min",
        "max",
        "det",
    ]
)
_CONSTANTS = {r"\pi": PI, "pi": PI, "e": EULER, "i": IMAGINARY}
_GREEK = frozenset(
    rf"\{name}"
    for name in [
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "varepsilon",
        "zeta",
        "eta",
        "theta",
        "vartheta",
        "kappa",
        "lambda",
        "mu",
        "nu",
        "xi",
        "rho",
        "sigma",
        "tau",
        "phi",
        "varphi",
        "chi",
        "psi",
        "omega",
        "Gamma",
        "Delta",
        "Theta",
        "Lambda",
        "Xi",
        "Sigma",
        "Phi",
        "Psi",
        "Omega",
        "ell",
    ]
)
_SIGNS = frozenset({"+", "-", r"\pm", r"\mp"})


def read_scalar(tokens: Tokens, sign: int = 1) -> Expression:
    r"""The value of a scalar expression; `sign` is what `\pm` stands for. Raises UnreadError, TooLargeError."""
    return _read_all([token for token in tokens if token != " "], sign, 0)


def read_number(token: str) -> Fraction:
    """The value of a decimal literal."""
    match = _NUMBER.fullmatch(token)
    if match is None:
        raise UnreadError(f"{token!r} is no number")
    whole, decimals, exponent = match.groups()
    if len(token) > _LONGEST_NUMBER or (exponent and len(exponent) > 5):
        raise TooLargeError("a number of many digits")
    value = Fraction(int(whole + (decimals or "") or "0"), 10 ** len(decimals or ""))
    if not exponent:
        return value
    if abs(int(exponent)) * 4 > MOST_BITS:
        raise TooLargeError("a large power of ten")
    return value * Fraction(10) ** int(exponent)


class _Reader:
    """A position in the tokens of one expression."""

    def __init__(self, tokens: Tokens, sign: int, depth: int = 0) -> None:
        if depth > DEEPEST:
            raise UnreadError("brackets nest too deep")
        self._tokens = list(tokens)
        self._at = 0
        self._sign = sign
        self._depth = depth

    @property
    def next(self) -> str | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def sum(self) -> Expression:
        value = self._signed(self._take()) if self.next in _SIGNS else self._product()
        while self.next in _SIGNS:
            value = value + self._signed(self._take())
        return value

    def _signed(self, sign: str) -> Expression:
        value = self._unary()
        negative = sign == "-" or (sign == r"\pm" and self._sign < 0) or (sign == r"\mp" and self._sign > 0)
        return -value if negative else value

    def _unary(self) -> Expression:
        """A product behind a sign; signs in a row are read one by one, without recursion."""
        negative = False
        while self.next in {"+", "-"}:
            negative ^= self._take() == "-"
        value = self._product()
        return -value if negative else value

    def _product(self) -> Expression:
        value = self._mixed_number() or self._factor()
        while True:
            if self.next == "*":
                self._take()
                value = value * self._signed_factor()
            elif self.next == "/":
                self._take()
                value = value / self._signed_factor()
            elif self._begins_factor():
                value = value * self._factor()
            else:
                return value

    def _signed_factor(self) -> Expression:
        negative = False
        while self.next in {"+", "-"}:
            negative ^= self._take() == "-"
        return -self._factor() if negative else self._factor()

    def _begins_factor(self) -> bool:
        """Whether a factor follows without a sign of multiplication; a number never does."""
        token = self.next
        return token is not None and (
            token[0].isalpha() or token in {"(", "[", "{"} or token in _GREEK or token in _CONSTANTS
            or token in {r"\frac", r"\sqrt", r"\binom"} or token[1:] in _FUNCTIONS
        )  # fmt: skip

    def _mixed_number(self) -> Expression | None:
        """`2\\frac{2}{3}` or `2 2/3`; a fraction of one or more behind a whole number is nothing known."""
        rest = self._tokens[self._at : self._at + 9]
        if len(rest) < 2 or not _WHOLE.fullmatch(rest[0]):
            return None
        if rest[1] == r"\frac":
            joined = "".join(rest[2:])
            match = re.match(r"\{(\d+)\}\{(\d+)\}", joined) or re.match(r"(\d)(\d)(?!\d)", joined)
            if match is None:
                return None
            length = 8 if joined.startswith("{") else 2 + (2 if len(rest[2]) == 1 else 1)
        else:
            match = re.fullmatch(r"(\d+)/(\d+)", "".join(rest[1:4]))
            length = 4
            if match is None:
                return None
        above, below = read_number(match.group(1)), read_number(match.group(2))
        if not above < below:
            raise AmbiguousError("a whole number beside a fraction that is not less than 1")
        self._at += length
        return Expression.number(read_number(rest[0]) + above / below)

    def _factor(self) -> Expression:
        value = self._base()
        while self.next in {"!", "^"}:
            if self._take() == "!":
                value = _factorial(value)
            elif self.next == r"\circ":
                self._take()
                value = value * Expression.atom(PI) / Expression.number(180)
            else:
                value = power(value, self._exponent())
        return value

    def _exponent(self) -> Expression:
        """What stands behind `^`: a group, or a factor with a sign; `2^3^4` is 2^(3^4)."""
        if self.next == "{":
            return self._argument()
        self._deeper()
        value = self._signed_factor()
        self._depth -= 1
        return value

    def _base(self) -> Expression:
        token = self._take()
        if token[0].isdigit() or (token[0] == "." and len(token) > 1):
            return self._decimal(token)
        if token in {"(", "[", "{", "|"}:
            return self._group(token)
        if token == r"\frac":
            top = self._argument()
            return top / self._argument()
        if token in {r"\sqrt", "sqrt"}:
            return self._root()
        if token == r"\binom":
            return _binomial(self._argument(), self._argument())
        name = token.removeprefix("\\")
        if name in _FUNCTIONS:
            return self._function(name)
        return self._symbol(token)

    def _decimal(self, token: str) -> Expression:
        value = read_number(token)
        if self.next != r"\overline" or "." not in token:
            return Expression.number(value)
        self._take()
        period = "".join(self._grouped())
        if not _WHOLE.fullmatch(period) or len(period) > 100:
            raise UnreadError("a line over something other than digits")
        places = len(token.partition(".")[2])
        return Expression.number(value + Fraction(int(period), (10 ** len(period) - 1) * 10**places))

    def _group(self, opening: str) -> Expression:
        if opening == "|":
            inside = self._until_bar()
            return _absolute(inside)
        end = partner(self._tokens, self._at - 1)
        if {"(": ")", "[": "]", "{": "}"}[opening] != self._tokens[end]:
            raise UnreadError("brackets of different kinds")
        return self._inside(end)

    def _until_bar(self) -> Expression:
        try:
            end = self._tokens.index("|", self._at)
        except ValueError:
            raise UnreadError("a bar does not close") from None
        return self._inside(end)

    def _inside(self, end: int) -> Expression:
        value = _read_all(self._tokens[self._at : end], self._sign, self._depth + 1)
        self._at = end + 1
        return value

    def _argument(self) -> Expression:
        r"""The argument of a command: a group, else one character, as in `\frac12`."""
        if self.next == "{":
            return _read_all(self._grouped(), self._sign, self._depth + 1)
        token = self._take()
        if token[0].isdigit() and len(token) > 1:
            self._at -= 1
            self._tokens[self._at] = token[1:]
            token = token[0]
        return _read_all([token], self._sign, self._depth + 1)

    def _grouped(self) -> Tokens:
        """The tokens of the group that comes next."""
        if self.next != "{":
            raise UnreadError("a command without its argument")
        end = partner(self._tokens, self._at)
        inside = self._tokens[self._at + 1 : end]
        self._at = end + 1
        return inside

    def _root(self) -> Expression:
        degree = Expression.number(2)
        if self.next == "[":
            end = partner(self._tokens, self._at)
            self._at += 1
            degree = self._inside(end)
        if self.next == "{":
            value = self._argument()
        else:
            self._deeper()
            value = self._base()
            self._depth -= 1
        return power(value, Expression.number(1) / degree)

    def _function(self, name: str) -> Expression:
        exponent = base = None
        for _ in range(2):
            if self.next == "^" and exponent is None:
                self._take()
                exponent = self._exponent()
            elif self.next == "_" and base is None:
                self._take()
                base = self._argument()
        self._deeper()
        value = opaque(name, *([] if base is None else [base]), *self._operands())
        self._depth -= 1
        if exponent is None:
            return value
        if exponent.rational is None or exponent.rational < 0:
            raise UnreadError(f"{name}^-1 may be the inverse or the reciprocal")
        return power(value, exponent)

    def _operands(self) -> list[Expression]:
        r"""`\sin(x)`, `\gcd(12, 18)`, or `\sin 2x`, which reaches up to the next sign or function."""
        if self.next in {"(", "{", "["}:
            end = partner(self._tokens, self._at)
            inside, self._at = self._tokens[self._at + 1 : end], end + 1
            parts: list[Expression] = []
            begin = depth = 0
            for index, token in enumerate([*inside, ","]):
                depth += (token in {"(", "{", "["}) - (token in {")", "}", "]"})
                if token == "," and not depth:
                    parts.append(_read_all(inside[begin:index], self._sign, self._depth + 1))
                    begin = index + 1
            return parts
        value = self._factor()
        while self._begins_factor() and (self.next or "")[1:] not in _FUNCTIONS and self.next not in _FUNCTIONS:
            value = value * self._factor()
        return [value]

    def _symbol(self, token: str) -> Expression:
        if token in _GREEK:
            name = token
        elif token.isalpha() and token.isascii() and token not in _CONSTANTS:
            name = token[0]
            if len(token) > 1:  # letters in a row are a product
                self._at -= 1
                self._tokens[self._at] = token[1:]
        elif token in _CONSTANTS:
            return Expression.atom(_CONSTANTS[token])
        else:
            raise UnreadError(f"{token!r} is not known")
        if name in _CONSTANTS:
            return Expression.atom(_CONSTANTS[name])
        if self.next == "_":
            self._take()
            name += "_" + ("".join(self._grouped()) if self.next == "{" else self._take())
        while self.next == "'":
            name += self._take()
        return Expression.atom(Atom(name, "symbol"))

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise UnreadError("brackets nest too deep")

    def _take(self) -> str:
        token = self.next
        if token is None:
            raise UnreadError("the expression ends too early")
        self._at += 1
        return token


def _read_all(tokens: Tokens, sign: int, depth: int) -> Expression:
    reader = _Reader(tokens, sign, depth)
    value = reader.sum()
    if reader.next is not None:
        error = AmbiguousError if reader.next[0].isdigit() else UnreadError
        raise error(f"{reader.next!r} follows an expression")
    return value


def _absolute(value: Expression) -> Expression:
    number = value.rational
    return opaque("abs", value) if number is None else Expression.number(abs(number))


def _factorial(value: Expression) -> Expression:
    number = value.rational
    if number is None:
        return opaque("factorial", value)
    if number.denominator != 1 or number < 0:
        raise UnreadError("a factorial of something other than a natural number")
    if number > _LARGEST_FACTORIAL:
        raise TooLargeError("a large factorial")
    return Expression.number(math.factorial(number.numerator))


def _binomial(n: Expression, k: Expression) -> Expression:
    above, below = n.rational, k.rational
    if above is None or below is None:
        return opaque("binomial", n, k)
    if above.denominator != 1 or below.denominator != 1 or not 0 <= below <= above:
        raise UnreadError("a binomial coefficient outside 0 <= k <= n")
    if above > _LARGEST_FACTORIAL:
        raise TooLargeError("a large binomial coefficient")
    return Expression.number(math.comb(above.numerator, below.numerator))

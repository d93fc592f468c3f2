"""Values of expressions to many digits, at points where their symbols are numbers.

Two expressions that differ at one point are different. Two that agree to 80 digits at several points which neither
was written for are taken to be equal: the formulas that answers are made of cannot come so close by chance.
"""

import math
import zlib
from collections.abc import Callable, Mapping
from decimal import Context, Decimal, DecimalException, DivisionByZero, InvalidOperation, Overflow, localcontext
from fractions import Fraction
from functools import cache

from llm_envs.math.judging.exact import Expression
from llm_envs.math.judging.polynomials import Atom, Polynomial
from llm_envs.math.judging.verdict import Verdict

_DIGITS = 110
_AGREE = Decimal(10) ** -80  # of the size of the terms
_DIFFER = Decimal(10) ** -30
_POINTS = 4
_LARGEST_ANGLE = 10**9
_LARGEST_EXPONENT = 10**4
_LARGEST_FACTORIAL = 3000
_WHOLE_ONLY = frozenset({"factorial", "double factorial", "binomial"})
_BARE_LOGARITHM = "log of an unwritten base"
_MOST_BITS = 4096  # of a coefficient: more would make every step slow

Point = Mapping[str, Decimal]


class UndefinedError(Exception):
    """The expression has no real value at the point, or none that is worked out here."""


def compare_at_points(a: Expression, b: Expression) -> Verdict:
    """Whether two expressions agree wherever both are defined, as far as numbers can tell."""
    if _functions(a) | _functions(b) >= {_BARE_LOGARITHM}:
        verdicts = {_compare(a, b, base) for base in (Decimal(10), None)}
        return verdicts.pop() if len(verdicts) == 1 else Verdict.UNDECIDED
    return _compare(a, b, None)


def _compare(a: Expression, b: Expression, base: Decimal | None) -> Verdict:
    """The same with a logarithm whose base is not written to the base 10, or e where `base` is None."""
    names = sorted(_symbols(a) | _symbols(b))
    whole = not _WHOLE_ONLY.isdisjoint(_functions(a) | _functions(b))
    agreed = 0
    with localcontext(_context()):
        for number in range(_POINTS if names else 1):
            point = {name: _whole(name, number) if whole else _coordinate(name, number) for name in names}
            point[_BARE_LOGARITHM] = Decimal(1) if base is None else base.ln()
            try:
                left, right = _value(a, point), _value(b, point)
                gap = abs(left - right)
                size = max(abs(left), abs(right))
            except (UndefinedError, DecimalException):
                continue
            if gap > _DIFFER * size:
                return Verdict.WRONG
            if gap > _AGREE * size:
                return Verdict.UNDECIDED
            agreed += 1
    return Verdict.RIGHT if agreed > (1 if names else 0) else Verdict.UNDECIDED


def real_value(expression: Expression) -> Fraction | None:
    """The value of a constant to 100 digits, or None where there is none that is worked out here."""
    if _symbols(expression) or _BARE_LOGARITHM in _functions(expression):
        return None
    with localcontext(_context()):
        try:
            return Fraction(_value(expression, {}))
        except (UndefinedError, DecimalException):
            return None


def _context() -> Context:
    return Context(prec=_DIGITS, Emax=10**6, Emin=-(10**6), traps=[InvalidOperation, DivisionByZero, Overflow])


def _symbols(expression: Expression) -> set[str]:
    found: set[str] = set()
    for atom in expression.atoms:
        if atom.kind == "symbol":
            found.add(atom.key)
        for argument in atom.arguments:
            if isinstance(argument, Expression):
                found |= _symbols(argument)
    return found


def _functions(expression: Expression) -> set[str]:
    """The kinds of atoms that it is made of, those inside functions, too."""
    found: set[str] = set()
    for atom in expression.atoms:
        found.add(_BARE_LOGARITHM if atom.kind == "log" and len(atom.arguments) == 1 else atom.kind)
        for argument in atom.arguments:
            if isinstance(argument, Expression):
                found |= _functions(argument)
    return found


def _whole(name: str, number: int) -> Decimal:
    """A natural number, another one at each point, for what is defined for no others."""
    return Decimal(3 * number + 3 + zlib.crc32(name.encode()) % 3)


def _coordinate(name: str, number: int) -> Decimal:
    """A number between 0.1 and 3.1; the last two points have negative ones, too."""
    chance = zlib.crc32(f"{name} {number}".encode())
    size = Decimal(chance % 100_003 + 3_001) / Decimal(33_331)
    return -size if number == 2 or (number == 3 and chance & 1 << 30) else size


def _value(expression: Expression, point: Point) -> Decimal:
    return _sum(expression.top, point) / _sum(expression.bottom, point)


def _sum(polynomial: Polynomial, point: Point) -> Decimal:
    total, size = Decimal(0), Decimal(0)
    for monomial, factor in polynomial.items():
        term = _decimal(factor)
        for atom, exponent in monomial:
            term *= _power(_atom(atom, point), exponent)
        total += term
        size += abs(term)
    if abs(total) < size * _AGREE:
        if total:
            raise UndefinedError("nothing but rounding is left")
        return Decimal(0)
    return total


def _decimal(value: Fraction) -> Decimal:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MOST_BITS:
        raise UndefinedError("a long number")
    return Decimal(value.numerator) / Decimal(value.denominator)


def _power(base: Decimal, exponent: Fraction) -> Decimal:
    if exponent == 1:
        return base
    if exponent.denominator == 1 and abs(exponent) <= _LARGEST_EXPONENT:
        return base ** int(exponent)
    if base < 0 and exponent.denominator % 2:
        root = _power(-base, exponent)
        return -root if exponent.numerator % 2 else root
    if base <= 0:
        raise UndefinedError("a root of a number that is not positive")
    return base ** _decimal(exponent)


def _atom(atom: Atom, point: Point) -> Decimal:
    if atom.kind == "symbol":
        return point[atom.key]
    if atom.kind in {"prime", "number"}:
        return Decimal(atom.arguments[0])
    if atom.kind == "pi":
        return _pi()
    if atom.kind == "e":
        return Decimal(1).exp()
    if atom.kind == "log" and len(atom.arguments) == 1:
        return _value(atom.arguments[0], point).ln() / point[_BARE_LOGARITHM]
    function = _FUNCTIONS.get(atom.kind)
    if function is None:
        raise UndefinedError(atom.kind)
    return function(*(_value(argument, point) for argument in atom.arguments))


@cache
def _pi() -> Decimal:
    """Machin's formula: pi/4 = 4 arctan(1/5) - arctan(1/239)."""
    one: int = 10 ** (_DIGITS + 10)

    def arctan_of_inverse(n: int) -> int:
        power = one // n
        total, k = power, 1
        while power:
            power //= n * n
            k += 2
            total += (-1 if k % 4 == 3 else 1) * (power // k)
        return total

    return Decimal(4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239))).scaleb(-_DIGITS - 10)


def _sine(angle: Decimal) -> Decimal:
    if abs(angle) > _LARGEST_ANGLE:
        raise UndefinedError("a large angle")
    angle = angle.remainder_near(2 * _pi())
    term = total = angle
    k = 1
    while abs(term) > Decimal(10) ** -(_DIGITS + 5):
        k += 2
        term = -term * angle * angle / (k * (k - 1))
        total += term
    return Decimal(0) if abs(total) < _AGREE else total


def _cosine(angle: Decimal) -> Decimal:
    return _sine(angle + _pi() / 2)


def _exponential(exponent: Decimal) -> Decimal:
    if abs(exponent) > _LARGEST_EXPONENT:
        raise UndefinedError("a large exponent")
    return exponent.exp()


def _logarithm(base: Decimal, argument: Decimal) -> Decimal:
    return argument.ln() / base.ln()


def _natural(value: Decimal) -> int:
    if value != value.to_integral_value() or not 0 <= value <= _LARGEST_FACTORIAL:
        raise UndefinedError("a number that is not natural, or large")
    return int(value)


def _general_power(base: Decimal, exponent: Decimal) -> Decimal:
    if base <= 0:
        raise UndefinedError("a power of a number that is not positive")
    return _exponential(exponent * base.ln())


def _root(base: Decimal, exponent: Decimal) -> Decimal:
    """What `opaque("root")` keeps: an even root, of which the base must not be negative."""
    return _general_power(base, exponent) if base else Decimal(0)


_FUNCTIONS: Mapping[str, Callable[..., Decimal]] = {
    "sum": lambda value: value,
    "root": _root,
    "power": _general_power,
    "abs": abs,
    "sin": _sine,
    "cos": _cosine,
    "tan": lambda angle: _sine(angle) / _cosine(angle),
    "cot": lambda angle: _cosine(angle) / _sine(angle),
    "sec": lambda angle: 1 / _cosine(angle),
    "csc": lambda angle: 1 / _sine(angle),
    "exp": _exponential,
    "ln": lambda value: value.ln(),
    "log": _logarithm,
    "factorial": lambda value: Decimal(math.factorial(_natural(value))),
    "double factorial": lambda value: Decimal(math.prod(range(_natural(value), 0, -2))),
    "binomial": lambda n, k: Decimal(math.comb(_natural(n), _natural(k))),
}

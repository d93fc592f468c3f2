"""Scalars as quotients of polynomials in atoms, so that equal ones can be seen to be equal.

A difference that is the zero polynomial proves two expressions equal wherever both are defined.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from llm_envs.math.judging.errors import AmbiguousError, TooLargeError
from llm_envs.math.judging.polynomials import (
    MOST_BITS_IN_SUM,
    ONE,
    Atom,
    Polynomial,
    added,
    canonical_text,
    multiplied,
    negative,
    scaled,
)


@dataclass(frozen=True)
class Expression:
    """A quotient of polynomials. A denominator of one term is always divided out, so it is 1 nearly always."""

    top: Polynomial
    bottom: Polynomial = field(default_factory=lambda: ONE)

    @classmethod
    def number(cls, value: Fraction | int) -> "Expression":
        """A rational number."""
        return cls({(): Fraction(value)} if value else {})

    @classmethod
    def atom(cls, atom: Atom, exponent: Fraction | int = 1) -> "Expression":
        """A power of an atom."""
        return cls({((atom, Fraction(exponent)),): Fraction(1)})

    @cached_property
    def rational(self) -> Fraction | None:
        """Its value, where it is a rational number."""
        if self.bottom != ONE or self.top.keys() - {()}:
            return None
        return self.top.get((), Fraction(0))

    @cached_property
    def key(self) -> str:
        """Its canonical text. Two texts may differ for equal quotients; equal texts mean equal quotients."""
        top = canonical_text(self.top)
        return top if self.bottom == ONE else f"({top})/({canonical_text(self.bottom)})"

    @property
    def atoms(self) -> set[Atom]:
        """All atoms that it is made of, those inside functions not counted."""
        return {atom for side in (self.top, self.bottom) for monomial in side for atom, _ in monomial}

    def __add__(self, other: "Expression") -> "Expression":
        if self.bottom == other.bottom:
            return quotient(added(self.top, other.top), self.bottom)
        top = added(multiplied(self.top, other.bottom), multiplied(other.top, self.bottom))
        return quotient(top, multiplied(self.bottom, other.bottom))

    def __neg__(self) -> "Expression":
        return Expression({monomial: -factor for monomial, factor in self.top.items()}, self.bottom)

    def __sub__(self, other: "Expression") -> "Expression":
        return self + -other

    def __mul__(self, other: "Expression") -> "Expression":
        return quotient(multiplied(self.top, other.top), multiplied(self.bottom, other.bottom))

    def __truediv__(self, other: "Expression") -> "Expression":
        return quotient(multiplied(self.top, other.bottom), multiplied(self.bottom, other.top))


def difference(a: Expression, b: Expression) -> Polynomial:
    """A polynomial that is zero exactly if `a` equals `b` wherever both are defined."""
    if a.bottom == b.bottom:
        return (a - b).top if a.bottom == ONE else added(a.top, negative(b.top))
    return added(multiplied(a.top, b.bottom), negative(multiplied(b.top, a.bottom)))


def quotient(top: Polynomial, bottom: Polynomial) -> Expression:
    """The quotient in its usual form. Raises AmbiguousError for a denominator of zero."""
    if not bottom:
        raise AmbiguousError("a division by zero")
    if bottom == ONE:
        return Expression(top)
    if len(bottom) == 1:
        ((monomial, factor),) = bottom.items()
        inverse = tuple((atom, -exponent) for atom, exponent in monomial)
        return Expression(multiplied(top, {(): 1 / factor}, inverse))
    leading = bottom[min(bottom)]
    return (
        Expression(scaled(top, 1 / leading), scaled(bottom, 1 / leading)) if leading != 1 else Expression(top, bottom)
    )


def opaque(name: str, *arguments: Expression) -> Expression:
    """A function of expressions that stays as it is written."""
    key = f"{name}({', '.join(argument.key for argument in arguments)})"
    if len(key) > 4 * MOST_BITS_IN_SUM:
        raise TooLargeError("a function of a long expression")
    return Expression.atom(Atom(key, name, arguments))

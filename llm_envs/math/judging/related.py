"""Relations between names, however they are solved: `y = 2x`, `x = y/2` and `2x - y = 0` say the same."""

from fractions import Fraction

from llm_envs.math.judging.exact import Expression
from llm_envs.math.judging.polynomials import ONE, Atom
from llm_envs.math.judging.values import Infinity, Named, Ordered, Relation, Scalar, Value


def as_relation(value: Value, other: str | None = None) -> Relation | None:
    """A relation, also where it says what a name is in terms of another one: `y = 2x`, `y < 1 - x`.

    A name with a number is none: whoever is asked to solve `2x + 3 = 9` must not answer with that.
    """
    if not isinstance(value, Named):
        return value if isinstance(value, Relation) else None
    symbol = Expression.atom(Atom(value.name, "symbol"))
    sign, bound, factor = _bound(value.value)
    if bound is None or bound.value is None:
        return None
    names = {atom.key for atom in bound.value.atoms if atom.kind == "symbol"}
    if not names or (other is not None and other not in names):
        return None
    difference = symbol - bound.value
    return Relation(sign, difference if factor > 0 else -difference, f"{value.name}{sign}{bound.text}")


def _bound(value: Value) -> tuple[str, Scalar | None, int]:
    """What a name is equal to, at most or at least; the sign of the relation, and -1 for at least."""
    match value:
        case Scalar():
            return "=", value, 1
        case Ordered(items=(Infinity(positive=False), Scalar() as most)):
            return "<=" if value.closing == "]" else "<", most, 1
        case Ordered(items=(Scalar() as least, Infinity(positive=True))):
            return "<=" if value.opening == "[" else "<", least, -1
    return "=", None, 1


def factor_between(a: Expression, b: Expression) -> Fraction | None:
    """The number that `a` is `b` times, if there is one."""
    if a.bottom != b.bottom or a.top.keys() != b.top.keys():
        return None
    factors = {factor / b.top[monomial] for monomial, factor in a.top.items()}
    return factors.pop() if len(factors) == 1 else None


def is_linear(expression: Expression) -> bool:
    """Whether it is a sum of names times numbers."""
    return expression.bottom == ONE and all(
        not monomial or (len(monomial) == 1 and monomial[0][0].kind == "symbol" and monomial[0][1] == 1)
        for monomial in expression.top
    )

"""What kinds of answers there are. Kinds are kept apart: a pair is no set, and no closed interval."""

from dataclasses import dataclass
from typing import TypeAlias

from llm_envs.math.judging.exact import Expression


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number or an expression.

    Attributes:
        text: its normal form.
        value: what it comes to, or None where the exact reader cannot say; the library may.
        places: decimal places, where it is written as one decimal number.
        too_large: whether it is beyond every bound, so that no library is asked either.
    """

    text: str
    value: Expression | None
    places: int | None = None
    too_large: bool = False


@dataclass(frozen=True, slots=True)
class Percent:
    """A number with a percent sign."""

    number: Scalar


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value with a unit, a currency or a word for what is counted behind it."""

    amount: "Value"
    unit: str


@dataclass(frozen=True, slots=True)
class InBase:
    """Digits in a base that is written with them."""

    digits: str
    base: int


@dataclass(frozen=True, slots=True)
class Words:
    """An answer in words, or the letter of a choice."""

    text: str


@dataclass(frozen=True, slots=True)
class Infinity:
    """An end of the real line."""

    positive: bool


@dataclass(frozen=True, slots=True)
class Ordered:
    """A tuple, an interval, a vector or a ratio: the brackets tell which, and all of it counts."""

    opening: str
    closing: str
    items: "tuple[Value, ...]"


@dataclass(frozen=True, slots=True)
class Unordered:
    r"""Several values whose order does not matter: `\{1, 2\}`, or `1, 2` without brackets.

    Attributes:
        items: the values.
        braces: whether they stand in braces, so that it says nothing how often one does.
    """

    items: "tuple[Value, ...]"
    braces: bool = False


@dataclass(frozen=True, slots=True)
class Union:
    """A union of intervals."""

    parts: "tuple[Value, ...]"


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows of equal length, each as a tuple."""

    items: "tuple[Ordered, ...]"


@dataclass(frozen=True, slots=True)
class Named:
    """A value with the name that it is given: `x = 5`, `x < 3`, `f(x) = x^2`."""

    name: str
    value: "Value"


@dataclass(frozen=True, slots=True)
class Relation:
    """An equation or inequality that gives no name a value: `left - right` stands to 0 as `sign` says."""

    sign: str
    difference: Expression
    text: str


@dataclass(frozen=True, slots=True)
class Unread:
    """A text that is none of these."""

    text: str
    reason: str


Number: TypeAlias = Scalar | Percent | Quantity | InBase | Infinity
Collection: TypeAlias = Ordered | Unordered | Union | Matrix
Value: TypeAlias = Number | Collection | Words | Named | Relation | Unread

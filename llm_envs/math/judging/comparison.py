"""The policy: which answers count as a gold answer. `docs/math_judging.md` tells it in words, row by row.

Verdicts are three-valued all the way: what one part leaves undecided is decided by another, or stays so.
"""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

from llm_envs.math.judging.agreement import compare_scalars
from llm_envs.math.judging.exact import Expression
from llm_envs.math.judging.polynomials import ONE, Atom
from llm_envs.math.judging.values import (
    Matrix,
    Named,
    Ordered,
    Percent,
    Quantity,
    Relation,
    Scalar,
    Union,
    Unordered,
    Unread,
    Value,
    Words,
)
from llm_envs.math.judging.verdict import Verdict, all_right

Pair = tuple[str, str]
LONGEST_ASKED = 300  # characters of a part that the library is asked about
_ASKED = re.compile(r"[A-Za-z0-9\\{}()\[\]^_+*/|!.,<>= '-]+")


class Comparison:
    """One comparison of answers.

    Attributes:
        open: pairs of normal forms, gold first, on which the verdict may depend and which only a library can compare.
    """

    def __init__(self, known: Mapping[Pair, Verdict] | None = None) -> None:
        """`known` holds the library's verdicts on pairs that an earlier comparison left open."""
        self._known = known or {}
        self.open: list[Pair] = []

    def compare(self, gold: Value, answer: Value) -> Verdict:
        """The verdict; the order matters, since the gold answer says what was asked for."""
        if isinstance(gold, Named) or isinstance(answer, Named):
            return self._named(gold, answer)
        if isinstance(gold, Unread) or isinstance(answer, Unread):
            return Verdict.UNDECIDED
        if isinstance(gold, Quantity) or isinstance(answer, Quantity):
            return self._quantities(gold, answer)
        if isinstance(gold, Percent) or isinstance(answer, Percent):
            return self._percents(gold, answer)
        if isinstance(gold, Unordered) or isinstance(answer, Unordered):
            return self._matching(_items(gold), _items(answer))
        return self._same_kind(gold, answer)

    def _same_kind(self, gold: Value, answer: Value) -> Verdict:
        match gold, answer:
            case Scalar(), Scalar():
                return self._scalars(gold, answer)
            case Words(), Words():
                return Verdict.of(gold.text == answer.text)
            case (Words(text=words), Scalar(text=other)) | (Scalar(text=other), Words(text=words)):
                return Verdict.of(_in_words(other, words))
            case Ordered(), Ordered():
                if (gold.opening, gold.closing) != (answer.opening, answer.closing):
                    return Verdict.WRONG
                return self._in_order(gold.items, answer.items)
            case Union(), Union():
                return self._matching(gold.parts, answer.parts)
            case Matrix(), Matrix():
                return self._in_order(gold.items, answer.items)
            case Relation(), Relation():
                return self._relations(gold, answer)
        return Verdict.RIGHT if gold == answer else _different_kinds(gold, answer)

    def _named(self, gold: Value, answer: Value) -> Verdict:
        """A name may be left out, or given where the gold answer has none; two names must be the same."""
        if isinstance(gold, Named) and isinstance(answer, Named):
            return self.compare(gold.value, answer.value) if gold.name == answer.name else Verdict.WRONG
        if isinstance(gold, Relation) or isinstance(answer, Relation):
            return self._relations(_as_relation(gold), _as_relation(answer))
        return self.compare(_without_name(gold), _without_name(answer))

    def _scalars(self, gold: Scalar, answer: Scalar) -> Verdict:
        if gold.text == answer.text:
            return Verdict.RIGHT
        verdict = compare_scalars(gold, answer)
        if verdict is not Verdict.UNDECIDED or gold.too_large or answer.too_large:
            return verdict
        return self._ask(gold.text, answer.text)

    def _ask(self, gold: str, answer: str) -> Verdict:
        """What the library says, or said; what it might read only in part is not asked of it."""
        if max(len(gold), len(answer)) > LONGEST_ASKED or not (_ASKED.fullmatch(gold) and _ASKED.fullmatch(answer)):
            return Verdict.UNDECIDED
        pair = (gold, answer)
        if pair not in self._known:
            self.open.append(pair)
        return self._known.get(pair, Verdict.UNDECIDED)

    def _in_order(self, gold: Sequence[Value], answer: Sequence[Value]) -> Verdict:
        if len(gold) != len(answer):
            return Verdict.WRONG
        return all_right([self.compare(left, right) for left, right in zip(gold, answer, strict=True)])

    def _matching(self, gold: Sequence[Value], answer: Sequence[Value]) -> Verdict:
        """Whether items can be paired off: surely, surely not, or only if undecided pairs are equal."""
        if len(gold) != len(answer):
            return Verdict.WRONG
        if _has_names(gold) != _has_names(answer):  # the names say which value is whose
            return self._in_order(gold, answer)
        table = [[self.compare(left, right) for right in answer] for left in gold]
        if can_pair([[verdict is Verdict.RIGHT for verdict in row] for row in table]):
            return Verdict.RIGHT
        possible = can_pair([[verdict is not Verdict.WRONG for verdict in row] for row in table])
        return Verdict.UNDECIDED if possible else Verdict.WRONG

    def _quantities(self, gold: Value, answer: Value) -> Verdict:
        """The unit may be left out, or be given where the gold answer has none; two units must be the same."""
        if isinstance(gold, Quantity) and isinstance(answer, Quantity) and gold.unit != answer.unit:
            return Verdict.WRONG
        return self.compare(
            gold.amount if isinstance(gold, Quantity) else gold,
            answer.amount if isinstance(answer, Quantity) else answer,
        )

    def _percents(self, gold: Value, answer: Value) -> Verdict:
        """A percent sign divides by 100; where the question asks for percents it may be left out, or be given."""
        if isinstance(gold, Percent) and isinstance(answer, Percent):
            return self._scalars(gold.number, answer.number)
        percent, number = (gold, answer) if isinstance(gold, Percent) else (answer, gold)
        if not isinstance(percent, Percent) or not isinstance(number, Scalar):
            return Verdict.WRONG
        written, value = percent.number.value, None if number.value is None else number.value.rational
        if written is None or written.rational is None or value is None:
            return Verdict.UNDECIDED
        sign_left_out = written.rational == value and abs(value) > 1
        share = written.rational == 100 * value
        if number is gold:  # 5000% is no way to say 50
            share = share and (abs(value) <= 1 or value.denominator > 1)
        return Verdict.of(share or sign_left_out)

    def _relations(self, gold: Relation | None, answer: Relation | None) -> Verdict:
        """Relations that differ by a factor are the same, linear ones only then; of others the library may say more."""
        if gold is None or answer is None or gold.sign != answer.sign:
            return Verdict.WRONG
        factor = _factor_between(gold.difference, answer.difference)
        if factor is not None and (factor > 0 or gold.sign == "="):
            return Verdict.RIGHT
        if _is_linear(gold.difference) and _is_linear(answer.difference):
            return Verdict.WRONG
        return self._ask(gold.text, answer.text)


def can_pair(table: Sequence[Sequence[bool]]) -> bool:
    """Whether rows can be matched with columns of their own (augmenting paths, Kuhn 1955)."""
    owner: dict[int, int] = {}

    def place(row: int, seen: set[int]) -> bool:
        for column, fits in enumerate(table[row]):
            if fits and column not in seen:
                seen.add(column)
                if column not in owner or place(owner[column], seen):
                    owner[column] = row
                    return True
        return False

    return all(place(row, set()) for row in range(len(table)))


def _items(value: Value) -> tuple[Value, ...]:
    """The values of a set or list; one value alone is a list of one."""
    return value.items if isinstance(value, Unordered) else (value,)


def _different_kinds(gold: Value, answer: Value) -> Verdict:
    """Kinds that are apart are wrong, but for a scalar that nobody could read: it may be of any kind."""
    unread = any(isinstance(value, Scalar) and value.value is None for value in (gold, answer))
    return Verdict.UNDECIDED if unread else Verdict.WRONG


def _has_names(items: Sequence[Value]) -> bool:
    """Whether values are told apart by names: `x = 1, y = 2`."""
    return any(isinstance(item, Named) for item in items)


def _without_name(value: Value) -> Value:
    return value.value if isinstance(value, Named) else value


def _as_relation(value: Value) -> Relation | None:
    """A relation, also where it gives a name a value."""
    if isinstance(value, Named) and isinstance(value.value, Scalar) and value.value.value is not None:
        symbol = Expression.atom(Atom(value.name, "symbol"))
        return Relation("=", symbol - value.value.value, f"{value.name}={value.value.text}")
    return value if isinstance(value, Relation) else None


def _factor_between(a: Expression, b: Expression) -> Fraction | None:
    """The number that `a` is `b` times, if there is one."""
    if a.bottom != b.bottom or a.top.keys() != b.top.keys():
        return None
    factors = {factor / b.top[monomial] for monomial, factor in a.top.items()}
    return factors.pop() if len(factors) == 1 else None


def _is_linear(expression: Expression) -> bool:
    """Whether it is a sum of names times numbers."""
    return expression.bottom == ONE and all(
        not monomial or (len(monomial) == 1 and monomial[0][0].kind == "symbol" and monomial[0][1] == 1)
        for monomial in expression.top
    )


def _in_words(text: str, words: str) -> bool:
    """Whether letters that may be a product are the words; a single letter keeps its case."""
    letters = text.replace(" ", "")
    return letters == words if len(words) == 1 else letters.casefold() == words.replace(" ", "")

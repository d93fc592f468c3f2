"""The policy: which answers count as a gold answer. `docs/math_judging.md` tells it in words, row by row.

Verdicts are three-valued all the way: what one part leaves undecided is decided by another, or stays so.
"""

import re
from collections.abc import Mapping, Sequence

from llm_envs.math.judging.agreement import compare_scalars
from llm_envs.math.judging.asking import Pair, can_be_asked
from llm_envs.math.judging.related import as_relation, factor_between, is_linear
from llm_envs.math.judging.scalars import read_scalar
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


class Comparison:
    """One comparison of answers.

    Attributes:
        open: pairs of normal forms, gold first, on which the verdict may depend and which only a library can compare.
    """

    def __init__(self, known: Mapping[Pair, Verdict] | None = None, *, rounded: bool = True) -> None:
        """Prepare.

        Args:
            known: the library's verdicts on pairs that an earlier comparison left open.
            rounded: whether a decimal of enough places stands for a number that has no finite one.
        """
        self._known = known or {}
        self._rounded = rounded
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
            return self._matching(*_lists(gold, answer))
        return self._same_kind(gold, answer)

    def _compare_parts(self, gold: Value, answer: Value) -> Verdict:
        r"""The verdict on parts of answers: inside one, a set of one value is not that value, \{\{1\}\} not \{1\}."""
        unread = isinstance(gold, Unread) or isinstance(answer, Unread)
        if not unread and isinstance(gold, Unordered) is not isinstance(answer, Unordered):
            return Verdict.WRONG if not _is_open(gold, answer) else Verdict.UNDECIDED
        return self.compare(gold, answer)

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
            case (Matrix() | Ordered(), Matrix()) | (Matrix(), Ordered()):
                return self._matrices(gold, answer)
            case Relation(), Relation():
                return self._relations(gold, answer)
        return Verdict.RIGHT if gold == answer else _different_kinds(gold, answer)

    def _matrices(self, gold: Value, answer: Value) -> Verdict:
        """Rows in order; a list of lists is a matrix, too."""
        mine, yours = _rows(gold), _rows(answer)
        if mine is None or yours is None or len(mine) != len(yours):
            return Verdict.WRONG
        return all_right([self._in_order(left, right) for left, right in zip(mine, yours, strict=True)])

    def _named(self, gold: Value, answer: Value) -> Verdict:
        """A name may be left out, or given where the gold answer has none; two names must be the same.

        What tells how two names belong together may be solved for either, `y = 2x` for x, or for none.
        """
        if isinstance(gold, Named) and isinstance(answer, Named):
            if gold.name == answer.name:
                return self.compare(gold.value, answer.value)
            return self._relations(as_relation(gold, answer.name), as_relation(answer, gold.name))
        if isinstance(gold, Relation) or isinstance(answer, Relation):
            return self._relations(as_relation(gold), as_relation(answer))
        if any(isinstance(value, Unordered) and _has_names(value.items) for value in (gold, answer)):
            return Verdict.WRONG  # several names beside one
        return self.compare(_without_name(gold), _without_name(answer))

    def _scalars(self, gold: Scalar, answer: Scalar) -> Verdict:
        if gold.text == answer.text:
            return Verdict.RIGHT
        verdict = compare_scalars(gold, answer, rounded=self._rounded)
        if verdict is not Verdict.UNDECIDED or gold.too_large or answer.too_large:
            return verdict
        return self._ask(gold.text, answer.text)

    def _ask(self, gold: str, answer: str) -> Verdict:
        """What the library says, or said; what it might read only in part is not asked of it."""
        pair = (gold, answer)
        if not can_be_asked(pair):
            return Verdict.UNDECIDED
        if pair not in self._known:
            self.open.append(pair)
        return self._known.get(pair, Verdict.UNDECIDED)

    def _in_order(self, gold: Sequence[Value], answer: Sequence[Value]) -> Verdict:
        if len(gold) != len(answer):
            return Verdict.WRONG
        return all_right([self._compare_parts(left, right) for left, right in zip(gold, answer, strict=True)])

    def _matching(self, gold: Sequence[Value], answer: Sequence[Value]) -> Verdict:
        """Whether items can be paired off: surely, surely not, or only if undecided pairs are equal."""
        if len(gold) != len(answer):
            return Verdict.WRONG
        if _has_names(gold) != _has_names(answer):  # the names say which value is whose
            return self._in_order(gold, answer)
        table = [[self._compare_parts(left, right) for right in answer] for left in gold]
        if can_pair([[verdict is Verdict.RIGHT for verdict in row] for row in table]):
            return Verdict.RIGHT
        possible = can_pair([[verdict is not Verdict.WRONG for verdict in row] for row in table])
        return Verdict.UNDECIDED if possible else Verdict.WRONG

    def _quantities(self, gold: Value, answer: Value) -> Verdict:
        """The unit may be left out, or be given where the gold answer has none; two units must be the same."""
        if isinstance(gold, Quantity) and isinstance(answer, Quantity) and gold.unit != answer.unit:
            return Verdict.WRONG
        if _is_glued(gold, answer) or _is_glued(answer, gold):
            return Verdict.RIGHT
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
        factor = factor_between(gold.difference, answer.difference)
        if factor is not None and (factor > 0 or gold.sign == "="):
            return Verdict.RIGHT
        if is_linear(gold.difference) and is_linear(answer.difference):
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


def _lists(gold: Value, answer: Value) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """The values of sets or lists; one value alone is a list of one. In two sets none stands twice."""
    mine, yours = (value.items if isinstance(value, Unordered) else (value,) for value in (gold, answer))
    if all(isinstance(value, Unordered) and value.braces for value in (gold, answer)):
        return _distinct(mine), _distinct(yours)
    return mine, yours


def _distinct(items: tuple[Value, ...]) -> tuple[Value, ...]:
    kept: list[Value] = []
    for item in items:
        if not any(_are_one(item, other) for other in kept):
            kept.append(item)
    return tuple(kept)


def _are_one(a: Value, b: Value) -> bool:
    """Whether two items of a set are the same one, as far as exact arithmetic can tell at once."""
    if isinstance(a, Scalar) and isinstance(b, Scalar) and a.value is not None and b.value is not None:
        return a.value == b.value
    return a == b


def _rows(value: Value) -> list[tuple[Value, ...]] | None:
    """The rows of a matrix, or of a list of lists in square brackets; None for anything else."""
    if isinstance(value, Matrix):
        return [row.items for row in value.items]
    if not isinstance(value, Ordered) or value.opening + value.closing != "[]":
        return None
    rows = [row.items for row in value.items if isinstance(row, Ordered) and row.opening + row.closing == "[]"]
    return rows if len(rows) == len(value.items) else None


def _is_glued(quantity: Value, other: Value) -> bool:
    """Whether a value is a quantity with the letters of its unit as factors: 5 m, which somebody has written `5m`."""
    if not isinstance(quantity, Quantity) or not isinstance(quantity.amount, Scalar) or not isinstance(other, Scalar):
        return False
    amount, product = quantity.amount.value, other.value
    if amount is None or product is None or not re.fullmatch(r"[A-Za-z]{1,3}|[a-z]\^[23]", quantity.unit):
        return False
    return product == amount * read_scalar([*quantity.unit])


def _different_kinds(gold: Value, answer: Value) -> Verdict:
    """Kinds that are apart are wrong, but for a scalar that nobody could read: it may be of any kind."""
    return Verdict.UNDECIDED if _is_open(gold, answer) else Verdict.WRONG


def _is_open(*values: Value) -> bool:
    return any(isinstance(value, Scalar) and value.value is None for value in values)


def _has_names(items: Sequence[Value]) -> bool:
    """Whether values are told apart by names: `x = 1, y = 2`."""
    return any(isinstance(item, Named) for item in items)


def _without_name(value: Value) -> Value:
    return value.value if isinstance(value, Named) else value


def _in_words(text: str, words: str) -> bool:
    """Whether letters that may be a product are the words; a single letter keeps its case."""
    letters = text.replace(" ", "")
    return letters == words if len(words) == 1 else letters.casefold() == words.replace(" ", "")

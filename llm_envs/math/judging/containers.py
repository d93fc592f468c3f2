r"""Lists, sets, tuples, intervals, unions, ratios and matrices."""

from llm_envs.math.judging.errors import UnreadError
from llm_envs.math.judging.tokens import Read, Tokens, partner, positions, split, stripped
from llm_envs.math.judging.values import Infinity, Matrix, Named, Ordered, Union, Unordered, Value

MOST_ITEMS = 64
_SEPARATORS = frozenset({",", ";", "or", "and", r"\text{or}", r"\text{and}"})
_ALTERNATIVES = frozenset({"or", r"\text{or}"})
_CLOSING = {"(": (")", "]"), "[": (")", "]"), r"\langle": (r"\rangle",)}
_MATRICES = frozenset({"pmatrix", "bmatrix", "matrix", "array", "smallmatrix", "Bmatrix"})
_REALS = Ordered("(", ")", (Infinity(positive=False), Infinity(positive=True)))


def read_several(tokens: Tokens, read: Read) -> Value | None:
    """Values with commas, semicolons, `and` or `or` between them: unordered. `x = 1 or x = 2` gives `x` both."""
    cuts = [tokens[index] for index in positions(tokens, _SEPARATORS.__contains__)]
    if not cuts:
        return None
    parts = split(tokens, _SEPARATORS.__contains__)
    if not parts[0] or not parts[-1] or (any(not part for part in parts) and len(cuts) < 2):
        raise UnreadError("a list lacks an item")
    items = _items([part for part in parts if part], read)
    names = {item.name if isinstance(item, Named) else None for item in items}
    if len(names) > 1 or None in names:
        return Unordered(items)
    (name,) = names
    values = tuple(item.value for item in items if isinstance(item, Named))
    if any(isinstance(value, (Ordered, Union)) for value in values):
        if not _ALTERNATIVES.issuperset(cuts):
            raise UnreadError("conditions that hold together, or one of them: it does not say")
        return Named(str(name), Union(values))
    return Named(str(name), Unordered(values))


def read_union(tokens: Tokens, read: Read) -> Value | None:
    """Intervals with a union sign between them, or the letter U."""
    parts = split(tokens, lambda mark: mark in {r"\cup", "U"})
    if len(parts) < 2:
        return None
    values = _items(parts, read)
    if all(isinstance(value, Unordered) for value in values):
        return Unordered(tuple(item for value in values if isinstance(value, Unordered) for item in value.items))
    return Union(values)


def read_bracketed(tokens: Tokens, read: Read) -> Value | None:
    """What stands in one pair of brackets: a set, a tuple, an interval, or a value in parentheses."""
    if tokens[0] == r"\emptyset" and len(tokens) == 1:
        return Unordered(())
    if "".join(tokens) == r"\mathbb{R}":
        return _REALS
    opening, closing = tokens[0], tokens[-1]
    if opening not in {"(", "[", "{", r"\{", r"\langle"} or partner(tokens, 0) != len(tokens) - 1:
        return None
    inside = stripped(tokens[1:-1])
    if opening in {"{", r"\{"}:
        return _read_braces(opening, inside, read)
    if closing not in _CLOSING[opening]:
        raise UnreadError("brackets of different kinds")
    parts = split(inside, lambda mark: mark in {",", ";"})
    if len(parts) == 1 and opening == "(" and closing == ")":
        return read(inside)
    return Ordered(opening, closing, _items(parts, read))


def _read_braces(opening: str, inside: Tokens, read: Read) -> Value:
    if opening == "{" and not positions(inside, lambda mark: mark == ","):
        return read(inside)
    if not inside:
        return Unordered(())
    if positions(inside, lambda mark: mark in {"|", ":"}):
        raise UnreadError("a set by its condition")
    return Unordered(_items(split(inside, lambda mark: mark in {",", ";"}), read))


def read_matrix(tokens: Tokens, read: Read) -> Value | None:
    r"""`\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}`; round and square brackets mean the same matrix."""
    if tokens[0] != r"\begin" or len(tokens) < 9 or tokens[2] not in _MATRICES:
        return None
    kind = tokens[2]
    if "".join(tokens[-4:]) != rf"\end{{{kind}}}" or tokens[1] != "{" or tokens[3] != "}":
        return None
    body = stripped(tokens[4:-4])
    if kind == "array" and body and body[0] == "{":
        body = stripped(body[partner(body, 0) + 1 :])
    lines = [line for line in split(body, lambda mark: mark == "\\\\") if line]
    rows = tuple(Ordered("&", "&", _items(split(line, lambda mark: mark == "&"), read)) for line in lines)
    if not rows or len({len(row.items) for row in rows}) > 1:
        raise UnreadError("rows of different length")
    return Matrix(rows)


def read_ratio(tokens: Tokens, read: Read) -> Value | None:
    """`3:2`; terms count as they are written."""
    parts = split(tokens, lambda mark: mark == ":")
    return Ordered(":", ":", _items(parts, read)) if len(parts) > 1 else None


def _items(parts: list[Tokens], read: Read) -> tuple[Value, ...]:
    if len(parts) > MOST_ITEMS:
        raise UnreadError(f"it has {len(parts)} items, at most {MOST_ITEMS} are read")
    if not all(parts):
        raise UnreadError("a list lacks an item")
    return tuple(read(part) for part in parts)

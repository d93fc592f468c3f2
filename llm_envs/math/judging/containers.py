r"""Lists, sets, tuples, intervals, unions, ratios and matrices."""

from llm_envs.math.judging.errors import UnreadError
from llm_envs.math.judging.tokens import Read, Tokens, partner, positions, split, stripped
from llm_envs.math.judging.values import Infinity, Matrix, Named, Ordered, Union, Unordered, Value, Words

MOST_ITEMS = 64
_SEPARATORS = frozenset({",", ";", "or", "and", r"\text{or}", r"\text{and}"})
_ALTERNATIVES = frozenset({"or", r"\text{or}"})
_CLOSING = {"(": (")", "]"), "[": (")", "]"), r"\langle": (r"\rangle",)}
_MATRICES = frozenset({"pmatrix", "bmatrix", "matrix", "array", "smallmatrix", "Bmatrix"})
REALS = Ordered("(", ")", (Infinity(positive=False), Infinity(positive=True)))


def read_several(tokens: Tokens, read: Read) -> Value | None:
    """Values with commas, semicolons, `and` or `or` between them: unordered. `x = 1 or x = 2` gives `x` both."""
    cuts = [tokens[index] for index in positions(tokens, _SEPARATORS.__contains__)]
    if not cuts:
        return None
    parts = split(tokens, _SEPARATORS.__contains__)
    if not parts[0] or not parts[-1] or (any(not part for part in parts) and len(cuts) < 2):
        raise UnreadError("a list lacks an item")
    items = _each(_items([part for part in parts if part], read))
    either = _ALTERNATIVES.issuperset(cuts)
    name = _common_name(items)
    if name is None:
        return Union(items) if either and _are_intervals(items) else Unordered(items)
    values = _each(tuple(item.value if isinstance(item, Named) else item for item in items))
    if name.startswith("(") or not any(isinstance(value, (Ordered, Union)) for value in values):
        return Named(name, Unordered(values))
    if not either:
        raise UnreadError("conditions that hold together, or one of them: it does not say")
    return Named(name, Union(values))


def _common_name(items: tuple[Value, ...]) -> str | None:
    """The name that all values have; one that only the first has is meant for all: `x = 1, 2`."""
    names = [item.name if isinstance(item, Named) else None for item in items]
    shared = names[0] is not None and (set(names) == {names[0]} or set(names[1:]) == {None})
    return names[0] if shared else None


def _each(items: tuple[Value, ...]) -> tuple[Value, ...]:
    r"""The items, with both values in the place of one that is written with `\pm`."""
    return tuple(
        value
        for item in items
        for value in (item.items if isinstance(item, Unordered) and not item.braces else (item,))
    )


def _are_intervals(items: tuple[Value, ...]) -> bool:
    """Whether all are intervals, and not all of them might be pairs."""
    if not all(isinstance(item, Union) or (isinstance(item, Ordered) and len(item.items) == 2) for item in items):
        return False
    return not all(
        isinstance(item, Ordered)
        and (item.opening, item.closing) == ("(", ")")
        and not any(isinstance(end, Infinity) for end in item.items)
        for item in items
    )


def read_union(tokens: Tokens, read: Read) -> Value | None:
    """Intervals with a union sign between them, or the letter U."""
    parts = split(tokens, lambda mark: mark in {r"\cup", "U"})
    if len(parts) < 2:
        return None
    values = _items(parts, read)
    if all(isinstance(value, Unordered) for value in values):
        items = tuple(item for value in values if isinstance(value, Unordered) for item in value.items)
        return Unordered(items, braces=True)
    return Union(values)


def read_bracketed(tokens: Tokens, read: Read) -> Value | None:
    """What stands in one pair of brackets: a set, a tuple, an interval, or a value in parentheses."""
    if tokens[0] == r"\emptyset" and len(tokens) == 1:
        return Unordered((), braces=True)
    if "".join(tokens).replace(" ", "") in {r"\mathbb{R}", r"\mathbbR"}:
        return REALS
    opening, closing = tokens[0], tokens[-1]
    if opening not in {"(", "[", "{", r"\{", r"\langle"} or partner(tokens, 0) != len(tokens) - 1:
        return None
    inside = stripped(tokens[1:-1])
    if opening in {"{", r"\{"}:
        return _read_braces(opening, inside, read)
    if closing not in _CLOSING[opening]:
        raise UnreadError("brackets of different kinds")
    parts = split(inside, lambda mark: mark in {",", ";"})
    items = _items(parts, read)
    if len(items) == 1 and (isinstance(items[0], Matrix) or opening + closing == "()"):
        return items[0]
    return Ordered(opening, closing, items)


def _read_braces(opening: str, inside: Tokens, read: Read) -> Value:
    if opening == "{" and not positions(inside, lambda mark: mark == ","):
        return read(inside)
    if not inside:
        return Unordered((), braces=True)
    if positions(inside, lambda mark: mark in {"|", ":"}):
        raise UnreadError("a set by its condition")
    return Unordered(_each(_items(split(inside, lambda mark: mark in {",", ";"}), read)), braces=True)


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
    if len(parts) < 2:
        return None
    items = _items(parts, read)
    if any(isinstance(item, Words) and len(item.text) > 1 for item in items):
        raise UnreadError("words before a colon")
    return Ordered(":", ":", items)


def _items(parts: list[Tokens], read: Read) -> tuple[Value, ...]:
    if len(parts) > MOST_ITEMS:
        raise UnreadError(f"it has {len(parts)} items, at most {MOST_ITEMS} are read")
    if not all(parts):
        raise UnreadError("a list lacks an item")
    return tuple(read(part) for part in parts)
